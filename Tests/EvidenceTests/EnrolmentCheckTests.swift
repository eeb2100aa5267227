import Countersign
import Crypto
import Evidence
import TestSupport
import Testing

@Suite struct `Enrolments in evidence` {
    private let key: P256PrivateKey
    private let credential = ID<Credential>(rawValue: 7)
    private let log: TestLog

    init() throws {
        key = try .generate()
        log = try TestLog()
    }

    private func enrolment(
        signedBy signer: P256PrivateKey, message: String = "enrol", format: String? = nil,
        isRaw: Bool = false, profiles: JSON = [], isBackupEligible: Bool = false
    ) throws -> EvidenceDraft {
        EvidenceDraft(
            .credentialEnrolled, credential: credential, outcome: "active",
            body: [
                "attestation": ["profiles": profiles],
                "backup_eligible": .bool(isBackupEligible),
                "public_key": .string(Base64.encodeURL(key.publicKey.spki)),
                "signature_format": .optional(format),
                "message": .string(Base64.encodeURL(Bytes(message.utf8))),
                "proof": [
                    "kind": "device_key", "signature_format": .optional(format),
                    "signature": try signature(of: signer, Bytes("enrol".utf8), isRaw: isRaw),
                ],
            ])
    }

    /// A decision signed by a key, and recorded with it.
    private func approval(
        by signer: P256PrivateKey, format: String? = nil, isRaw: Bool = false
    ) throws -> EvidenceDraft {
        let message = try Fixtures.message(Fixtures.transfer())
        return EvidenceDraft(
            .actionApproved, action: message.actionID, credential: credential, outcome: "approved",
            body: [
                "signed": .bool(true),
                "message": .string(Base64.encodeURL(message.bytes)),
                "assertion": [
                    "kind": "device_key",
                    "signature": try signature(of: signer, message.bytes, isRaw: isRaw),
                ],
                "public_key": .string(Base64.encodeURL(signer.publicKey.spki)),
                "signature_format": .optional(format),
            ])
    }

    private func signature(
        of signer: P256PrivateKey, _ message: Bytes, isRaw: Bool
    ) throws -> JSON {
        let der = try signer.sign(message)
        let bytes = isRaw ? try #require(P256Signature(der: der)).raw : der
        return .string(Base64.encodeURL(bytes))
    }

    @Test func `signatures are read in the recorded format, which is DER where none is`() throws {
        for (format, isRaw, fault) in [
            (nil, false, nil), ("der", false, nil), ("raw", true, nil), (nil, true, .signature),
            ("der", true, .signature), ("raw", false, .signature), ("jose", true, .signature),
        ] as [(String?, Bool, EvidenceFault?)] {
            let records = try log.record([
                enrolment(signedBy: key, format: format, isRaw: isRaw),
                approval(by: key, format: format, isRaw: isRaw),
            ])
            for record in records { #expect(log.verifier.fault(of: record) == fault) }
        }
    }

    @Test func `a decision counts only in the format that the key was enrolled with`() throws {
        let records = try log.record([
            enrolment(signedBy: key), approval(by: key, format: "raw", isRaw: true),
        ])
        var audit = EvidenceAudit(verifier: log.verifier, migrated: [:])
        _ = try audit.check(records[0])
        #expect(throws: EvidenceFault.notEnrolled) { try audit.check(records[1]) }
    }

    /// What a decision says of its key, beside the signature.
    private func fault(
        of changes: [(String, JSON?)], enrolledWith profiles: JSON = ["app-attest", "fido-trusted"]
    ) throws -> EvidenceFault? {
        let decision = try approval(by: key)
        let body = changes.reduce(decision.body.setting("policy", to: ["inputs": [:]])) {
            $0.setting($1.0, to: $1.1)
        }
        let records = try log.record([
            enrolment(signedBy: key, profiles: profiles, isBackupEligible: true),
            decision.with(body: body),
        ])
        var audit = EvidenceAudit(verifier: log.verifier, migrated: [:])
        _ = try audit.check(records[0])
        do throws(EvidenceFault) {
            _ = try audit.check(records[1])
            return nil
        } catch {
            // What was decided by no policy comes so far and no further.
            return error == .policy ? nil : error
        }
    }

    @Test func `a decision counts only with the profiles that the key was enrolled with`() throws {
        let (inside, beside) = ("policy.inputs.credential_profiles", "profiles")
        for name in [inside, beside] {
            for same in [
                ["app-attest", "fido-trusted"], ["fido-trusted", "app-attest"],
                "app-attest,fido-trusted",
            ] as [JSON] {
                #expect(try fault(of: [(name, same)]) == nil)
            }
            for other in [
                ["app-attest"], "app-attest", [], "", .null, .integer(1), [.integer(1)],
                .bool(true),
                ["app-attest", "fido-trusted", "android-biometric"],
                "app-attest,fido-trusted,android-biometric",
            ] as [JSON] {
                #expect(try fault(of: [(name, other)]) == .keyTraits, "\(name) \(other)")
            }
            for added in [["android-biometric"], "android-biometric"] as [JSON] {
                #expect(try fault(of: [(name, added)], enrolledWith: []) == .keyTraits)
            }
            for none in [[], ""] as [JSON] {
                #expect(try fault(of: [(name, none)], enrolledWith: []) == nil)
            }
        }
    }

    @Test func `a decision counts only with a key that may be copied as it was enrolled`() throws {
        let name = "policy.inputs.credential_backup_eligible"
        for same in [.bool(true), "true"] as [JSON] {
            #expect(try fault(of: [(name, same)]) == nil)
        }
        for other in [.bool(false), "false", .null, "yes", .integer(1)] as [JSON] {
            #expect(try fault(of: [(name, other)]) == .keyTraits)
        }
    }

    @Test func `a decision of before policies asked says nothing of these`() throws {
        #expect(try fault(of: []) == nil)
        #expect(try fault(of: [("policy", nil)]) == nil)
    }

    @Test func `the proof of possession is checked again`() throws {
        let record = try log.record([enrolment(signedBy: key)])[0]
        #expect(log.verifier.fault(of: record) == nil)
    }

    @Test func `another key's proof, or one over another message, is found`() throws {
        let stranger = try log.record([enrolment(signedBy: .generate())])[0]
        #expect(log.verifier.fault(of: stranger) == .signature)
        let other = try log.record([enrolment(signedBy: key, message: "other")])[0]
        #expect(log.verifier.fault(of: other) == .signature)
    }

    @Test func `a decision counts only with the key that was enrolled before it`() throws {
        let records = try log.record([enrolment(signedBy: key), approval(by: key)])
        var audit = EvidenceAudit(verifier: log.verifier, migrated: [:])
        _ = try audit.check(records[0])
        // So far and no further: no policy was published.
        #expect(throws: EvidenceFault.policy) { try audit.check(records[1]) }
        // A service that was taken over could sign with a key of its own, but not enrol it in the past.
        let forged = try log.record([enrolment(signedBy: key), approval(by: .generate())])
        var strict = EvidenceAudit(verifier: log.verifier, migrated: [:])
        _ = try strict.check(forged[0])
        #expect(throws: EvidenceFault.notEnrolled) { try strict.check(forged[1]) }
        var late = EvidenceAudit(verifier: log.verifier, migrated: [:])
        #expect(throws: EvidenceFault.notEnrolled) { try late.check(records[1]) }
    }

    @Test func `a decision counts only with a key that had not been revoked before it`() throws {
        let revocation = EvidenceDraft(
            .credentialRevoked, credential: credential, outcome: "revoked", body: [:])
        let records = try log.record([
            enrolment(signedBy: key), approval(by: key), revocation, approval(by: key),
        ])
        var audit = EvidenceAudit(verifier: log.verifier, migrated: [:])
        _ = try audit.check(records[0])
        #expect(throws: EvidenceFault.policy) { try audit.check(records[1]) }
        _ = try audit.check(records[2])
        #expect(throws: EvidenceFault.keyEnded) { try audit.check(records[3]) }
    }
}
