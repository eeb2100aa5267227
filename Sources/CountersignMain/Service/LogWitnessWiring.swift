import Countersign
import Crypto
import Delivery
import Evidence
import Foundation
import HTTP
import Postgres

/// Who says what of the log from outside, read from the files that the settings name.
extension Configuration {
    /// Of one exchange: the sequencer's first round waits for the witnesses.
    private static let witnessTimeout = Duration.seconds(5)
    /// Of one exchange with a timestamp authority, for which nothing waits.
    private static let timestampTimeout = Duration.seconds(10)
    /// Of one connection.
    private static let connectTimeout = Duration.seconds(2)
    /// Between two looks for a checkpoint to show to witnesses.
    private static let witnessLook = Duration.seconds(1)
    /// Until a checkpoint that has not grown is shown to them again.
    private static let witnessFresh = Duration.seconds(60)
    /// The most exchanges at one time.
    private static let slotsMax = 16

    /// - Returns: `nil` when nobody is asked.
    /// - Throws: ``ConfigurationError``, or that libcurl cannot be started.
    func makeWitnesses(
        signer: LogSigner, origin: String, database: Postgres.Database, lead: LogLead,
        metrics: Metrics
    ) throws -> LogWitnesses? {
        guard let policy = try witnessPolicy() else { return nil }
        guard
            policy.logs.contains(where: { log in
                signer.keys.contains { $0.verifierKey == log.key }
            })
        else {
            throw ConfigurationError("log.witness_policy does not name the key of this log")
        }
        let witnesses = try policy.witnesses.compactMap { witness in
            try witness.url.map {
                LogWitness(
                    name: witness.name, key: witness.key, url: try witnessURL($0))
            }
        }
        guard !witnesses.isEmpty else {
            throw ConfigurationError("log.witness_policy has no witness with a URL")
        }
        let standing = WitnessStanding(
            witnesses.map(\.name), alarmAfter: .seconds(log.alarmSeconds))
        return LogWitnesses(
            witnesses: witnesses, policy: policy,
            link: WitnessLink(
                testimony: PostgresLogTestimony(database: database), now: { systemTime() },
                transport: try transport(
                    Self.witnessTimeout, bodyBytesMax: WitnessAnswer.bytesMax,
                    slots: witnesses.count)),
            signEmpty: {
                signer.sign(Checkpoint(origin: origin, size: 0, root: MerkleTree.emptyRoot))
            },
            lead: lead, standing: standing,
            answers: LogWitnesses.measure(witnesses, standing, with: metrics),
            pace: WitnessStanding.Pace(
                look: Self.witnessLook, round: .seconds(log.witnessSeconds),
                fresh: Self.witnessFresh))
    }

    /// The policy that names the witnesses; `nil` when there are none.
    func witnessPolicy() throws(ConfigurationError) -> TrustPolicy? {
        guard let file = log.witnessPolicy else { return nil }
        let bytes = try SecretFile(path: file.text, setting: "log.witness_policy").bytes()
        do throws(TrustPolicyFault) {
            return try TrustPolicy(text: bytes)
        } catch {
            throw ConfigurationError("log.witness_policy is refused: \(error.sentence)")
        }
    }

    /// Where checkpoints are posted to, below what the policy says.
    private func witnessURL(_ text: String) throws(ConfigurationError) -> HTTPURL {
        guard let url = HTTPURL(text)?.appending(WitnessRequest.path) else {
            throw ConfigurationError("log.witness_policy has a URL that cannot be used")
        }
        guard url.scheme == .https || development else {
            throw ConfigurationError("log.witness_policy: http is for development only")
        }
        return url
    }

    /// - Returns: `nil` when nothing is stamped.
    /// - Throws: ``ConfigurationError``, or that libcurl cannot be started.
    func makeTimestamps(
        database: Postgres.Database, witnesses: WitnessStanding?, lead: LogLead, metrics: Metrics
    ) throws -> LogTimestamps? {
        let anchors = try timestampAnchors()
        guard !anchors.isEmpty, !log.timestampURLs.isEmpty else { return nil }
        let authorities = try log.timestampURLs.map { text in
            guard let url = HTTPURL(text) else {
                throw ConfigurationError("log.timestamp_urls has a URL that cannot be used")
            }
            return TimestampAuthority(url)
        }
        let standing = TimestampStanding(
            pace: .seconds(log.timestampSeconds), alarmAfter: .seconds(log.alarmSeconds))
        return LogTimestamps(
            authorities: authorities,
            link: TimestampLink(
                testimony: PostgresLogTestimony(database: database), anchors: anchors,
                policies: log.timestampPolicies, entropy: .openSSL, now: { systemTime() },
                transport: try transport(
                    Self.timestampTimeout, bodyBytesMax: TimestampToken.responseBytesMax,
                    slots: authorities.count)),
            witnesses: witnesses, lead: lead, standing: standing,
            answers: LogTimestamps.measure(authorities, standing, with: metrics))
    }

    /// The certificates in which the paths of timestamp authorities may end; none when nothing is stamped.
    func timestampAnchors() throws(ConfigurationError) -> [Certificate] {
        guard let file = log.timestampCA else { return [] }
        let pem = try SecretFile(path: file.text, setting: "log.timestamp_ca").bytes()
        do throws(Certificate.AnchorsFault) { return try Certificate.anchors(pem: pem) } catch {
            throw ConfigurationError("log.timestamp_ca \(error.rawValue)")
        }
    }

    private func transport(
        _ timeout: Duration, bodyBytesMax: Int, slots: Int
    ) throws -> HTTPTransport {
        let client = try HTTPClient(
            HTTPClient.Options(
                connectTimeout: Self.connectTimeout, totalTimeout: timeout,
                bodyBytesMax: bodyBytesMax, authoritiesFile: nil, clientCertificate: nil,
                plainHTTP: .toLoopbackOnly, slots: min(slots, Self.slotsMax)))
        return { request throws(TransportFailure) in try await client.send(request) }
    }
}
