import Countersign
import Crypto
import Testing
import WebAuthn

@Suite struct `A customer's proof over a signed message` {
    private let message = Bytes(#"{"amount":"10.00"}"#.utf8)
    private let credential = ID<Credential>(rawValue: 1)

    private func refusal(
        _ fixture: Fixture, _ assertion: UnverifiedAssertion, _ stored: StoredCredential,
        _ message: Bytes
    ) -> VerificationFailure? {
        do {
            _ = try CustomerProofVerifier(
                relyingParty: fixture.relyingParty, payments: nil,
                algorithms: [.es256], attestation: .untrusting, devices: .unconfigured
            )
            .verify(assertion, by: stored, over: message)
            return nil
        } catch {
            return error
        }
    }

    private func passkey(_ fixture: Fixture, _ flags: AuthenticatorFlags) throws
        -> UnverifiedAssertion
    {
        .passkey(
            try fixture.authenticator.assert(
                challenge: sha256(message).bytes, origin: Fixture.origin, flags: flags,
                signCount: 3, userHandle: nil))
    }

    @Test func `a device key signs the message itself`() throws {
        let fixture = try Fixture()
        let key = try P256PrivateKey.generate()
        let stored = StoredCredential.deviceKey(
            StoredDeviceKey(id: credential, key: key.publicKey.spki))
        let proof = UnverifiedAssertion.deviceKey(
            credential: credential, signature: try key.sign(message))
        #expect(refusal(fixture, proof, stored, message) == nil)
        #expect(refusal(fixture, proof, stored, message + [0x0A]) == .signatureInvalid)
        let other = StoredCredential.deviceKey(
            StoredDeviceKey(id: ID(rawValue: 2), key: key.publicKey.spki))
        #expect(refusal(fixture, proof, other, message) == .credentialUnknown)
        let damaged = StoredCredential.deviceKey(StoredDeviceKey(id: credential, key: []))
        #expect(refusal(fixture, proof, damaged, message) == .storedKeyInvalid)
    }

    /// Raw is 64 bytes with r and s in [1, n−1]; what is DER for one key is nothing for the other.
    @Test func `a device key signs in the format that it was enrolled with and in no other`() throws
    {
        let fixture = try Fixture()
        let key = try P256PrivateKey.generate()
        let der = try key.sign(message)
        let raw = try #require(P256Signature(der: der)).raw
        func refused(_ signature: Bytes, _ format: SignatureFormat) -> VerificationFailure? {
            refusal(
                fixture, .deviceKey(credential: credential, signature: signature),
                .deviceKey(
                    StoredDeviceKey(
                        id: credential, key: key.publicKey.spki, signatureFormat: format)),
                message)
        }
        #expect(refused(der, .der) == nil && refused(raw, .raw) == nil)
        #expect(refused(der, .raw) == .signatureInvalid)
        #expect(refused(raw, .der) == .signatureInvalid)
        let zero = Bytes(repeating: 0, count: 32)
        let ones = Bytes(repeating: 0xFF, count: 32)
        for wrong in [
            [], raw.dropLast(), raw + [0], [0] + raw, raw.prefix(32) + zero, zero + raw.suffix(32),
            raw.prefix(32) + ones, ones + raw.suffix(32), raw.suffix(32) + raw.prefix(32),
        ] as [Bytes] {
            #expect(refused(wrong, .raw) == .signatureInvalid)
        }
    }

    @Test func `a passkey signs the message's digest as challenge`() throws {
        let fixture = try Fixture()
        let stored = StoredCredential.passkey(fixture.stored())
        let proof = try passkey(fixture, [.userPresent, .userVerified])
        let told = try CustomerProofVerifier(
            relyingParty: fixture.relyingParty, payments: nil,
            algorithms: [.es256], attestation: .untrusting, devices: .unconfigured
        )
        .verify(proof, by: stored, over: message)
        #expect(told == .passkey(signCount: 3, backupEligible: false, backupState: false))
        #expect(refusal(fixture, proof, stored, message + [0x20]) == .challengeMismatch)
    }

    @Test func `the service never takes a passkey without user verification`() throws {
        let fixture = try Fixture()
        let proof = try passkey(fixture, [.userPresent])
        #expect(
            refusal(fixture, proof, .passkey(fixture.stored()), message) == .userNotVerified)
    }

    @Test func `one kind of credential cannot answer for the other`() throws {
        let fixture = try Fixture()
        let key = fixture.authenticator.key
        let device = UnverifiedAssertion.deviceKey(
            credential: credential, signature: try key.sign(message))
        #expect(
            refusal(fixture, device, .passkey(fixture.stored()), message) == .credentialType)
        let stored = StoredCredential.deviceKey(
            StoredDeviceKey(id: credential, key: key.publicKey.spki))
        let proof = try passkey(fixture, [.userPresent, .userVerified])
        #expect(refusal(fixture, proof, stored, message) == .credentialType)
    }

    @Test func `codes are stable words, each used once`() {
        let codes = VerificationFailure.allCases.map(\.code)
        #expect(Set(codes).count == codes.count)
        #expect(
            codes.allSatisfy {
                $0.utf8.allSatisfy { (0x61...0x7A).contains($0) || $0 == 0x5F || $0 == 0x32 }
            })
    }
}
