import Countersign
import Foundation
import HTTP
import Testing

@Suite struct `TLS` {
    private static let seen = "GET /seen HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"

    /// What the `/seen` route says; empty when the handshake or the connection failed.
    private func ask(
        _ policy: TLSOptions.ClientCertificatePolicy, _ arguments: [String] = []
    ) async throws -> String {
        let certificates = try await TestCertificates.shared()
        var answer = ""
        try await withServer(tls: certificates.options(policy)) { server in
            let port = server.port
            answer = try await blocking {
                let client = try TLSClient(port: port, certificates, arguments)
                try? client.send(Self.seen)
                return client.receiveAll()
            }
        }
        return answer
    }

    private func identity(_ name: String) async throws -> [String] {
        try await TestCertificates.shared().showing(name)
    }

    @Test(arguments: [TLSOptions.ClientCertificatePolicy.off, .optional])
    func `serves a client without a certificate, which the handler sees`(
        _ policy: TLSOptions.ClientCertificatePolicy
    ) async throws {
        let answer = try await ask(policy)
        #expect(answer.hasPrefix("HTTP/1.1 200"))
        #expect(answer.contains(#""peer":"tls""#))
    }

    @Test func `refuses a client without a certificate when one is required`() async throws {
        #expect(try await ask(.required) == "")
    }

    @Test(arguments: [TLSOptions.ClientCertificatePolicy.optional, .required])
    func `hands a verified certificate to the handler`(
        _ policy: TLSOptions.ClientCertificatePolicy
    ) async throws {
        let answer = try await ask(policy, await identity("client"))
        #expect(answer.contains("mutualTLS"))
        #expect(answer.contains("URI:spiffe://bank.example/core"))
        #expect(answer.contains("DNS:core.bank.example"))
        #expect(!answer.contains("nobody"))
        #expect(try await answer.contains(TestCertificates.shared().fingerprint("client")))
    }

    @Test func `does not ask for a certificate when the policy is off`() async throws {
        #expect(try await ask(.off, await identity("client")).contains(#""peer":"tls""#))
    }

    @Test(
        arguments: [TLSOptions.ClientCertificatePolicy.optional, .required],
        ["foreign", "expired", "wrong-use"])
    func `refuses a certificate that does not verify`(
        _ policy: TLSOptions.ClientCertificatePolicy, _ name: String
    ) async throws {
        #expect(try await ask(policy, await identity(name)) == "")
    }

    @Test func `takes 1.2 and 1.3 and nothing older`() async throws {
        #expect(try await ask(.off, ["-tls1_2"]).hasPrefix("HTTP/1.1 200"))
        #expect(try await ask(.off, ["-tls1_3"]).hasPrefix("HTTP/1.1 200"))
        let weak = ["-cipher", "ALL:@SECLEVEL=0"]
        #expect(try await ask(.off, ["-tls1_1"] + weak) == "")
        #expect(try await ask(.off, ["-tls1"] + weak) == "")
    }

    @Test func `does not speak plain HTTP`() async throws {
        try await withServer(tls: await TestCertificates.shared().options(.off)) { server in
            let port = server.port
            try await blocking {
                let client = try RawClient(port: port)
                client.send(TestServer.health)
                let rest = try client.restUntilClosed()
                #expect(!String(decoding: rest, as: UTF8.self).contains("200"))
            }
        }
    }

    @Test func `answers in order when requests are in the pipeline`() async throws {
        let certificates = try await TestCertificates.shared()
        try await withServer(tls: certificates.options(.required)) { server in
            let port = server.port
            let answer = try await blocking {
                let client = try TLSClient(port: port, certificates, certificates.showing("client"))
                let posts = ["first", "second", "third"].map { TestServer.post($0) }
                try client.send(posts.joined() + Self.seen)
                return client.receiveAll()
            }
            let bodies = ["first", "second", "third", "mutualTLS"].map { answer.range(of: $0) }
            let starts = bodies.compactMap { $0?.lowerBound }
            #expect(starts.count == 4)
            #expect(starts == starts.sorted())
        }
    }

    @Test func `a certificate that expires during the connection no longer counts`() async throws {
        let certificates = try await TestCertificates.shared()
        // Long enough for a busy machine to connect in.
        let end = Date().addingTimeInterval(12)
        let format = DateFormatter()
        format.dateFormat = "yyyyMMddHHmmss'Z'"
        format.timeZone = TimeZone(identifier: "UTC")
        format.locale = Locale(identifier: "en_US_POSIX")
        let endText = format.string(from: end)
        try await blocking { try certificates.leaf("brief", by: "ca", until: endText) }
        try await withServer(tls: certificates.options(.optional)) { server in
            let port = server.port
            try await blocking {
                let client = try TLSClient(port: port, certificates, certificates.showing("brief"))
                try client.send(Self.seen.replacing("Connection: close\r\n", with: ""))
                let first = client.receive(until: "}")
                Thread.sleep(until: end.addingTimeInterval(0.1))
                try client.send(Self.seen)
                #expect(first.contains("mutualTLS"))
                #expect(client.receiveAll().contains(#""peer":"tls""#))
            }
        }
    }
}

@Suite struct `Reloading certificates` {
    /// A copy of the server's files that a test may replace.
    private func copies(_ name: String) async throws -> TLSOptions {
        let certificates = try await TestCertificates.shared()
        var options = certificates.options(.optional)
        options.certificateChainFile = certificates.path("\(name).crt")
        options.privateKeyFile = certificates.path("\(name).key")
        options.clientCAFile = certificates.path("\(name)-ca.crt")
        try await put("server", "ca", into: options)
        return options
    }

    private func put(_ server: String, _ ca: String, into options: TLSOptions) async throws {
        let certificates = try await TestCertificates.shared()
        let files = [
            ("\(server).crt", options.certificateChainFile),
            ("\(server).key", options.privateKeyFile), ("\(ca).crt", options.clientCAFile ?? ""),
        ]
        for (source, target) in files {
            try Data(contentsOf: URL(filePath: certificates.path(source)))
                .write(to: URL(filePath: target))
        }
    }

    /// The common name of the certificate that the server shows now.
    private func shownName(_ port: UInt16) async throws -> String {
        let certificates = try await TestCertificates.shared()
        return try await blocking {
            let text = try certificates.openssl("s_client -connect 127.0.0.1:\(port) -no_ign_eof")
            return text.split(separator: "\n").first { $0.hasPrefix("subject=") }.map(String.init)
                ?? ""
        }
    }

    @Test(.timeLimit(.minutes(2)))
    func `shows the new certificate and closes idle connections`() async throws {
        let certificates = try await TestCertificates.shared()
        let options = try await copies("reload-idle")
        try await withServer(limits: TestServer.patient, tls: options) { server in
            let port = server.port
            let idle = try await blocking {
                let client = try TLSClient(port: port, certificates)
                try client.send(TestServer.health)
                #expect(client.receive(until: "}").contains("200"))
                return HeldTLS(client)
            }
            #expect(try await shownName(port) == "subject=CN = server")
            try await put("server2", "ca", into: options)
            try server.reloadTLS()
            #expect(try await blocking { idle.client.receiveAll() } == "")
            #expect(try await shownName(port) == "subject=CN = server2")
        }
    }

    @Test func `lets a request finish under the old trust and closes after it`() async throws {
        let certificates = try await TestCertificates.shared()
        let options = try await copies("reload-busy")
        try await withServer(tls: options) { server in
            let port = server.port
            let busy = try await blocking {
                let client = try TLSClient(port: port, certificates)
                try client.send(TestServer.post(milliseconds: 300))
                return HeldTLS(client)
            }
            #expect(await eventually { server.inFlight == 1 })
            try server.reloadTLS()
            let answer = try await blocking { busy.client.receiveAll() }
            #expect(answer.hasPrefix("HTTP/1.1 200"))
            #expect(answer.contains("Connection: close"))
        }
    }

    @Test func `takes over another client CA`() async throws {
        let certificates = try await TestCertificates.shared()
        let options = try await copies("reload-ca")
        try await withServer(tls: options) { server in
            let port = server.port
            func peer(_ name: String) async throws -> String {
                try await blocking {
                    let client = try TLSClient(port: port, certificates, certificates.showing(name))
                    try? client.send("GET /seen HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
                    return client.receiveAll()
                }
            }
            #expect(try await peer("client").contains("mutualTLS"))
            #expect(try await peer("foreign") == "")
            try await put("server", "foreign-ca", into: options)
            try server.reloadTLS()
            #expect(try await peer("client") == "")
            #expect(try await peer("foreign").contains("mutualTLS"))
        }
    }

    @Test func `keeps the old files when the new ones are not usable`() async throws {
        let options = try await copies("reload-bad")
        try await withServer(tls: options) { server in
            try Data("garbage".utf8).write(to: URL(filePath: options.certificateChainFile))
            #expect(throws: ServerFailure.self) { try server.reloadTLS() }
            #expect(try await shownName(server.port) == "subject=CN = server")
        }
    }
}

@Suite struct `Certificates that cannot be used` {
    private func failure(_ change: (inout TLSOptions) -> Void) async throws -> ServerFailure? {
        var tls = try await TestCertificates.shared().options(.required)
        change(&tls)
        let options = ServerOptions(host: "127.0.0.1", port: 0, tls: tls, makeRequestID: { "a" })
        do throws(ServerFailure) {
            _ = try HTTPServer(options: options) { _ in Response(status: 200) }
            return nil
        } catch {
            return error
        }
    }

    @Test func `name their file`() async throws {
        let other = try await TestCertificates.shared().path("other.key")
        guard
            case .certificateUnusable(file: "/nowhere", _) = try await failure({
                $0.certificateChainFile = "/nowhere"
            })
        else { throw Unexpected() }
        guard
            case .privateKeyUnusable(file: other, _) = try await failure({
                $0.privateKeyFile = other
            })
        else { throw Unexpected() }
        guard
            case .clientCAUnusable(file: "/nowhere", _) = try await failure({
                $0.clientCAFile = "/nowhere"
            })
        else { throw Unexpected() }
    }

    @Test func `a policy without a CA is a failure, unless it is off`() async throws {
        #expect(try await failure { $0.clientCAFile = nil } == .clientCAMissing)
        #expect(
            try await failure {
                $0.clientCAFile = nil
                $0.clientCertificate = .off
            } == nil)
    }

    struct Unexpected: Error {}
}

/// A client that is handed from one blocking step to the next.
final class HeldTLS: @unchecked Sendable {
    let client: TLSClient
    init(_ client: TLSClient) { self.client = client }
}
