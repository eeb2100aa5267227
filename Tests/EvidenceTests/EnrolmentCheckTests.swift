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
        signedBy signer: P256PrivateKey, message: String = "enrol"
    ) throws -> EvidenceDraft {
        EvidenceDraft(
            .credentialEnrolled, credential: credential, outcome: "active",
            body: [
                "public_key": .string(Base64.encodeURL(key.publicKey.spki)),
                "message": .string(Base64.encodeURL(Bytes(message.utf8))),
                "proof": [
                    "kind": "device_key",
                    "signature": .string(Base64.encodeURL(try signer.sign(Bytes("enrol".utf8)))),
                ],
            ])
    }

    /// A decision signed by a key, and recorded with it.
    private func approval(by signer: P256PrivateKey) throws -> EvidenceDraft {
        let message = try Fixtures.message(Fixtures.transfer())
        return EvidenceDraft(
            .actionApproved, action: message.actionID, credential: credential, outcome: "approved",
            body: [
                "signed": .bool(true),
                "message": .string(Base64.encodeURL(message.bytes)),
                "assertion": [
                    "kind": "device_key",
                    "signature": .string(Base64.encodeURL(try signer.sign(message.bytes))),
                ],
                "public_key": .string(Base64.encodeURL(signer.publicKey.spki)),
            ])
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
        var audit = EvidenceAudit(verifier: log.verifier)
        for record in records { _ = try audit.check(record) }
        // A service that was taken over could sign with a key of its own, but not enrol it in the past.
        let forged = try log.record([enrolment(signedBy: key), approval(by: .generate())])
        var strict = EvidenceAudit(verifier: log.verifier)
        _ = try strict.check(forged[0])
        #expect(throws: EvidenceFault.notEnrolled) { try strict.check(forged[1]) }
        var late = EvidenceAudit(verifier: log.verifier)
        #expect(throws: EvidenceFault.notEnrolled) { try late.check(records[1]) }
    }
}
