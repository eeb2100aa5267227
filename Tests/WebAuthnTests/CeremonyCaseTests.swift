import Countersign
import Crypto
import TestSupport
import Testing
import WebAuthn

/// The published ceremonies, judged by the verifier alone; each run prints one line.
///
/// Every case is run twice: as its relying party wants it, and with the service's demands on the user.
@Suite struct `Published WebAuthn ceremonies` {
    @Test(arguments: ["registration", "assertion"])
    func `under the policy of the case`(kind: String) throws {
        guard let cases = try Cases.read("webauthn.jsonl", where: { $0.area == kind }) else {
            return
        }
        let deviating = cases.run("webauthn.jsonl \(kind)") { one in
            if let reason = beyondTheVerifier(one) { return .unsupported(reason) }
            let ceremony = CeremonyCase(one)
            return judge(one, try ceremony.run(under: try ceremony.policy), one.verdict)
        }
        #expect(deviating.isEmpty)
    }

    @Test(arguments: ["registration", "assertion"])
    func `with the user verified, as the service demands`(kind: String) throws {
        let all = try Cases.read("webauthn.jsonl") {
            $0.area == kind && $0.expect("ifUserVerificationRequired")?.text != nil
        }
        guard let cases = all else { return }
        let deviating = cases.run("webauthn.jsonl \(kind), user verified") { one in
            if let reason = beyondTheVerifier(one) { return .unsupported(reason) }
            let ceremony = CeremonyCase(one)
            let policy = VerifierPolicy.service(
                algorithms: COSEAlgorithm.allCases, attestation: try ceremony.attestation)
            return judge(
                one, try ceremony.run(under: policy),
                one.expect("ifUserVerificationRequired")?.text)
        }
        #expect(deviating.isEmpty)
    }

    @Test func `the service as it comes takes ES256 alone`() throws {
        let all = try Cases.read("webauthn.jsonl") {
            $0.verdict == "accept" && $0.expect("requires")?["alg"] != .integer(-7)
        }
        guard let cases = all else { return }
        let deviating = cases.run("webauthn.jsonl of other algorithms, service policy") { one in
            let failure = try CeremonyCase(one).run(under: .service)
            return failure == "alg_not_allowed" || failure == "uv_missing"
                ? .asExpected : .deviating(failure ?? "accepted")
        }
        #expect(deviating.isEmpty)
    }

    /// What this verifier makes of the cases that leave the choice; `docs/webauthn.md` says why.
    private static let choices: [String: String?] = [
        "auth-derived-cd-64k-key": "clientdata_malformed",
        "auth-derived-cd-dup-origin": "clientdata_malformed",
        "auth-derived-challenge-std-b64": "challenge_mismatch",
        "auth-derived-env-cd-crlf": "base64url_required",
        "auth-derived-env-sig-std-b64-padded": "base64url_required",
        "reg-derived-cose-dup-label": "cbor_malformed",
        "reg-derived-rsa-1024": "cose_key_invalid",
        "reg-derived-u2f-aaguid-nonzero": nil,
        "reg-yubico-packed-basic-attestation-ed448-nobc": "alg_not_allowed",
        "reg-yubico-packed-basic-attestation-nobc": nil,
        "reg-yubico-packed-basic-attestation-rs1-nobc": "alg_not_allowed",
    ]

    /// A refusal is compared by its reason too, where it can only be one.
    private func judge(_ one: Case, _ failure: String?, _ verdict: String?) -> Judgement {
        switch (verdict, failure) {
        case ("either", let failure):
            return Self.choices[one.id] == .some(failure)
                ? .asExpected : .deviating("chose \(failure ?? "to accept")")
        case ("accept", nil): return .asExpected
        case ("accept", let failure?):
            return lackedAlgorithm(one, failure).map { .unsupported($0) }
                ?? .deviating("refused: \(failure)")
        case ("reject", nil): return .deviating("accepted")
        case ("reject", let failure?):
            guard let reason = one.expect("reason")?.text, reason != "ok",
                one.verdict == "reject", !Self.same(reason, failure)
            else { return .asExpected }
            return .deviating("\(failure) instead of \(reason)")
        default: return .deviating("unknown verdict")
        }
    }

    /// A credential that is not the customer's and one that may not be used here are one to the service:
    /// it knows none by that ID.
    private static func same(_ reason: String, _ failure: String) -> Bool {
        reason == failure || (reason, failure) == ("credential_not_allowed", "credential_unknown")
    }

    /// The case's algorithm, when it is not one of this verifier's and the refusal says just that.
    private func lackedAlgorithm(_ one: Case, _ failure: String) -> String? {
        guard failure == "alg_not_allowed",
            case .integer(let number)? = one.expect("requires")?["alg"],
            COSEAlgorithm(rawValue: number) == nil
        else { return nil }
        return one.expect("requires")?["algName"]?.text
    }

    /// What a function over one ceremony cannot be asked.
    private func beyondTheVerifier(_ one: Case) -> String? {
        let ext = one.json["ext"]
        if ext?["storedOwner"] != nil { return "for the use case" }
        if ext?["preRegistered"] != nil { return "for the store" }
        return ext?["bodySuffix"] != nil ? "for the HTTP route" : nil
    }
}
