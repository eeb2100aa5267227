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

    /// For how many seconds both are away; more with `COUNTERSIGN_LOG_AWAY_SECONDS`.
    private static let awaySeconds =
        ProcessInfo.processInfo.environment["COUNTERSIGN_LOG_AWAY_SECONDS"].flatMap { Int($0) } ?? 3

    @Test func `approves while all others are away, alarms, and has the gap covered afterwards`()
        async throws
    {
        try await Peer.witness { witness in
            try await Peer.authority { authority in
                try await withBank { bank in
                    let pace = ["--log-witness-seconds", "1", "--log-timestamp-seconds", "1"]
                    let alarm = ["--log-alarm-seconds", "\(min(300, Self.awaySeconds - 1))"]
                    let instance = try await bank.serve(
                        flags(bank, witness, authority) + pace + alarm)
                    let customer = try await bank.customer("c-1", at: instance)
                    let client = InsistentClient(Shift(instance))
                    var paid = [try await client.pay(from: customer, key: "k-0")]
                    try await expectTestimony(bank, of: paid)
                    #expect(instance.lines("log.quorum_missing") == [])
                    try await witness.call("down")
                    try await authority.behave("unavailable")
                    let end = ContinuousClock.now + .seconds(Self.awaySeconds)
                    let alarms = [
                        "log.quorum_missing", "log.witness_silent", "log.timestamps_silent",
                    ]
                    // Until the time is over and each alarm was told; in a long run at longer intervals, as limits allow.
                    let interval = Duration.milliseconds(max(400, Self.awaySeconds * 5))
                    while ContinuousClock.now < end
                        || !alarms.allSatisfy({ instance.process.hasLogged($0) })
                    {
                        paid.append(try await client.pay(from: customer, key: "k-\(paid.count)"))
                        try await Task.sleep(for: interval)
                    }
                    for event in alarms {
                        let line = try #require(instance.lines(event).first)
                        #expect(line.contains(#""level":"alarm""#))
                    }
                    #expect(instance.lines("log.witness_failed").count == 1)
                    #expect(instance.lines("log.timestamp_failed").count == 1)
                    // The log went on meanwhile.
                    let last = try #require(paid.last)
                    try await until("it has its position") {
                        try await bank.position(of: last.evidence) != nil
                    }
                    try await witness.call("up")
                    try await authority.behave("good")
                    try await expectTestimony(bank, of: paid)
                    try await bank.auditLog(
                        paid.map(\.evidence), spans: paid.compactMap(\.span))
                    print(
                        "\(paid.count) approvals while nobody outside looked, and all are covered")
                }
            }
        }
    }

    /// Waits for a cosignature and a timestamp of a checkpoint that holds all of them.
    private func expectTestimony(_ bank: TestBank, of paid: [Acknowledged]) async throws {
        let ids = paid.map { "'\($0.evidence)'" }.joined(separator: ", ")
        for table in ["log_cosignature", "log_timestamp"] {
            try await until("\(table) covers all") {
                try await bank.count(
                    """
                    SELECT count(*) FROM countersign.\(table) t
                     WHERE (SELECT count(*) FROM countersign.log_leaf
                             WHERE evidence_id IN (\(ids)) AND position < t.size) = \(paid.count)
                    """) > 0
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
