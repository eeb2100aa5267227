import Countersign
import Crypto
import TestSupport
import Testing
import WebAuthn

/// The test vectors of WebAuthn L3 itself: registration, then assertion with what was registered.
@Suite struct `Test vectors of the WebAuthn standard` {
    private let loose = VerifierPolicy(
        userPresence: .required, userVerification: .notRequired,
        algorithms: COSEAlgorithm.allCases, attestation: .untrusting,
        attestedDataInAssertion: .refused)
    private let keys = PasskeyKeys(keysMax: 16)

    @Test func `every vector verifies, and only as far as each policy allows`() throws {
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
            registered = try register(vector, framed, loose)
        } catch {
            return error == .algorithmNotAllowed && Self.beyond.contains(one.id)
                ? .unsupported(one.id) : .deviating(error.code)
        }
        guard registered.credentialID == hex(vector["credential_id"]),
            let model = registered.attestation.facts["aaguid"]?.text,
            AAGUID(text: model)?.bytes == hex(vector["aaguid"])
        else { return .deviating("another credential") }
        do {
            _ = try assert(vector, registered, framed, loose)
        } catch {
            return .deviating("assertion refused: \(error)")
        }
        return try judgeService(vector, registered, id)
    }

    /// The vectors of algorithms that this verifier does not have.
    private static let beyond: Set<String> = ["packed.ES512", "packed.Ed448"]

    /// The only ceremonies of which both halves are good enough for the service as it comes.
    private static let good: Set<String> = [
        "none.ES256.long-credential-id", "packed.ES256", "tpm.ES256",
    ]

    /// Under the service's policy exactly those pass whose user was verified, outside of a frame, with
    /// ES256.
    private func judgeService(
        _ vector: JSON, _ registered: RegisteredPasskey, _ id: String
    ) throws -> Judgement {
        let own = try RelyingParty(
            id: id, name: "W3C", origins: ["https://example.org"], framing: .refused)
        let clientData = String(
            decoding: hex(vector["authentication"]?["clientDataJSON"]), as: UTF8.self)
        let isFramed = clientData.contains(#""crossOrigin":true"#)
        let isUserVerified = vector["authentication_flags"]?["UV"] == .bool(true)
        let isES256 = registered.publicKey.algorithm == .es256
        let isAccepted = (try? assert(vector, registered, own, .service)) != nil
        let isGood = isUserVerified && !isFramed && isES256
        guard isAccepted == isGood, isGood == Self.good.contains(vector["name"]?.text ?? "") else {
            return .deviating("service policy: accepted \(isAccepted)")
        }
        let isRegistered = (try? register(vector, own, .service)) != nil
        return !isRegistered || isES256 && !isFramed
            ? .asExpected : .deviating("service policy: registered")
    }

    private func register(
        _ vector: JSON, _ relyingParty: RelyingParty, _ policy: VerifierPolicy
    ) throws(VerificationFailure) -> RegisteredPasskey {
        try RegistrationCeremony.verify(
            response: PasskeyRegistration(
                rawID: hex(vector["credential_id"]), clientDataJSON: hex(vector["clientDataJSON"]),
                attestationObject: hex(vector["attestationObject"]), transports: []),
            challenge: hex(vector["challenge"]), relyingParty: relyingParty, policy: policy,
            at: Fixture.at)
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
            relyingParty: relyingParty, policy: policy, keys: keys)
    }

    private func hex(_ json: JSON?) -> Bytes { json?.text.flatMap { Hex.decode($0) } ?? [] }
}
