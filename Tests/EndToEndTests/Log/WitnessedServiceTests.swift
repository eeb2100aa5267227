import Countersign
import Crypto
import Evidence
import Foundation
import HTTP
import Postgres
import TestSupport
import Testing

@testable import CountersignMain

@Suite struct `The running service, of whose log others say something` {
    /// Writes what the settings name, and gives the flags that name it.
    private func flags(_ bank: TestBank, _ witness: Peer, _ authority: Peer) async throws
        -> [String]
    {
        let root = try #require(try await authority.call("root").text)
        try TestBank.write(root, to: bank.folder + "/tsa.pem")
        return try await bank.flags(of: witness) + [
            "--log-timestamp-urls", try #require(try await authority.call("url").text),
            "--log-timestamp-ca", bank.folder + "/tsa.pem",
        ]
    }

    /// F22 of the fault tests: approvals go on, and later words cover the gap.
    @Test func `approves while a witness is away, which cosigns what it missed`() async throws {
        try await Peer.witness { witness in
            try await Peer.authority { authority in
                try await withBank { bank in
                    let flags = try await flags(bank, witness, authority)
                    try await witness.call("down")
                    let instance = try await bank.serve(flags)
                    let customer = try await bank.customer("c-1", at: instance)
                    let payment = try await InsistentClient(Shift(instance)).pay(
                        from: customer, key: "k-1")
                    try await instance.process.logged("log.witness_failed")
                    func metrics() async throws -> String {
                        String(
                            decoding: try await instance.auditor().get("/metrics").body,
                            as: UTF8.self)
                    }
                    try await until("its absence is counted") {
                        try await metrics().contains("\ncountersign_log_quorum 0\n")
                    }
                    let cosigned = """
                        SELECT count(*) FROM countersign.log_cosignature k
                         WHERE k.size > (SELECT position FROM countersign.log_leaf
                                          WHERE evidence_id = '\(payment.evidence)')
                        """
                    #expect(try await bank.count(cosigned) == 0)
                    try await witness.call("up")
                    try await until("the witness has cosigned what it missed") {
                        try await bank.count(cosigned) > 0
                    }
                    try await until("it is counted") {
                        try await metrics().contains("\ncountersign_log_quorum 1\n")
                    }
                    let text = try await metrics()
                    let age = "countersign_log_cosignature_age_seconds{witness=\"audit\"} "
                    #expect(text.contains(age) && !text.contains(age + "-1"))
                    #expect(text.contains("countersign_log_timestamp_age_seconds{authority="))
                    try await until("the authority has stamped it") {
                        try await bank.count(cosigned.replacing("cosignature", with: "timestamp"))
                            > 0
                    }
                }
            }
        }
    }

    @Test func `does not start with a policy that is not of its log, or without TLS`()
        async throws
    {
        let key = try Ed25519PrivateKey.generate()
        func complaint(
            _ log: String, _ witness: String, isDevelopment: Bool
        ) async throws -> String? {
            let own = LogSigner(keys: [LogSigner.file(key, name: WitnessedLog.origin)])
            let other = VerifierKey(
                name: WitnessedLog.origin, kind: .ed25519,
                publicKey: try Ed25519PrivateKey.generate().publicKey)
            let cosigner = VerifierKey(
                name: "w", kind: .cosignature, publicKey: try Ed25519PrivateKey.generate().publicKey
            )
            let file = try TextOnDisk(
                "log \(log == "own" ? own.keys[0].verifierKey.text : other.text)\n"
                    + "witness w \(cosigner.text) \(witness)\nquorum w\n")
            var configuration = Configuration()
            configuration.development = isDevelopment
            configuration.log.witnessPolicy = FilePath(text: file.path)
            return try await withDatabase { test in
                do {
                    _ = try configuration.makeWitnesses(
                        signer: own, origin: WitnessedLog.origin, database: await test.open(),
                        lead: LogLead(), metrics: Metrics())
                    return nil
                } catch let error as ConfigurationError {
                    return error.message
                }
            }
        }
        let url = "https://witness.example/"
        #expect(try await complaint("own", url, isDevelopment: false) == nil)
        #expect(try await complaint("own", "http://127.0.0.1:1", isDevelopment: true) == nil)
        let insecure = try await complaint("own", "http://127.0.0.1:1", isDevelopment: false)
        #expect(insecure?.contains("development only") == true)
        let foreign = try await complaint("other", url, isDevelopment: false)
        #expect(foreign?.contains("key of this log") == true)
        let silent = try await complaint("own", "", isDevelopment: false)
        #expect(silent?.contains("no witness with a URL") == true)
        let odd = try await complaint("own", "ftp://witness.example/", isDevelopment: false)
        #expect(odd?.contains("cannot be used") == true)
    }
}
