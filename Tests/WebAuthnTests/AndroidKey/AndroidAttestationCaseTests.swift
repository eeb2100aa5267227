import Countersign
import Crypto
import TestSupport
import Testing
import WebAuthn

/// Chains of real devices, and changes of them, with the facts that must be read off.
@Suite struct `Android attestation cases` {
    @Test func `come to their verdict for their reason, with their facts`() throws {
        guard let cases = try Cases.read("android-attestation.jsonl") else { return }
        let deviating = cases.run("android-attestation.jsonl") { try judge($0) }
        #expect(deviating.isEmpty)
    }

    /// The policy of the cases, which asks for less than this service's profiles.
    private static let policy: [(AndroidCondition, reason: String)] = [
        (.hardware, "security_level"), (.ecP256, "key_not_p256"), (.signOnly, "purpose"),
        (.generated, "origin"), (.ownApplication, "all_applications"),
        (.deviceLocked, "device_unlocked"), (.verifiedBoot, "boot_state"),
    ]

    private static let reasons: [AndroidAttestationFailure: String] = [
        .malformed: "chain_empty", .chainBroken: "chain_broken",
        .rootUntrusted: "root_untrusted", .rootSoftware: "root_software",
        .expired: "cert_expired", .notYetValid: "cert_not_yet_valid", .revoked: "cert_revoked",
        .extensionMissing: "extension_missing", .extensionMisplaced: "extension_duplicate",
        .challengeMismatch: "challenge_mismatch", .keyUnsupported: "key_not_p256",
    ]

    private func judge(_ one: Case) throws -> Judgement {
        let certificates = Self.blocks(one.json["pem"]?.text ?? "")
        if let facts = one.expect("facts"), facts != .null {
            guard let read = AndroidKeyAttestation.claim(of: certificates)?.facts else {
                return .deviating("facts cannot be read")
            }
            if let difference = Self.difference(facts, read) { return .deviating(difference) }
        }
        let reason = try reason(one, certificates)
        guard reason == nil || one.expect("reason")?.text == reason else {
            return .deviating("refused for \(reason ?? "")")
        }
        return one.judge(accepted: reason == nil)
    }

    /// Why this service refuses; `nil` when it does not.
    private func reason(_ one: Case, _ certificates: [Bytes]) throws -> String? {
        let now = try #require(Self.instant(one.input("now")?.text ?? ""))
        let revoked = Self.texts(one.input("revokedSerials"))
        let list = try SyntheticPhone.revocations(revoked, fetchedAt: now)
        let attestation: AndroidKeyAttestation
        do throws(AndroidAttestationFailure) {
            attestation = try AndroidKeyAttestation.verify(
                certificates: certificates,
                challenge: one.json["input"]?.bytes("expectedChallenge") ?? [],
                key: Self.blocks(one.expect("leafSpkiPem")?.text ?? "").first ?? [], at: now,
                trust: AndroidTrust(
                    roots: GoogleAttestationRoots.certificates,
                    revocations: list,
                    revocationsAgeMax: Seconds(1)))
        } catch {
            return Self.reasons[error] ?? error.rawValue
        }
        let requirements = try Self.requirements(one.input("expectedApp"))
        // AK-12: no published device has a key that this service's own profile would take.
        #expect(attestation.profiles(requirements) == [], "\(one.id)")
        var policy = Self.policy
        if one.input("expectedApp") != nil { policy.append((.application, "app_mismatch")) }
        if one.input("requireUserAuth") == .bool(true) {
            policy.append((.authRequired, "user_auth_missing"))
        }
        return policy.first { !attestation.holds($0.0, requirements) }?.reason
    }

    private static func requirements(_ app: JSON?) throws -> AndroidRequirements {
        let digest = try #require(
            Digest(
                fingerprint: app?["signingCertSha256"]?.text ?? String(repeating: "0", count: 64)))
        return AndroidRequirements(
            app: try #require(
                AndroidApp(
                    packageName: app?["package"]?.text ?? "none", signers: [digest])),
            patchMonthMin: nil)
    }

    private static func texts(_ list: JSON?) -> [String] {
        if case .array(let items)? = list { items.compactMap(\.text) } else { [] }
    }

    /// The cases write microseconds and an offset of zero.
    private static func instant(_ text: String) -> Instant? {
        let plain = text.replacing("+00:00", with: "")
        return Instant(text: plain.prefix(23) + "Z")
    }

    /// The bytes of each PEM block; the chains are not this service's to read from PEM.
    private static func blocks(_ pem: String) -> [Bytes] {
        pem.split(separator: "-----").filter { !$0.hasPrefix("BEGIN") && !$0.hasPrefix("END") }
            .map { $0.replacing("\n", with: "") }.filter { !$0.isEmpty }
            .compactMap { Base64.decode($0) }
    }

    /// Where a stated fact was read differently. Two members of the cases only help people to read them.
    private static func difference(_ stated: JSON, _ read: JSON, at path: String = "") -> String? {
        guard case .object(let members) = stated else {
            return stated == read ? nil : "\(path) was read as \(read)"
        }
        let helps: Set = ["attestationChallengeText", "deviceLockedRaw"]
        for member in members where !helps.contains(member.name) {
            let name = member.name == "_tags" ? "tags" : member.name
            guard let value = read[name] else { return "\(path)/\(name) was not read" }
            if let found = difference(member.value, value, at: "\(path)/\(name)") { return found }
        }
        return nil
    }
}
