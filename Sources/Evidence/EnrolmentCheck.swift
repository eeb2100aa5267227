import Countersign
import Crypto
import FoundationEssentials

extension EvidenceVerifier {
    /// Checks again that whoever enrolled a key possessed it.
    ///
    /// A device key signed the enrolment message. A passkey was made for its SHA-256; attestation
    /// `none` holds no signature, so that is all there is to check.
    ///
    /// - Throws: ``EvidenceFault``.
    func verifyPossession(_ body: JSON) throws(EvidenceFault) -> Finding {
        guard let message = bytes("message", of: body), let proof = body["proof"] else {
            throw .message
        }
        let key: P256PublicKey
        do throws(KeyError) {
            key = try P256PublicKey(spki: bytes("public_key", of: body) ?? [])
        } catch { throw .publicKey }
        switch proof["kind"]?.text.flatMap(CredentialKind.init(rawValue:)) {
        case .deviceKey:
            guard let signature = bytes("signature", of: proof),
                key.isValid(signature: signature, for: message)
            else { throw .signature }
            return .signatureVerified
        case .passkey:
            guard let clientData = bytes("client_data_json", of: proof),
                let data = try? JSONDecoder().decode(JSON.self, from: Data(clientData)),
                data["type"]?.text == "webauthn.create",
                data["challenge"]?.text.flatMap({ Base64.decodeURL($0) }) == sha256(message).bytes
            else { throw .challenge }
            return .intact
        case nil: throw .signature
        }
    }
}

/// Checks records one after another, and that every decision was signed by a key that this log enrolled.
package struct EvidenceAudit {
    private let verifier: EvidenceVerifier
    private var enrolled: [ID<Credential>: String] = [:]

    package init(verifier: EvidenceVerifier) { self.verifier = verifier }

    /// Checks the next record.
    ///
    /// - Parameter record: Not older than the records before it: a key is enrolled before it signs.
    /// - Returns: What was checked.
    /// - Throws: ``EvidenceFault``, the first that applies.
    package mutating func check(
        _ record: StoredEvidence
    ) throws(EvidenceFault) -> EvidenceVerifier.Finding {
        let (finding, body) = try verifier.examine(record)
        guard let credential = record.credential, let key = body["public_key"]?.text else {
            return finding
        }
        if record.kind == EvidenceKind.credentialEnrolled.rawValue {
            enrolled[credential] = key
        } else if body["signed"] == .bool(true), enrolled[credential] != key {
            throw .notEnrolled
        }
        return finding
    }
}
