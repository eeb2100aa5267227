import Countersign
import Crypto
import TestSupport
import Testing
import WebAuthn

/// The test vectors of WebAuthn L3 itself: registration, then assertion with what was registered.
@Suite struct `Test vectors of the WebAuthn standard` {
    private let loose = VerifierPolicy(
        userPresence: .required, userVerification: .notRequired, algorithms: [.es256],
        attestationFormats: [.noAttestation, .packed], attestedDataInAssertion: .refused)

    @Test func `the ES256 vectors verify, and only as far as each policy allows`() throws {
        guard let document = try Cases.vectors("w3c-webauthn-l3.json"),
            case .array(let vectors)? = document["vectors"]
        else { return }
        let cases = vectors.map { Case(json: ["id": $0["name"] ?? .null, "vector": $0]) }
        let deviating = cases.run("w3c-webauthn-l3.json") { one in
            try judge(one, document["rp_id"]?.text ?? "")
        }
        #expect(deviating.isEmpty)
    }

    private func judge(_ one: Case, _ id: String) throws -> Judgement {
        let vector = one.json["vector"] ?? .null
        let framed = try RelyingParty(
            id: id, name: "W3C", origins: ["https://example.org"],
            framing: .allowed(in: ["https://example.com"]))
        let registered: RegisteredPasskey
        do {
            registered = try register(vector, framed)
        } catch {
            let isMissing =
                error == .algorithmNotAllowed || error == .attestationFormatUnsupported
            return isMissing ? .unsupported(error.code) : .deviating(error.code)
        }
        guard registered.credentialID == hex(vector["credential_id"]),
            registered.aaguid == hex(vector["aaguid"])
        else { return .deviating("another credential") }
        do {
            _ = try assert(vector, registered, framed, loose)
        } catch {
            return .deviating("assertion refused: \(error)")
        }
        return try judgeService(vector, registered, id)
    }

    /// Under the service's policy exactly those pass whose user was verified, outside of a frame.
    private func judgeService(
        _ vector: JSON, _ registered: RegisteredPasskey, _ id: String
    ) throws -> Judgement {
        let own = try RelyingParty(
            id: id, name: "W3C", origins: ["https://example.org"], framing: .refused)
        let clientData = String(
            decoding: hex(vector["authentication"]?["clientDataJSON"]), as: UTF8.self)
        let isFramed = clientData.contains(#""crossOrigin":true"#)
        let isUserVerified = vector["authentication_flags"]?["UV"] == .bool(true)
        let isAccepted = (try? assert(vector, registered, own, .service)) != nil
        return isAccepted == (isUserVerified && !isFramed)
            ? .asExpected : .deviating("service policy: accepted \(isAccepted)")
    }

    private func register(
        _ vector: JSON, _ relyingParty: RelyingParty
    ) throws(VerificationFailure) -> RegisteredPasskey {
        try RegistrationCeremony.verify(
            response: PasskeyRegistration(
                rawID: hex(vector["credential_id"]), clientDataJSON: hex(vector["clientDataJSON"]),
                attestationObject: hex(vector["attestationObject"]), transports: []),
            challenge: hex(vector["challenge"]), relyingParty: relyingParty, policy: loose)
    }

    private func assert(
        _ vector: JSON, _ registered: RegisteredPasskey, _ relyingParty: RelyingParty,
        _ policy: VerifierPolicy
    ) throws(VerificationFailure) -> VerifiedPasskeyAssertion {
        let answer = vector["authentication"] ?? .null
        return try AssertionCeremony.verify(
            PasskeyAssertion(
                rawID: registered.credentialID, clientDataJSON: hex(answer["clientDataJSON"]),
                authenticatorData: hex(answer["authenticatorData"]),
                signature: hex(answer["signature"]), userHandle: nil),
            challenge: hex(answer["challenge"]),
            credential: StoredPasskey(
                credentialID: registered.credentialID, key: registered.publicKey.spki,
                signCount: registered.signCount, backupEligible: registered.backupEligible,
                userHandle: [1]),
            relyingParty: relyingParty, policy: policy)
    }

    private func hex(_ json: JSON?) -> Bytes { json?.text.flatMap { Hex.decode($0) } ?? [] }
}
