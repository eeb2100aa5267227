import Countersign
import Crypto
import TestSupport
import WebAuthn

/// One ceremony of `webauthn.jsonl`.
struct CeremonyCase {
    private let json: JSON

    init(_ one: Case) { json = one.json }

    /// What the relying party of the case demands.
    var policy: VerifierPolicy {
        get throws {
            let all = COSEAlgorithm.allCases
            let algorithms: [COSEAlgorithm] =
                switch json["rp"]?["allowedAlgs"] {
                case .array(let allowed)?:
                    all.filter { allowed.contains(.integer($0.rawValue)) }
                default: all
                }
            return VerifierPolicy(
                userPresence: requirement("requireUserPresence"),
                userVerification: requirement("requireUserVerification"), algorithms: algorithms,
                attestation: try attestation, attestedDataInAssertion: .mustMatchCredential)
        }
    }

    /// Whom the relying party of the case trusts; without an opinion the statement alone is judged.
    var attestation: AttestationPolicy {
        get throws {
            guard case .array(let names)? = wanted["anchors"] else { return .untrusting }
            return AttestationPolicy(
                formats: Set(AttestationFormat.allCases),
                trust: wanted["required"] == .bool(true) ? .required : .recorded,
                anchors: try names.compactMap(\.text).map { name in
                    guard let pem = Cases.bytes("anchors/\(name).pem") else {
                        throw InvalidValue("case", "no anchor \(name)")
                    }
                    return AttestationAnchor(
                        try Certificate(pem: String(decoding: pem, as: UTF8.self)), format: nil,
                        model: nil, until: nil)
                })
        }
    }

    private var wanted: JSON { json["rp"]?["attestationPolicy"] ?? .null }

    /// When the case takes place.
    private var instant: Instant {
        // The cases write UTC with an offset of zero.
        wanted["now"]?.text.flatMap { Instant(text: $0.prefix(19) + "Z") } ?? Fixture.at
    }

    /// The reason of the refusal, or `nil` when the ceremony was believed.
    func run(under policy: VerifierPolicy) throws -> String? {
        do {
            return json["kind"]?.text == "registration"
                ? try register(under: policy) : try assert(under: policy)
        } catch let failure as VerificationFailure {
            return failure.code
        } catch let value as InvalidValue {
            return value.code
        }
    }

    private func register(under policy: VerifierPolicy) throws -> String? {
        let made = try RegistrationCeremony.verify(
            response: PasskeyRegistration(json: credential), challenge: challenge,
            relyingParty: try relyingParty, policy: policy, at: instant)
        let found = made.attestation.facts["attestation_type"]?.text
        if let type = json["expect"]?["attestationType"]?.text, type != found {
            return "attestation \(found ?? "none told")"
        }
        let isTrusted = [.basic, .attestationCA, .anonymizationCA].contains(
            made.attestation.verdict)
        return isTrusted == (policy.attestation.trust == .required) ? nil : "trusted \(isTrusted)"
    }

    private func assert(under policy: VerifierPolicy) throws -> String? {
        let assertion = try PasskeyAssertion(json: credential)
        let verified = try AssertionCeremony.verify(
            assertion, challenge: challenge, credential: try stored(assertion),
            relyingParty: try relyingParty, policy: policy, keys: PasskeyKeys(keysMax: 2))
        if case .integer(let count)? = json["expect"]?["newSignCount"],
            count != Int64(verified.signCount)
        {
            return "sign count \(verified.signCount)"
        }
        return nil
    }

    private var challenge: Bytes { json["rp"]?.bytes("challenge") ?? [] }

    private var relyingParty: RelyingParty {
        get throws {
            let rp = json["rp"] ?? .null
            return try RelyingParty(
                id: rp["rpId"]?.text ?? "", name: "Bank", origins: texts(rp["origins"]),
                framing: rp["allowCrossOrigin"] == .bool(true)
                    ? .allowed(in: texts(rp["topOrigins"])) : .refused)
        }
    }

    private func requirement(_ name: String) -> VerifierPolicy.Requirement {
        json["rp"]?[name] == .bool(false) ? .notRequired : .required
    }

    private func texts(_ json: JSON?) -> [String] {
        if case .array(let values)? = json { values.compactMap(\.text) } else { [] }
    }

    /// The one credential that may be used: keys of other algorithms cannot be recorded, so such a case
    /// is refused as it would be.
    private func stored(_ assertion: PasskeyAssertion) throws -> StoredPasskey {
        let stored = json["stored"] ?? .null
        guard case .integer(let algorithm)? = stored["alg"],
            COSEAlgorithm(rawValue: algorithm) != nil
        else { throw VerificationFailure.algorithmNotAllowed }
        guard case .integer(let count)? = stored["signCount"],
            let pem = stored["publicKeySpkiPem"]?.text,
            let key = Base64.decode(
                pem.split(separator: "\n").filter { !$0.hasPrefix("-----") }.joined())
        else { throw InvalidValue("case", "no record") }
        // A case without a stored handle is not about handles.
        let handle = stored.bytes("userHandle")
        let allowed = texts(json["ext"]?["allowCredentials"]).first.flatMap { Base64.decodeURL($0) }
        return StoredPasskey(
            credentialID: allowed ?? stored.bytes("credentialId") ?? [], key: key,
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
