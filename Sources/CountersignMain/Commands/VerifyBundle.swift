import Countersign
import Crypto
import Evidence
import Foundation

extension Command {
    static let evidenceVerifyBundle = Command(
        name: "evidence verify-bundle",
        summary: "Check one decision from a file alone, without a database and without a network",
        positionals: [
            .init(name: "FILE", what: "the bundle, as /v1/evidence/{id}/bundle gives it")
        ],
        options: [
            .init(
                name: "trust", placeholder: "POLICY",
                what:
                    "the file that says which log and witnesses to believe (c2sp.org/tlog-policy)",
                isRequired: true),
            .init(
                name: "timestamp-ca", placeholder: "FILE",
                what:
                    "certificates in PEM of the timestamp authorities to believe; without it, timestamps are not checked"
            ),
            .init(
                name: "timestamp-policy", placeholder: "OIDS",
                what:
                    "with --timestamp-ca: the policies of these authorities to take, a comma list; "
                    + "without it, every policy"
            ),
        ]
    ) { invocation in
        let trust = try trustPolicy(invocation.option("trust") ?? "")
        let policies = try invocation.option("timestamp-policy").map { text in
            guard let policies = SettingParser.objectIdentifiers.parse(text) else {
                throw UsageError(
                    "--timestamp-policy must be \(SettingParser.objectIdentifiers.expects)")
            }
            return policies
        }
        let authorities = invocation.option("timestamp-ca")
        if authorities == nil, policies != nil {
            throw UsageError("--timestamp-policy needs --timestamp-ca")
        }
        let check = try authorities.map { try timestampCheck($0, policies ?? []) }
        let bundle = try contents(
            of: invocation.positionals[0], atMost: EvidenceBundle.bytesMax)
        do throws(BundleFault) {
            let verified = try BundleVerifier(trust: trust, verifyTimestamp: check).verify(bundle)
            verified.sentences.forEach(Console.out)
        } catch {
            throw CommandFailure("the bundle proves nothing: \(error.sentence)")
        }
    }

    private static func trustPolicy(_ path: String) throws -> TrustPolicy {
        let text = try contents(of: path, atMost: TrustPolicy.bytesMax)
        do throws(TrustPolicyFault) {
            return try TrustPolicy(text: text)
        } catch {
            throw CommandFailure("the trust policy \(path): \(error.sentence)")
        }
    }

    /// Believes timestamps under one of these policies whose path ends in one of these certificates.
    private static func timestampCheck(
        _ path: String, _ policies: [String]
    ) throws -> BundleVerifier.TimestampCheck {
        let pem = try contents(of: path, atMost: Certificate.pemUnitsMax)
        let anchors: [Certificate]
        do throws(Certificate.AnchorsFault) { anchors = try Certificate.anchors(pem: pem) } catch {
            throw CommandFailure("\(path) \(error.rawValue)")
        }
        return { response, note throws(TimestampFault) in
            let proven = try TimestampToken.verify(response: response, over: note, anchors: anchors)
            try proven.demand(policies: policies)
            return proven
        }
    }

    /// Reads no more than is looked at.
    private static func contents(of path: String, atMost bytesMax: Int) throws -> Bytes {
        guard let file = FileHandle(forReadingAtPath: path) else {
            throw CommandFailure("\(path) cannot be read")
        }
        let bytes = Bytes(try file.read(upToCount: bytesMax + 1) ?? Data())
        try file.close()
        guard bytes.count <= bytesMax else {
            throw CommandFailure("\(path) has more than \(bytesMax) bytes")
        }
        return bytes
    }
}
