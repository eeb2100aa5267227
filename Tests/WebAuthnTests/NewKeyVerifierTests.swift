import Countersign
import Crypto
import TestSupport
import Testing

@testable import WebAuthn

@Suite struct `Verifying an offered key` {
    private static let message = Bytes("the enrolment message".utf8)

    private func verify(_ offered: OfferedCredential) throws -> VerifiedRegistration {
        try Fixtures.verifier().verify(offered, over: Self.message, at: Fixtures.at)
    }

    private func device(
        _ key: P256PrivateKey, as text: String? = nil, over message: Bytes = message
    ) throws -> OfferedCredential {
        .deviceKey(
            OfferedDeviceKey(
                publicKey: text ?? key.publicKey.pem, signature: try key.sign(message),
                platform: nil, attestation: nil))
    }

    @Test func `every form of a device key becomes the one DER`() throws {
        let key = try P256PrivateKey.generate()
        for text in [
            key.publicKey.pem, Base64.encode(key.publicKey.spki), Base64.encode(key.publicKey.x963),
        ] {
            let verified = try verify(try device(key, as: text))
            #expect(verified.publicKey == key.publicKey.spki)
            #expect(verified.attestation == .init(verdict: .absent, format: nil))
            #expect(verified.passkey == nil)
        }
    }

    @Test func `a signature in the other format than the key is enrolled with`() throws {
        let key = try P256PrivateKey.generate()
        let der = try key.sign(Self.message)
        let raw = try #require(P256Signature(der: der)).raw
        func offered(_ signature: Bytes, _ format: SignatureFormat) -> OfferedCredential {
            .deviceKey(
                OfferedDeviceKey(
                    publicKey: key.publicKey.pem, signature: signature, signatureFormat: format,
                    platform: nil, attestation: nil))
        }
        #expect(try verify(offered(der, .der)).signatureFormat == .der)
        #expect(try verify(offered(raw, .raw)).signatureFormat == .raw)
        for wrong in [offered(raw, .der), offered(der, .raw)] {
            #expect(throws: RegistrationFailure.proof(.signatureInvalid)) { try verify(wrong) }
        }
    }

    @Test func `a signature over something else, or by another key`() throws {
        let key = try P256PrivateKey.generate()
        let other = try P256PrivateKey.generate()
        for offered in [
            try device(key, over: Bytes("another message".utf8)),
            try device(other, as: key.publicKey.pem),
        ] {
            #expect(throws: RegistrationFailure.proof(.signatureInvalid)) {
                try verify(offered)
            }
        }
    }

    @Test(arguments: [
        ("", "public_key_malformed"), ("no key", "public_key_malformed"),
        // DER of something else, and the point (0, 0).
        (Base64.encode([0x30, 0x03, 0x02, 0x01, 0x00]), "public_key_unsupported"),
        (
            Base64.encode([0x04] + Bytes(repeating: 0, count: 64)), "public_key_not_on_curve"
        ),
    ])
    func `a text that is no key`(text: String, code: String) throws {
        let verifier = try Fixtures.verifier()
        do throws(RegistrationFailure) {
            _ = try verifier.verify(
                .deviceKey(
                    OfferedDeviceKey(
                        publicKey: text, signature: [], platform: nil, attestation: nil)),
                over: Self.message, at: Fixtures.at)
            Issue.record("taken")
        } catch {
            guard case .keyForm(let value) = error else {
                Issue.record("\(error)")
                return
            }
            #expect(value.code == code)
        }
    }

    @Test func `a device's attestation is said not to have been verified`() throws {
        let key = try P256PrivateKey.generate()
        let verified = try verify(
            .deviceKey(
                OfferedDeviceKey(
                    publicKey: key.publicKey.pem, signature: try key.sign(Self.message),
                    platform: nil,
                    attestation: try DeviceAttestation(format: "apple", certificates: [[1]]))))
        #expect(
            verified.attestation == .init(verdict: .unverified, format: "apple", statement: [[1]]))
    }

    @Test func `a passkey is made for the digest of the message`() throws {
        let passkey = try SoftwareAuthenticator.create(
            relyingPartyID: Fixtures.audience, entropy: .openSSL)
        func register(_ challenge: Bytes) -> OfferedCredential {
            .passkey(
                passkey.register(
                    challenge: challenge, origin: Fixtures.origin,
                    flags: [.userPresent, .userVerified, .backupEligible], signCount: 5))
        }
        let verified = try verify(register(sha256(Self.message).bytes))
        #expect(verified.publicKey == passkey.key.publicKey.spki)
        #expect(
            verified.passkey
                == .init(
                    credentialID: passkey.credentialID, signCount: 5, backupEligible: true,
                    backupState: false, transports: ["internal"]))
        #expect(verified.attestation.verdict == .absent)
        #expect(verified.attestation.format == "none")
        #expect(verified.attestation.statement.count == 1)
        #expect(verified.attestation.profiles.isEmpty)
        #expect(throws: RegistrationFailure.proof(.challengeMismatch)) {
            try verify(register(Self.message))
        }
    }
}

@Suite struct `An attestation that came with an offered passkey` {
    private static let message = Bytes("the enrolment message".utf8)

    /// What is told of a passkey with that attestation object, beside its signature.
    private func failure(_ format: String, _ statement: CBOR) throws -> RegistrationFailure? {
        let passkey = try SoftwareAuthenticator.create(
            relyingPartyID: Fixtures.audience, entropy: .openSSL)
        let good = passkey.register(
            challenge: sha256(Self.message).bytes, origin: Fixtures.origin,
            flags: [.userPresent, .userVerified], signCount: 0)
        let data = try AttestationObject(parsing: good.attestationObject).authenticatorData
        let object = CBOR.map([]).with("fmt", .text(format)).with("attStmt", statement)
            .with("authData", .bytes(data))
        let verifier = try Fixtures.verifier()
        do throws(RegistrationFailure) {
            _ = try verifier.verify(
                .passkey(
                    PasskeyRegistration(
                        rawID: good.rawID, clientDataJSON: good.clientDataJSON,
                        attestationObject: object.encoded, transports: [])),
                over: Self.message, at: Fixtures.at)
            return nil
        } catch { return error }
    }

    @Test func `is refused for what it is, and is no failed proof`() throws {
        let maker = try SyntheticMaker()
        let strange = try maker.packed(try maker.certificate())
        for (format, statement, code) in [
            ("none", CBOR.map([]), nil), ("unknown", CBOR.map([]), "fmt_unsupported"),
            ("none", strange, "att_stmt_malformed"), ("packed", strange, "att_signature_invalid"),
        ] {
            let expected = code.map { RegistrationFailure.attestation(AttestationFailure($0)) }
            #expect(try failure(format, statement) == expected)
        }
        // Whatever comes of the rest, a reason is about the attestation or it is not.
        for reason in VerificationFailure.allCases {
            let isNamed = reason.code.hasPrefix("att_") || reason.code == "fmt_unsupported"
            #expect(reason.isOfAttestation == isNamed, "\(reason.code)")
        }
    }
}

@Suite struct `Reading a token of the identity system` {
    @Test func `its key's tokens are read and no others`() throws {
        let key = IdentitySigningKey.ed25519(try .generate())
        let token = try CompactJWS.sign(["jti": "1"], key: key)
        #expect(key.publicKey.tokenReader(token) == ["jti": "1"])
        #expect(key.publicKey.tokenReader(token + "A") == nil)
        #expect(key.publicKey.tokenReader("") == nil)
        let other = IdentitySigningKey.p256(try .generate())
        #expect(other.publicKey.tokenReader(token) == nil)
    }
}
