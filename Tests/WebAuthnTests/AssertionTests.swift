import Countersign
import Crypto
import Testing
import WebAuthn

/// WebAuthn L3 §7.2, one rule after the other.
@Suite struct `Verifying an assertion` {
    private let verified: AuthenticatorFlags = [.userPresent, .userVerified]

    @Test func `a good one is believed and tells its counts and flags`() throws {
        let fixture = try Fixture()
        let flags = verified.union([.backupEligible, .backupState])
        let told = try AssertionCeremony.verify(
            try fixture.assertion(data: fixture.data(flags, signCount: 9)),
            challenge: fixture.challenge,
            credential: fixture.stored(signCount: 8, backupEligible: true),
            relyingParty: fixture.relyingParty, policy: .service, keys: PasskeyKeys(keysMax: 2))
        #expect(told.signCount == 9)
        #expect(told.backupEligible && told.backupState && told.userVerified)
    }

    @Test func `step 6 - the credential is the recorded one`() throws {
        let fixture = try Fixture()
        let assertion = try fixture.assertion()
        let others = [
            fixture.authenticator.credentialID + [0],
            Bytes(fixture.authenticator.credentialID.dropLast()), [],
        ]
        for id in others {
            #expect(
                fixture.refusal(assertion, fixture.stored(credentialID: id)) == .credentialUnknown)
        }
    }

    @Test func `step 6 - a user handle that is sent is the customer's`() throws {
        let fixture = try Fixture()
        #expect(fixture.refusal(try fixture.assertion(userHandle: nil)) == nil)
        for handle in [[], Fixture.userHandle + [0], Bytes("Customer".utf8)] {
            #expect(
                fixture.refusal(try fixture.assertion(userHandle: handle)) == .userHandleMismatch)
        }
    }

    @Test func `step 15 - the relying party is ours`() throws {
        let fixture = try Fixture()
        let foreign = SoftwareAuthenticator(
            relyingPartyID: "evil.example", credentialID: fixture.authenticator.credentialID,
            key: fixture.authenticator.key)
        let data = foreign.authenticatorData(flags: verified, signCount: 0)
        #expect(fixture.refusal(try fixture.assertion(data: data)) == .relyingPartyMismatch)
    }

    @Test func `steps 16 and 17 - the user was present and verified`() throws {
        let fixture = try Fixture()
        func refusal(_ flags: AuthenticatorFlags) throws -> VerificationFailure? {
            fixture.refusal(try fixture.assertion(data: fixture.data(flags)))
        }
        #expect(try refusal([.userVerified]) == .userNotPresent)
        #expect(try refusal([.userPresent]) == .userNotVerified)
        #expect(try refusal([]) == .userNotPresent)
    }

    @Test func `a looser policy is possible, for published vectors`() throws {
        var fixture = try Fixture()
        fixture.policy = VerifierPolicy(
            userPresence: .notRequired, userVerification: .notRequired, algorithms: [.es256],
            attestation: .untrusting, attestedDataInAssertion: .refused)
        #expect(fixture.refusal(try fixture.assertion(data: fixture.data([]))) == nil)
    }

    @Test func `step 18 - backed up only when it may be`() throws {
        let fixture = try Fixture()
        let data = fixture.data(verified.union(.backupState))
        #expect(fixture.refusal(try fixture.assertion(data: data)) == .backupFlagsInvalid)
    }

    @Test func `step 19 - whether it may be backed up never changes`() throws {
        let fixture = try Fixture()
        let eligible = try fixture.assertion(data: fixture.data(verified.union(.backupEligible)))
        #expect(fixture.refusal(eligible) == .backupEligibilityChanged)
        #expect(fixture.refusal(eligible, fixture.stored(backupEligible: true)) == nil)
        #expect(
            fixture.refusal(try fixture.assertion(), fixture.stored(backupEligible: true))
                == .backupEligibilityChanged)
    }

    @Test func `reserved flags are ignored`() throws {
        let fixture = try Fixture()
        let data = fixture.data(verified.union(AuthenticatorFlags(rawValue: 0x22)))
        #expect(fixture.refusal(try fixture.assertion(data: data)) == nil)
    }

    @Test func `step 21 - the signature is by the recorded key over these bytes`() throws {
        let fixture = try Fixture()
        let good = try fixture.assertion()
        let other = try P256PrivateKey.generate()
        #expect(
            fixture.refusal(good, fixture.stored(key: other.publicKey.spki)) == .signatureInvalid)
        let message = good.authenticatorData + sha256(good.clientDataJSON).bytes
        let raw = try #require(P256Signature(der: good.signature)).raw
        let wrong = [
            [], raw, good.signature + [0], try other.sign(message),
            try fixture.authenticator.key.sign(sha256(message).bytes),
            try fixture.authenticator.key.sign(good.authenticatorData + good.clientDataJSON),
            try fixture.authenticator.key.sign([]), [0x30, 6, 2, 1, 0, 2, 1, 0],
        ]
        for signature in wrong {
            #expect(fixture.refusal(good.with(signature: signature)) == .signatureInvalid)
        }
    }

    @Test func `a record that holds no key is the service's failure`() throws {
        let fixture = try Fixture()
        #expect(
            fixture.refusal(try fixture.assertion(), fixture.stored(key: [1, 2]))
                == .storedKeyInvalid)
    }

    @Test(arguments: [
        (0, 0, true), (0, 1, true), (1, 2, true), (1, 0, false), (1, 1, false), (2, 1, false),
        (UInt32.max, UInt32.max, false), (UInt32.max, 0, false), (UInt32.max - 1, UInt32.max, true),
    ])
    func `step 22 - the sign count goes up, unless none is kept`(
        stored: UInt32, sent: UInt32, isBelieved: Bool
    ) throws {
        let fixture = try Fixture()
        let assertion = try fixture.assertion(data: fixture.data(verified, signCount: sent))
        #expect(
            fixture.refusal(assertion, fixture.stored(signCount: stored))
                == (isBelieved ? nil : .signCountRegression))
    }

    @Test func `step 22 - the three outcomes have names`() throws {
        #expect(SignCount(from: 0, to: 0) == .notKept)
        #expect(SignCount(from: 0, to: 1) == .advanced)
        #expect(SignCount(from: 1, to: .max) == .advanced)
        for (stored, sent) in [(1, 0), (1, 1), (2, 1), (.max, 0)] as [(UInt32, UInt32)] {
            #expect(SignCount(from: stored, to: sent) == .regressed)
        }
        // A synced passkey that counts is no exception.
        let fixture = try Fixture()
        let data = fixture.data(verified.union([.backupEligible, .backupState]), signCount: 4)
        let assertion = try fixture.assertion(data: data)
        #expect(
            fixture.refusal(assertion, fixture.stored(signCount: 5, backupEligible: true))
                == .signCountRegression)
        #expect(fixture.refusal(assertion, fixture.stored(backupEligible: true)) == nil)
    }

    @Test func `every byte of authenticator data is accounted for`() throws {
        let fixture = try Fixture()
        func refusal(_ data: Bytes) throws -> VerificationFailure? {
            fixture.refusal(try fixture.assertion(data: data))
        }
        let plain = fixture.data(verified)
        for count in 0..<37 {
            #expect(try refusal(Bytes(plain.prefix(count))) == .authenticatorDataMalformed)
        }
        #expect(try refusal(plain + [0]) == .authenticatorDataTrailingBytes)
        #expect(try refusal(plain + [0xA0]) == .authenticatorDataTrailingBytes)
        let extended = fixture.data(verified.union(.extensions))
        #expect(try refusal(extended + [0xA0]) == nil)
        #expect(try refusal(extended + [0xA1, 0x63, 0x75, 0x76, 0x6D, 0x80]) == nil)
        #expect(try refusal(extended) == .cborMalformed)
        #expect(try refusal(extended + [0xA1, 0x63]) == .cborMalformed)
        #expect(try refusal(extended + [0x80]) == .authenticatorDataMalformed)
        #expect(try refusal(extended + [0xA0, 0xA0]) == .authenticatorDataTrailingBytes)
    }

    @Test func `a new credential's data in an assertion is refused, or must be this credential's`()
        throws
    {
        var fixture = try Fixture()
        fixture.policy = VerifierPolicy(
            userPresence: .required, userVerification: .required, algorithms: [.es256],
            attestation: .untrusting, attestedDataInAssertion: .refused)
        let flag = fixture.data(verified.union(.attestedCredential))
        let assertion = try fixture.assertion(data: fixture.newData(verified))
        #expect(
            fixture.refusal(try fixture.assertion(data: flag)) == .authenticatorDataMalformed)
        #expect(fixture.refusal(assertion) == .authenticatorDataMalformed)
        // Some authenticators send it; the service takes it only when it repeats what is registered.
        fixture.policy = .service
        #expect(fixture.refusal(assertion) == nil)
        let renamed = SoftwareAuthenticator(
            relyingPartyID: "bank.example", credentialID: [1], key: fixture.authenticator.key)
        let rekeyed = SoftwareAuthenticator(
            relyingPartyID: "bank.example", credentialID: fixture.authenticator.credentialID,
            key: try P256PrivateKey.generate())
        for other in [renamed, rekeyed] {
            let data = flag + other.attestedCredential
            #expect(
                fixture.refusal(try fixture.assertion(data: data)) == .authenticatorDataMalformed)
        }
    }

    @Test func `every flipped bit and every truncation is refused`() throws {
        let fixture = try Fixture()
        let good = try fixture.assertion()
        #expect(fixture.refusal(good) == nil)
        for changed in mutations(of: good.clientDataJSON) {
            #expect(fixture.refusal(good.with(clientDataJSON: changed)) != nil)
        }
        for changed in mutations(of: good.authenticatorData) {
            #expect(fixture.refusal(good.with(authenticatorData: changed)) != nil)
        }
        for changed in mutations(of: good.signature) {
            #expect(fixture.refusal(good.with(signature: changed)) == .signatureInvalid)
        }
    }

    @Test func `many at once are verified as one`() async throws {
        let fixture = try Fixture()
        let good = try fixture.assertion()
        let bad = good.with(signature: try fixture.assertion().signature.reversed())
        await withTaskGroup(of: Bool.self) { group in
            for index in 0..<64 {
                group.addTask {
                    (fixture.refusal(index % 2 == 0 ? good : bad) == nil) == (index % 2 == 0)
                }
            }
            for await isRight in group { #expect(isRight) }
        }
    }
}

/// Every truncation, every single flipped bit, and one byte more.
func mutations(of bytes: Bytes) -> [Bytes] {
    let truncated = (0..<bytes.count).map { Bytes(bytes.prefix($0)) }
    let flipped = (0..<bytes.count * 8).map { bit in
        var changed = bytes
        changed[bit / 8] ^= 1 << UInt8(bit % 8)
        return changed
    }
    return truncated + flipped + [bytes + [0]]
}

extension PasskeyAssertion {
    func with(
        clientDataJSON: Bytes? = nil, authenticatorData: Bytes? = nil, signature: Bytes? = nil
    ) -> PasskeyAssertion {
        PasskeyAssertion(
            rawID: rawID, clientDataJSON: clientDataJSON ?? self.clientDataJSON,
            authenticatorData: authenticatorData ?? self.authenticatorData,
            signature: signature ?? self.signature, userHandle: userHandle)
    }
}
