import Countersign
import Crypto
import Testing

@testable import WebAuthn

/// WebAuthn L3 §7.1, one rule after the other; the client data's steps are in `ClientDataTests`.
@Suite struct `Verifying a registration` {
    private let verified: AuthenticatorFlags = [.userPresent, .userVerified]

    @Test func `a good one gives the credential record`() throws {
        let fixture = try Fixture()
        let flags = verified.union([.backupEligible, .backupState])
        let response = fixture.authenticator.register(
            challenge: fixture.challenge, origin: Fixture.origin, flags: flags, signCount: 5)
        let passkey = try RegistrationCeremony.verify(
            response: response, challenge: fixture.challenge, relyingParty: fixture.relyingParty,
            policy: .service, at: Fixture.at)
        #expect(passkey.credentialID == fixture.authenticator.credentialID)
        #expect(passkey.publicKey == PublicKey(fixture.authenticator.key.publicKey))
        #expect(passkey.signCount == 5)
        #expect(passkey.backupEligible && passkey.backupState && passkey.userVerified)
        #expect(passkey.attestation.facts["aaguid"] == .string(AAGUID.unknown.text))
        #expect(passkey.attestation.facts["attestation_type"] == "none")
        #expect(passkey.attestation.verdict == .absent)
        #expect(passkey.attestation.format == "none")
        #expect(passkey.attestation.statement == [response.attestationObject])
        #expect(passkey.attestation.profiles == [])
        #expect(passkey.transports == ["internal"])
    }

    @Test func `step 13 - the attestation object is one map of three members`() throws {
        let fixture = try Fixture()
        func refusal(_ object: CBOR, trailing: Bytes = []) -> VerificationFailure? {
            fixture.refusal(response(fixture, object.encoded + trailing))
        }
        let good = object(fixture)
        #expect(refusal(good) == nil)
        #expect(refusal(good, trailing: [0]) == .attestationObjectTrailingBytes)
        #expect(refusal(good, trailing: good.encoded) == .attestationObjectTrailingBytes)
        for name in ["fmt", "authData", "attStmt"] {
            #expect(refusal(good.without(name)) == .cborMalformed)
            #expect(refusal(good.without(name).with(name, .null)) != nil)
        }
        #expect(refusal(.array([good])) == .cborMalformed)
        #expect(refusal(.bytes(good.encoded)) == .cborMalformed)
        #expect(
            fixture.refusal(response(fixture, Bytes(repeating: 0, count: 65_537)))
                == .cborMalformed)
    }

    @Test func `steps 14 to 17 - relying party, presence, verification, backup flags`() throws {
        let fixture = try Fixture()
        func refusal(_ flags: AuthenticatorFlags) -> VerificationFailure? {
            fixture.refusal(fixture.registration(data: fixture.newData(flags)))
        }
        #expect(refusal([.userVerified]) == .userNotPresent)
        #expect(refusal([.userPresent]) == .userNotVerified)
        #expect(refusal(verified.union(.backupState)) == .backupFlagsInvalid)
        let foreign = SoftwareAuthenticator(
            relyingPartyID: "evil.example", credentialID: fixture.authenticator.credentialID,
            key: fixture.authenticator.key)
        let data =
            foreign.authenticatorData(
                flags: verified.union(.attestedCredential), signCount: 0)
            + foreign.attestedCredential
        #expect(fixture.refusal(fixture.registration(data: data)) == .relyingPartyMismatch)
    }

    @Test func `the authenticator data holds a credential and nothing after it`() throws {
        let fixture = try Fixture()
        func refusal(_ data: Bytes) -> VerificationFailure? {
            fixture.refusal(fixture.registration(data: data))
        }
        #expect(refusal(fixture.data(verified)) == .authenticatorDataMalformed)
        #expect(refusal(fixture.newData() + [0]) == .authenticatorDataTrailingBytes)
        let good = fixture.newData()
        for count in 0..<good.count {
            let failure = refusal(Bytes(good.prefix(count)))
            #expect(failure == .authenticatorDataMalformed || failure == .cborMalformed)
        }
        let extended = fixture.newData(verified.union(.extensions))
        #expect(refusal(extended + [0xA0]) == nil)
        #expect(refusal(extended) == .cborMalformed)
    }

    @Test func `step 20 - the key is a whole, valid ES256 key`() throws {
        let fixture = try Fixture()
        let good = COSEKey.encode(fixture.authenticator.key.publicKey)
        func refusal(_ key: CBOR) -> VerificationFailure? {
            let id = fixture.authenticator.credentialID
            let attested = SoftwareAuthenticator.aaguid + [0, UInt8(id.count)] + id + key.encoded
            return fixture.refusal(
                fixture.registration(
                    data: fixture.data(verified.union(.attestedCredential)) + attested))
        }
        #expect(refusal(good) == nil)
        let x = Bytes(fixture.authenticator.key.publicKey.x963[1..<33])
        let changes: [(Int64, CBOR?, VerificationFailure)] = [
            (3, CBOR(integer: -8), .algorithmNotAllowed),
            (3, CBOR(integer: -257), .algorithmNotAllowed), (3, nil, .coseKeyInvalid),
            (3, .text("-7"), .coseKeyInvalid), (1, CBOR(integer: 1), .coseKeyInvalid),
            (1, nil, .coseKeyInvalid), (-1, CBOR(integer: 2), .coseKeyInvalid),
            (-1, nil, .coseKeyInvalid), (-2, .bytes(Bytes(x.dropLast())), .coseKeyInvalid),
            (-2, .bytes([0] + x), .coseKeyInvalid), (-2, nil, .coseKeyInvalid),
            (-3, .bool(true), .coseKeyInvalid), (-3, .bytes(x), .coseKeyInvalid),
            (-3, nil, .coseKeyInvalid),
        ]
        for (label, value, failure) in changes {
            let key = good.without(label).with(label, value)
            #expect(refusal(key) == failure, "\(label)")
        }
        #expect(refusal(good.with(4, .array([]))) == nil)
        #expect(refusal(.array([])) == .coseKeyInvalid)
        #expect(refusal(good.with(3, CBOR(integer: -7))) == .cborMalformed)
    }

    @Test func `step 20 - an algorithm that was not asked for is refused`() throws {
        var fixture = try Fixture()
        fixture.policy = VerifierPolicy(
            userPresence: .required, userVerification: .required, algorithms: [],
            attestation: .untrusting, attestedDataInAssertion: .refused)
        #expect(fixture.refusal(fixture.registration()) == .algorithmNotAllowed)
    }

    @Test func `step 21 - an unknown format is refused, and so is one not wanted`() throws {
        var fixture = try Fixture()
        for name in ["", "None", "NONE", "none ", "Packed", "android-safetynet", "compound"] {
            #expect(
                fixture.refusal(response(fixture, object(fixture, format: name).encoded))
                    == .attestationFormatUnsupported)
        }
        fixture.policy = VerifierPolicy(
            userPresence: .required, userVerification: .required, algorithms: [.es256],
            attestation: AttestationPolicy(formats: [.packed], trust: .recorded, anchors: []),
            attestedDataInAssertion: .refused)
        #expect(fixture.refusal(fixture.registration()) == .attestationFormatUnsupported)
    }

    @Test func `step 22 - no attestation has an empty statement`() throws {
        let fixture = try Fixture()
        let statement = CBOR.map([CBOR.Pair(key: .text("x5c"), value: .array([]))])
        #expect(
            fixture.refusal(response(fixture, object(fixture, statement: statement).encoded))
                == .attestationStatementMalformed)
        #expect(
            fixture.refusal(response(fixture, object(fixture, statement: .array([])).encoded))
                == .attestationStatementMalformed)
    }

    @Test func `step 22 - a self attestation is signed by the new key`() throws {
        let fixture = try Fixture()
        let message = fixture.newData() + sha256(fixture.clientData("webauthn.create")).bytes
        let signature = try fixture.authenticator.key.sign(message)
        let good = CBOR.map([]).with("alg", CBOR(integer: -7)).with("sig", .bytes(signature))
        func refusal(_ statement: CBOR) -> VerificationFailure? {
            let object = object(fixture, format: "packed", statement: statement)
            return fixture.refusal(response(fixture, object.encoded))
        }
        #expect(refusal(good) == nil)
        #expect(refusal(good.without("alg")) == .attestationStatementMalformed)
        #expect(refusal(good.without("sig")) == .attestationStatementMalformed)
        #expect(
            refusal(good.with("ecdaaKeyId", .bytes([1]))) == .attestationStatementMalformed)
        #expect(refusal(good.with("x5c", .array([]))) == .attestationStatementMalformed)
        #expect(
            refusal(good.without("alg").with("alg", CBOR(integer: -8)))
                == .attestationAlgorithmMismatch)
        let other = try P256PrivateKey.generate().sign(message)
        #expect(
            refusal(good.without("sig").with("sig", .bytes(other))) == .attestationSignatureInvalid)
        #expect(
            refusal(good.without("sig").with("sig", .bytes(signature + [0])))
                == .attestationSignatureInvalid)
    }

    @Test(arguments: [(0, false), (1, true), (1023, true), (1024, false)])
    func `step 25 - the credential ID has 1 to 1023 bytes`(count: Int, isBelieved: Bool) throws {
        let fixture = try Fixture()
        let id = Bytes(repeating: 7, count: count)
        let authenticator = SoftwareAuthenticator(
            relyingPartyID: "bank.example", credentialID: id, key: fixture.authenticator.key)
        let response = authenticator.register(
            challenge: fixture.challenge, origin: Fixture.origin, flags: verified, signCount: 0)
        let failure: VerificationFailure =
            count == 0 ? .authenticatorDataMalformed : .credentialIDTooLong
        #expect(fixture.refusal(response) == (isBelieved ? nil : failure))
    }

    @Test func `the envelope names the credential that was made`() throws {
        let fixture = try Fixture()
        let good = fixture.registration()
        let renamed = PasskeyRegistration(
            rawID: good.rawID + [0], clientDataJSON: good.clientDataJSON,
            attestationObject: good.attestationObject, transports: [])
        #expect(fixture.refusal(renamed) == .credentialIDMismatch)
    }

    /// Without an attestation nothing is signed, so a flipped bit may only change what proves nothing.
    @Test func `no flipped bit changes key or ID, and every truncation is refused`() throws {
        let fixture = try Fixture()
        let good = fixture.registration()
        for changed in mutations(of: good.attestationObject) {
            let passkey = try? RegistrationCeremony.verify(
                response: response(fixture, changed), challenge: fixture.challenge,
                relyingParty: fixture.relyingParty, policy: .service, at: Fixture.at)
            guard let passkey else { continue }
            #expect(changed.count == good.attestationObject.count)
            #expect(passkey.publicKey == PublicKey(fixture.authenticator.key.publicKey))
            #expect(passkey.credentialID == fixture.authenticator.credentialID)
            #expect(passkey.userVerified)
        }
        for count in 0..<good.clientDataJSON.count {
            let cut = fixture.registration(clientData: Bytes(good.clientDataJSON.prefix(count)))
            #expect(fixture.refusal(cut) == .clientDataMalformed)
        }
    }

    @Test func `every flipped bit of a self attestation is refused`() throws {
        let fixture = try Fixture()
        let clientData = fixture.clientData("webauthn.create")
        let signature = try fixture.authenticator.key.sign(
            fixture.newData() + sha256(clientData).bytes)
        let statement = CBOR.map([]).with("alg", CBOR(integer: -7)).with("sig", .bytes(signature))
        let object = object(fixture, format: "packed", statement: statement).encoded
        for changed in mutations(of: object) {
            #expect(fixture.refusal(response(fixture, changed)) != nil)
        }
        for changed in mutations(of: clientData) {
            let response = PasskeyRegistration(
                rawID: fixture.authenticator.credentialID, clientDataJSON: changed,
                attestationObject: object, transports: [])
            #expect(fixture.refusal(response) != nil)
        }
    }

    // MARK: Building

    private func object(
        _ fixture: Fixture, format: String = "none", statement: CBOR = .map([])
    ) -> CBOR {
        CBOR.map([]).with("fmt", .text(format)).with("attStmt", statement)
            .with("authData", .bytes(fixture.newData()))
    }

    private func response(_ fixture: Fixture, _ object: Bytes) -> PasskeyRegistration {
        PasskeyRegistration(
            rawID: fixture.authenticator.credentialID,
            clientDataJSON: fixture.clientData("webauthn.create"), attestationObject: object,
            transports: [])
    }
}

extension CBOR {
    func with(_ name: String, _ value: CBOR) -> CBOR { with(.text(name), value) }
    func with(_ label: Int64, _ value: CBOR?) -> CBOR {
        value.map { with(CBOR(integer: label), $0) } ?? self
    }
    func without(_ name: String) -> CBOR { without(.text(name)) }
    func without(_ label: Int64) -> CBOR { without(CBOR(integer: label)) }

    private func with(_ key: CBOR, _ value: CBOR) -> CBOR {
        guard case .map(let pairs) = self else { return self }
        return .map(pairs + [Pair(key: key, value: value)])
    }

    private func without(_ key: CBOR) -> CBOR {
        guard case .map(let pairs) = self else { return self }
        return .map(pairs.filter { $0.key != key })
    }
}
