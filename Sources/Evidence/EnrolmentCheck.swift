package import Countersign
import Crypto

extension JSON {
    /// How a recorded device key writes its signatures. Records made before there was a choice say
    /// nothing, which means DER; `nil` for a word that is none.
    package var signatureFormat: SignatureFormat? {
        switch self["signature_format"] {
        case nil, .null: .der
        case let word?: word.text.flatMap(SignatureFormat.init(rawValue:))
        }
    }
}

extension EvidenceVerifier {
    /// Checks again that whoever enrolled a key possessed it.
    ///
    /// A device key signed the enrolment message. A passkey was made for its SHA-256, which is all that is
    /// checked: what a maker's attestation says was judged when the key was enrolled, and is not here.
    ///
    /// - Throws: ``EvidenceFault``.
    static func verifyPossession(_ body: JSON) throws(EvidenceFault) -> Finding {
        guard let message = body.bytes("message"), let proof = body["proof"] else {
            throw .message
        }
        let key: PublicKey
        do throws(KeyError) {
            key = try PublicKey(spki: body.bytes("public_key") ?? [])
        } catch { throw .publicKey }
        switch proof["kind"]?.text.flatMap(CredentialKind.init(rawValue:)) {
        case .deviceKey:
            guard let signature = proof.bytes("signature"), let format = proof.signatureFormat,
                key.p256?.isValid(signature: signature, in: format, for: message) == true
            else { throw .signature }
            return .signatureVerified
        case .passkey:
            _ = try clientData(of: proof, "webauthn.create", over: message)
            return .intact
        case nil: throw .signature
        }
    }
}
