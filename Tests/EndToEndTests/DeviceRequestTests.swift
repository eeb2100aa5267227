import Countersign
import Crypto
import Foundation
import Postgres
import TestSupport
import Testing

@testable import CountersignMain

/// The real program over real connections, killed and doubled.
@Suite struct `A signed request that comes again` {
    @Test func `after kill -9 of the service is a replay`() async throws {
        try await withBank { bank in
            let first = try await bank.serve()
            let phone = try await RequestSigner.enrol(.generate(), for: "c-1", at: first)
            let body = try phone.body(timestamp: try await bank.second(), nonce: "nonce-0001")
            #expect(try await first.verify(body).isVerified)
            first.process.signal(SIGKILL)
            #expect(try await first.process.ending() == .killed(signal: SIGKILL))
            let second = try await bank.serve()
            #expect(try await second.verify(body).reason == "nonce_used")
            #expect(try await second.verify(body).reason == "nonce_used")
            let kinds = "SELECT count(*) FROM countersign.evidence WHERE kind = 'request.replayed'"
            #expect(try await bank.count(kinds) == 1)
        }
    }

    @Test func `64 times at once through two instances is verified once`() async throws {
        try await withBank { bank in
            let instances = [try await bank.serve(), try await bank.serve()]
            let phone = try await RequestSigner.enrol(.generate(), for: "c-1", at: instances[0])
            let body = try phone.body(timestamp: try await bank.second(), nonce: "nonce-0001")
            let verdicts = try await withThrowingTaskGroup(of: ToldVerdict.self) { group in
                for number in 0..<64 {
                    group.addTask { try await instances[number % 2].verify(body) }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(verdicts.count(where: \.isVerified) == 1)
            #expect(verdicts.count { $0.reason == "nonce_used" && !$0.isAllowed } == 63)
        }
    }

    /// A server of its own, since it is killed; it waits for the disk as in production.
    @Test func `after Postgres was killed is a replay`() async throws {
        try await withOwnPostgres { server in
            try await TestBank.open(on: ConnectionInfo(server.url)) { bank in
                let instance = try await bank.serve()
                let phone = try await RequestSigner.enrol(.generate(), for: "c-1", at: instance)
                let body = try phone.body(timestamp: try await bank.second(), nonce: "nonce-0001")
                #expect(try await instance.verify(body).isVerified)
                try await kill(server)
                _ = try await server.start(.durable)
                // It connects again after a pause, and until then there is no verdict.
                try await until("the service has its database") {
                    try await HttpMessage("GET", "/readyz").send(to: instance.port).status == 200
                }
                #expect(try await instance.verify(body).reason == "nonce_used")
                let kind =
                    "SELECT count(*) FROM pg_class WHERE relname = 'device_request' AND relpersistence = 'p'"
                #expect(try await bank.count(kind) == 1)
            }
        }
    }

    @Test func `is forgotten by the running service when it can no longer be good`() async throws {
        try await withBank { bank in
            let instance = try await bank.serve()
            let phone = try await RequestSigner.enrol(.generate(), for: "c-1", at: instance)
            for nonce in ["nonce-old", "nonce-new"] {
                let body = try phone.body(timestamp: try await bank.second(), nonce: nonce)
                #expect(try await instance.verify(body).isVerified)
            }
            try await bank.sql(
                """
                UPDATE countersign.device_request
                   SET seen_at = clock_timestamp() - interval '16 minutes'
                 WHERE nonce = 'nonce-old'
                """)
            try await until("the old nonce is forgotten") {
                try await bank.count("SELECT count(*) FROM countersign.device_request") == 1
            }
        }
    }

    @Test(arguments: ["enforce", "log_only"])
    func `is allowed only where nothing is enforced`(mode: String) async throws {
        try await withBank { bank in
            let instance = try await bank.serve("--device-requests-mode", mode)
            let phone = try await RequestSigner.enrol(.generate(), for: "c-1", at: instance)
            let body = try phone.body(timestamp: try await bank.second(), nonce: "nonce-0001")
            #expect(try await instance.verify(body).isAllowed)
            let again = try await instance.verify(body)
            #expect(!again.isVerified && again.isAllowed == (mode == "log_only"))
            let other = mode == "enforce" ? "log_only" : "enforce"
            let set = try await instance.send(
                "PUT", "/v1/credentials/\(phone.credential)/request-signing",
                fields: ["Content-Type: application/json"],
                body: (["mode": .string(other)] as JSON).encoded)
            #expect(set.status == 200)
            #expect(try await instance.verify(body).isAllowed == (other == "log_only"))
        }
    }
}
