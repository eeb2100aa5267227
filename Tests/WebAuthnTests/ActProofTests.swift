import Countersign
import Crypto
import TestSupport
import Testing
import WebAuthn

/// The same verifier for customers and for people, and never one in the other's place.
@Suite struct `A passkey's answer about an act` {
    @Test func `in a customer's place are not believed, nor the reverse`() throws {
        let verifier = try Fixtures.verifier()
        let phone = try TestPhone()
        let stored = phone.registered(.passkey).stored
        let customers = try Fixtures.message(try Fixtures.transfer()).bytes
        let people = ActMessage(
            actID: Fixtures.id(1), audience: Fixtures.audience, challengeID: Fixtures.id(2),
            documentDigest: sha256([]), expiresAt: Fixtures.at + Seconds(300),
            kind: .publishPolicy, nonce: Fixtures.bytes32(1), person: "anna", role: .risk,
            stage: .propose
        ).bytes
        for (signed, asked) in [(customers, people), (people, customers)] {
            #expect(throws: VerificationFailure.challengeMismatch) {
                try verifier.verify(phone.assert(signed), by: stored, over: asked)
            }
            #expect(throws: Never.self) {
                try verifier.verify(phone.assert(signed), by: stored, over: signed)
            }
        }
        // A browser's payment dialog confirms no act.
        #expect(throws: VerificationFailure.paymentNotAllowed) {
            try verifier.verify(phone.confirm(customers), by: stored, over: people)
        }
    }
}
