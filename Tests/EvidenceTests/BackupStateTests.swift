import Countersign
import Evidence
import TestSupport
import Testing

@Suite struct `A passkey's backup state in evidence` {
    @Test(arguments: [
        (SignedDecision.approve, "120.00"), (.reject, "120.00"), (.approve, "500.01"),
    ])
    func `is an event when a proof says otherwise than before, whatever it decides`(
        decision: SignedDecision, amount: String
    ) async throws {
        for before in [true, false] {
            let bank = try TestBank()
            let passkey = bank.phone.registered(.passkey, backupState: before)
            bank.store.change { $0.credentials = [passkey] }
            // The authenticator says that it is copied nowhere.
            let decided = try await Decided(
                decision, try Fixtures.transfer(amount), by: .passkey, bank: bank)
            let changes = decided.drafts.filter { $0.kind == .credentialBackupStateChanged }
            #expect(decided.drafts.first?.kind != .credentialBackupStateChanged)
            guard before else {
                #expect(changes.isEmpty)
                continue
            }
            #expect(changes.map(\.credential) == [passkey.id])
            let body: JSON = ["old": .bool(true), "new": .bool(false)]
            #expect(changes.map(\.body) == [body])
            let log = try TestLog()
            for record in try log.record(decided.drafts) {
                #expect(log.verifier.fault(of: record) == nil)
            }
        }
    }

    @Test func `stands beside what was known of the credential when it decided`() async throws {
        let bank = try TestBank()
        let key = bank.phone.registered(.deviceKey, profiles: [.androidBiometric])
        bank.store.change { $0.credentials = [key] }
        for decision in [SignedDecision.approve, .reject] {
            let decided = try await Decided(
                decision, try Fixtures.transfer(), by: .deviceKey, bank: bank)
            let body = try #require(decided.drafts.first?.body)
            #expect(body["assurance"] == "biometric-attested")
            #expect(body["profiles"] == ["android-biometric"])
            #expect(body["signature_format"] == "der")
        }
    }
}
