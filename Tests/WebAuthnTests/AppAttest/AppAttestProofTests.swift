import Countersign
import Crypto
import TestSupport
import Testing

@testable import WebAuthn

/// AA-11…AA-16 where they count: beside a device key's signature over what the customer approves.
@Suite struct `An assertion of App Attest beside a device key's signature` {
    private static let message = Bytes(#"{"amount":"10.00"}"#.utf8)
    private static let id = ID<Credential>(rawValue: 1)

    private let device: TestAppAttest
    private let key: P256PrivateKey

    init() throws {
        device = try TestAppAttest()
        key = try P256PrivateKey.generate()
    }

    /// The key's record, with App Attest as it was last believed.
    private func stored(counter: UInt32 = 4, appAttest: Bytes? = nil) -> StoredDeviceKey {
        StoredDeviceKey(
            id: Self.id, key: key.publicKey.spki,
            appAttest: StoredAppAttest(
                key: appAttest ?? device.key.publicKey.spki, counter: counter))
    }

    private func verify(
        _ assertion: Bytes?, _ stored: StoredDeviceKey, signature: Bytes? = nil,
        devices: DeviceAttestationPolicy? = nil
    ) throws -> VerifiedAssertion {
        let verifier = CustomerProofVerifier(
            relyingParty: try Fixture().relyingParty, payments: nil, algorithms: [.es256],
            attestation: .untrusting,
            devices: devices ?? DeviceAttestationPolicy(android: nil, appAttest: device.trust))
        return try verifier.verify(
            .deviceKey(
                credential: Self.id, signature: try signature ?? key.sign(Self.message),
                appAttest: assertion),
            by: .deviceKey(stored), over: Self.message)
    }

    private func refused(_ failure: VerificationFailure, _ body: () throws -> VerifiedAssertion) {
        #expect(throws: failure) { try body() }
    }

    @Test func `tells its counter`() throws {
        let assertion = try device.assert(Self.message, counter: 9)
        #expect(try verify(assertion, stored()) == .deviceKey(appAttestCounter: 9))
    }

    @Test func `need not come, and then tells nothing`() throws {
        #expect(try verify(nil, stored()) == .deviceKey(appAttestCounter: nil))
    }

    @Test func `never stands in for the signature`() throws {
        let assertion = try device.assert(Self.message, counter: 9)
        for signature in [
            [], try device.key.sign(Self.message), try key.sign(Bytes("another".utf8)),
        ] as [Bytes] {
            refused(.signatureInvalid) { try verify(assertion, stored(), signature: signature) }
        }
    }

    @Test func `is over the message that the customer signed`() throws {
        let assertion = try device.assert(Bytes("another".utf8), counter: 9)
        refused(.appAttestSignatureInvalid) { try verify(assertion, stored()) }
    }

    @Test func `is of the App Attest key on record`() throws {
        let assertion = try TestAppAttest().assert(Self.message, counter: 9)
        refused(.appAttestSignatureInvalid) { try verify(assertion, stored()) }
    }

    @Test(arguments: [0, 3, 4] as [UInt32])
    func `has a counter that is greater than the last`(counter: UInt32) throws {
        let assertion = try device.assert(Self.message, counter: counter)
        refused(.appAttestCounterRegression) { try verify(assertion, stored(counter: 4)) }
        let next = try device.assert(Self.message, counter: 5)
        #expect(try verify(next, stored(counter: 4)) == .deviceKey(appAttestCounter: 5))
    }

    @Test func `is refused when the counter has nowhere to go`() throws {
        let last = try device.assert(Self.message, counter: .max)
        refused(.appAttestCounterRegression) { try verify(last, stored(counter: .max)) }
    }

    @Test func `is of our app`() throws {
        var other = device
        other.appID = "ABCDE12345.com.bank.other"
        let assertion = try other.assert(Self.message, counter: 9)
        refused(.appAttestAppMismatch) { try verify(assertion, stored()) }
    }

    @Test func `is refused when it is garbage`() throws {
        let good = try device.assert(Self.message, counter: 9)
        for garbage in [
            [], [0xA0], [0xFF], Bytes("no assertion".utf8), good + [0], good.dropLast(),
            try device.assert(Self.message, counter: 9, extra: [0]),
            Bytes(repeating: 0x81, count: 5000),
        ] as [Bytes] {
            refused(.appAttestMalformed) { try verify(garbage, stored()) }
        }
    }

    /// It could not be checked, and must not look as if it had been.
    @Test func `is refused where no App Attest key is on record, or no app is configured`() throws {
        let assertion = try device.assert(Self.message, counter: 9)
        let bare = StoredDeviceKey(id: Self.id, key: key.publicKey.spki)
        refused(.appAttestUnexpected) { try verify(assertion, bare) }
        refused(.appAttestUnexpected) { try verify(assertion, stored(), devices: .unconfigured) }
    }

    @Test func `is refused under a damaged record`() throws {
        let assertion = try device.assert(Self.message, counter: 9)
        refused(.storedKeyInvalid) { try verify(assertion, stored(appAttest: [])) }
    }
}
