import Countersign
import Crypto
import TestSupport
import Testing

@testable import WebAuthn

/// What the tests of this file enrol and verify with.
private struct Enrolment {
    static let message = Bytes("the enrolment message".utf8)
    static let at = SyntheticPhone.now

    let verifier: CustomerProofVerifier

    init(
        android: DeviceAttestationPolicy.Android? = nil, appAttest: AppAttestTrust? = nil
    ) throws {
        verifier = CustomerProofVerifier(
            relyingParty: try Fixture().relyingParty, payments: nil, algorithms: [.es256],
            attestation: .untrusting,
            devices: DeviceAttestationPolicy(android: android, appAttest: appAttest))
    }

    /// Enrols a key, whose possession it proves, with that statement.
    func enrol(
        _ key: P256PrivateKey, _ attestation: DeviceAttestation, message: Bytes = message
    ) throws -> VerifiedRegistration {
        try verifier.verify(
            try offered(key, attestation, message: message), over: message, at: Self.at)
    }

    func offered(
        _ key: P256PrivateKey, _ attestation: DeviceAttestation?, message: Bytes = message
    ) throws -> OfferedCredential {
        .deviceKey(
            OfferedDeviceKey(
                publicKey: key.publicKey.pem, signature: try key.sign(message),
                signatureFormat: .der, platform: nil, attestation: attestation))
    }

    static func refused(_ code: String) -> RegistrationFailure {
        .attestation(AttestationFailure(code))
    }
}

@Suite struct `Enrolling a key with an Android attestation` {
    private let phone: SyntheticPhone

    init() throws { phone = try SyntheticPhone() }

    private func statement(
        _ change: (inout DescriptionDraft) -> Void = { _ in }
    ) throws -> DeviceAttestation {
        var draft = DescriptionDraft(challenge: sha256(Enrolment.message).bytes)
        change(&draft)
        return try DeviceAttestation(
            format: DeviceAttestation.androidKeyFormat, certificates: try phone.certificates(draft))
    }

    private func enrolment(_ revocations: RevocationList?) throws -> Enrolment {
        let trust = phone.trust(revocations)
        return try Enrolment(android: .init(requirements: .bank, trust: { trust }, refresh: {}))
    }

    @Test func `records what is proved and which profile it meets`() throws {
        let statement = try statement()
        let verified = try enrolment(SyntheticPhone.revocations()).enrol(phone.key, statement)
        let attestation = verified.attestation
        #expect(verified.publicKey == phone.key.publicKey.spki)
        #expect(attestation.verdict == .basic)
        #expect(attestation.format == "android-key")
        #expect(attestation.statement == statement.certificates)
        #expect(attestation.profiles == [.androidBiometric])
        #expect(attestation.facts["unmet"]?["android-biometric"] == [])
        #expect(attestation.appAttestKey == nil)
        #expect(Assurance(.deviceKey, meeting: attestation.profiles) == .biometricAttested)
    }

    @Test func `records a key that misses a condition, and the condition`() throws {
        // AK-13: the password unlocks it too.
        let statement = try statement { $0.hardware(504, DER.integer(3)) }
        let attestation = try enrolment(SyntheticPhone.revocations())
            .enrol(phone.key, statement).attestation
        #expect(attestation.verdict == .basic)
        #expect(attestation.profiles.isEmpty)
        #expect(attestation.facts["unmet"]?["android-biometric"] == ["auth_biometric_only"])
        #expect(Assurance(.deviceKey, meeting: attestation.profiles) == .biometricClaimed)
    }

    /// AK-08.
    @Test func `is refused for a statement of another enrolment`() throws {
        let enrolment = try enrolment(SyntheticPhone.revocations())
        let statement = try statement()
        #expect(throws: Enrolment.refused("android_challenge_mismatch")) {
            try enrolment.enrol(phone.key, statement, message: Bytes("another".utf8))
        }
        // The challenge is the message's digest, not the message.
        let undigested = try self.statement { $0.challenge = Enrolment.message }
        #expect(throws: Enrolment.refused("android_challenge_mismatch")) {
            try enrolment.enrol(phone.key, undigested)
        }
    }

    /// AK-21.
    @Test func `is refused for a statement about another key`() throws {
        let enrolment = try enrolment(SyntheticPhone.revocations())
        let other = try P256PrivateKey.generate()
        let statement = try statement()
        #expect(throws: Enrolment.refused("android_key_mismatch")) {
            try enrolment.enrol(other, statement)
        }
    }

    @Test func `is refused for a root that is not trusted`() throws {
        let stranger = try SyntheticPhone().trust(try SyntheticPhone.revocations())
        let enrolment = try Enrolment(
            android: .init(requirements: .bank, trust: { stranger }, refresh: {}))
        let statement = try statement()
        #expect(throws: Enrolment.refused("android_root_untrusted")) {
            try enrolment.enrol(phone.key, statement)
        }
    }

    /// AK-06: fail closed.
    @Test func `is refused without a recent list of revocations, and by one that names it`() throws
    {
        let statement = try statement()
        let old = try SyntheticPhone.revocations(fetchedAt: Enrolment.at - Seconds(86_401))
        for (list, code) in [
            (nil, "android_revocations_missing"), (old, "android_revocations_stale"),
            (try SyntheticPhone.revocations(["abc"]), "android_revoked"),
        ] {
            let enrolment = try enrolment(list)
            #expect(throws: Enrolment.refused(code)) { try enrolment.enrol(phone.key, statement) }
        }
        let justIn = try SyntheticPhone.revocations(fetchedAt: Enrolment.at - Seconds(86_400))
        _ = try enrolment(justIn).enrol(phone.key, statement)
    }

    @Test func `takes the list of revocations that there was when it was prepared`() async throws {
        let trust = Locked(phone.trust(nil))
        let fetched = phone.trust(try SyntheticPhone.revocations())
        let enrolment = try Enrolment(
            android: .init(
                requirements: .bank, trust: { trust.withLock { $0 } },
                refresh: { trust.withLock { $0 = fetched } }))
        let statement = try statement()
        let others = [nil, DeviceAttestation(appAttest: try TestAppAttest().attest([1]))]
        for other in others {
            await enrolment.verifier.prepare(for: try enrolment.offered(phone.key, other))
            #expect(throws: Enrolment.refused("android_revocations_missing")) {
                try enrolment.enrol(phone.key, statement)
            }
        }
        await enrolment.verifier.prepare(for: try enrolment.offered(phone.key, statement))
        _ = try enrolment.enrol(phone.key, statement)
    }

    @Test func `keeps a statement that this installation does not judge, and believes nothing`()
        throws
    {
        let statement = try statement()
        // With Apple's app alone, Android's statements are as unknown as without any.
        for trust in [nil, try TestAppAttest().trust] {
            let attestation = try Enrolment(appAttest: trust).enrol(phone.key, statement)
                .attestation
            #expect(
                attestation
                    == Attestation(
                        verdict: .unverified, format: "android-key",
                        statement: statement.certificates))
        }
    }
}

@Suite struct `Enrolling a key with App Attest` {
    private let device: TestAppAttest
    private let key: P256PrivateKey

    init() throws {
        device = try TestAppAttest()
        key = try P256PrivateKey.generate()
    }

    /// Over the message and the key's DER.
    private func statement(message: Bytes = Enrolment.message) throws -> DeviceAttestation {
        DeviceAttestation(appAttest: try device.attest(message + key.publicKey.spki))
    }

    @Test func `records the key of App Attest beside the device's`() throws {
        let statement = try statement()
        let verified = try Enrolment(appAttest: device.trust).enrol(key, statement)
        let attestation = verified.attestation
        #expect(verified.publicKey == key.publicKey.spki)
        #expect(attestation.verdict == .basic)
        #expect(attestation.format == "app-attest")
        #expect(attestation.statement == statement.statement)
        #expect(attestation.profiles == [.appAttest])
        #expect(attestation.appAttestKey == device.key.publicKey.spki)
        #expect(attestation.facts["app_id"] == .string(TestAppAttest.appID))
        #expect(Assurance(.deviceKey, meeting: attestation.profiles) == .appAttestBound)
    }

    /// SE-02: else a genuine app could vouch for a key that it never saw.
    @Test func `is refused for a statement about another device key`() throws {
        let enrolment = try Enrolment(appAttest: device.trust)
        let other = try P256PrivateKey.generate()
        let statement = try statement()
        #expect(throws: Enrolment.refused("app_attest_nonce_mismatch")) {
            try enrolment.enrol(other, statement)
        }
        let unbound = DeviceAttestation(appAttest: try device.attest(Enrolment.message))
        #expect(throws: Enrolment.refused("app_attest_nonce_mismatch")) {
            try enrolment.enrol(key, unbound)
        }
    }

    @Test func `is refused for a statement of another enrolment, or of another root`() throws {
        let another = try statement(message: Bytes("another".utf8))
        let enrolment = try Enrolment(appAttest: device.trust)
        #expect(throws: Enrolment.refused("app_attest_nonce_mismatch")) {
            try enrolment.enrol(key, another)
        }
        let strange = try Enrolment(appAttest: try TestAppAttest().trust)
        let statement = try statement()
        #expect(throws: Enrolment.refused("app_attest_root_untrusted")) {
            try strange.enrol(key, statement)
        }
    }

    @Test func `keeps a statement that this installation does not judge, and believes nothing`()
        throws
    {
        let statement = try statement()
        let trust = try SyntheticPhone().trust(nil)
        for android in [
            nil,
            DeviceAttestationPolicy.Android(
                requirements: .bank, trust: { trust }, refresh: {}),
        ] {
            let attestation = try Enrolment(android: android).enrol(key, statement).attestation
            #expect(
                attestation
                    == Attestation(
                        verdict: .unverified, format: "app-attest", statement: statement.statement))
        }
    }

    @Test func `takes no chain of certificates for a statement of App Attest`() throws {
        let chain = try DeviceAttestation(format: "app-attest", certificates: [[1]])
        let attestation = try Enrolment(appAttest: device.trust).enrol(key, chain).attestation
        #expect(attestation.verdict == .unverified)
        #expect(attestation.profiles.isEmpty)
    }
}
