import Countersign
import Crypto
import TestSupport
import Testing
import WebAuthn

/// The published ceremonies, judged by the verifier alone; each run prints one line.
///
/// Every case is run twice: as its relying party wants it, and under the service's only policy.
@Suite struct `Published WebAuthn ceremonies` {
    @Test(arguments: ["registration", "assertion"])
    func `under the policy of the case`(kind: String) throws {
        guard let cases = try Cases.read("webauthn.jsonl", where: { $0.area == kind }) else {
            return
        }
        let deviating = cases.run("webauthn.jsonl \(kind)") { one in
            if let reason = beyondTheVerifier(one) { return .unsupported(reason) }
            return judge(one, CeremonyCase(one).run(under: CeremonyCase(one).policy), one.verdict)
        }
        #expect(deviating.isEmpty)
    }

    @Test(arguments: ["registration", "assertion"])
    func `under the policy of the service`(kind: String) throws {
        let all = try Cases.read("webauthn.jsonl") {
            $0.area == kind && $0.expect("ifUserVerificationRequired")?.text != nil
        }
        guard let cases = all else { return }
        let deviating = cases.run("webauthn.jsonl \(kind), service policy") { one in
            if let reason = beyondTheVerifier(one) { return .unsupported(reason) }
            // Old Chrome on macOS did so; the service holds to WebAuthn L3 §6.1.
            if kind == "assertion", one.json["parsed"]?["flags"]?["at"] == .bool(true) {
                return .unsupported("attested data in an assertion")
            }
            return judge(
                one, CeremonyCase(one).run(under: .service),
                one.expect("ifUserVerificationRequired")?.text)
        }
        #expect(deviating.isEmpty)
    }

    /// A refusal is compared by its reason too, where it can only be one.
    private func judge(_ one: Case, _ failure: String?, _ verdict: String?) -> Judgement {
        switch (verdict, failure) {
        case ("either", _), ("accept", nil): return .asExpected
        case ("accept", let failure?):
            return lacks(one, failure) ? .unsupported(failure) : .deviating("refused: \(failure)")
        case ("reject", nil): return .deviating("accepted")
        case ("reject", let failure?):
            guard let reason = one.expect("reason")?.text, reason != "ok", reason != failure,
                one.verdict == "reject", !lacks(one, failure)
            else { return .asExpected }
            return .deviating("\(failure) instead of \(reason)")
        default: return .deviating("unknown verdict")
        }
    }

    /// Whether the case needs an algorithm or a format that this verifier does not have, and the
    /// refusal says just that.
    private func lacks(_ one: Case, _ failure: String) -> Bool {
        let needs = one.expect("requires")
        // Two bytes of base64url: a map of indefinite length, which CTAP2's canonical form forbids.
        let object = one.json["credential"]?["response"]?["attestationObject"]?.text
        if failure == "cbor_malformed" { return object?.hasPrefix("v2") == true }
        if failure == "alg_not_allowed" { return needs?["alg"] != .integer(-7) }
        return failure == "fmt_unsupported" && needs?["fmt"]?.text != "none"
    }

    /// What a function over one ceremony cannot be asked.
    private func beyondTheVerifier(_ one: Case) -> String? {
        if one.json["rp"]?["attestationPolicy"] != .null { return "attestation policy" }
        let ext = one.json["ext"]
        for name in ["allowCredentials", "storedOwner", "preRegistered"] where ext?[name] != nil {
            return "for the use case"
        }
        return ext?["bodySuffix"] != nil ? "for the HTTP route" : nil
    }
}

/// One ceremony of the file.
struct CeremonyCase {
    private let json: JSON

    init(_ one: Case) { json = one.json }

    var policy: VerifierPolicy {
        let algorithms: Set<COSEAlgorithm> =
            switch json["rp"]?["allowedAlgs"] {
            case .array(let allowed)? where !allowed.contains(.integer(-7)): []
            default: [.es256]
            }
        return VerifierPolicy(
            userPresence: requirement("requireUserPresence"),
            userVerification: requirement("requireUserVerification"), algorithms: algorithms,
            attestationFormats: [.noAttestation, .packed],
            attestedDataInAssertion: .mustMatchCredential)
    }

    /// The reason of the refusal, or `nil` when the ceremony was believed.
    func run(under policy: VerifierPolicy) -> String? {
        do {
            let rp = json["rp"] ?? .null
            let relyingParty = try RelyingParty(
                id: rp["rpId"]?.text ?? "", name: "Bank", origins: texts(rp["origins"]),
                framing: rp["allowCrossOrigin"] == .bool(true)
                    ? .allowed(in: texts(rp["topOrigins"])) : .refused)
            let challenge = Base64.decodeURL(rp["challenge"]?.text ?? "?") ?? []
            if json["kind"]?.text == "registration" {
                _ = try RegistrationCeremony.verify(
                    response: PasskeyRegistration(json: credential), challenge: challenge,
                    relyingParty: relyingParty, policy: policy)
            } else {
                let assertion = try PasskeyAssertion(json: credential)
                let verified = try AssertionCeremony.verify(
                    assertion, challenge: challenge, credential: try stored(assertion),
                    relyingParty: relyingParty, policy: policy)
                if case .integer(let count)? = json["expect"]?["newSignCount"],
                    count != Int64(verified.signCount)
                {
                    return "sign count \(verified.signCount)"
                }
            }
            return nil
        } catch let failure as VerificationFailure {
            return failure.code
        } catch let value as InvalidValue {
            return value.code
        } catch {
            return "failed with \(error)"
        }
    }

    private func requirement(_ name: String) -> VerifierPolicy.Requirement {
        json["rp"]?[name] == .bool(false) ? .notRequired : .required
    }

    private func texts(_ json: JSON?) -> [String] {
        if case .array(let values)? = json { values.compactMap(\.text) } else { [] }
    }

    /// Keys of other algorithms cannot be recorded, so such a case is refused as it would be.
    private func stored(_ assertion: PasskeyAssertion) throws -> StoredPasskey {
        let stored = json["stored"] ?? .null
        guard stored["alg"] == .integer(-7) else { throw VerificationFailure.algorithmNotAllowed }
        guard case .integer(let count)? = stored["signCount"] else {
            throw InvalidValue("case", "no sign count")
        }
        // A case without a stored handle is not about handles.
        let handle = stored["userHandle"]?.text.flatMap { Base64.decodeURL($0) }
        return StoredPasskey(
            credentialID: Base64.decodeURL(stored["credentialId"]?.text ?? "?") ?? [],
            key: try P256PublicKey(parsing: stored["publicKeySpkiPem"]?.text ?? "").spki,
            signCount: UInt32(count), backupEligible: stored["backupEligible"] == .bool(true),
            userHandle: handle ?? assertion.userHandle ?? [])
    }

    /// The credential after the case's own changes of encoding.
    private var credential: JSON {
        guard case .object(let members)? = json["credential"],
            case .object(let changes)? = json["ext"]?["reencode"],
            case .object(let response)? = json["credential"]?["response"]
        else { return json["credential"] ?? .null }
        let changed = response.map { member in
            guard let form = changes.first(where: { $0.name == member.name })?.value.text,
                let bytes = member.value.text.flatMap({ Base64.decodeURL($0) })
            else { return member }
            let text =
                form == "base64-padded"
                ? Base64.encode(bytes) : Base64.encodeURL(bytes) + "\r\n"
            return JSON.Member(member.name, .string(text))
        }
        return .object(
            members.map { $0.name == "response" ? JSON.Member("response", .object(changed)) : $0 })
    }
}
