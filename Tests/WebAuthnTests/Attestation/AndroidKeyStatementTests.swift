import Countersign
import Crypto
import TestSupport
import Testing

@testable import WebAuthn

/// WebAuthn L3 §8.4, one rule after the other.
@Suite struct `The attestation format android-key` {
    private func statement(
        _ maker: SyntheticMaker, key: P256PrivateKey? = nil,
        _ change: (inout DescriptionDraft) -> Void = { _ in }
    ) throws -> CBOR {
        let key = key ?? maker.fixture.authenticator.key
        var draft = DescriptionDraft(
            challenge: sha256(maker.fixture.clientData("webauthn.create")).bytes)
        change(&draft)
        let leaf = try maker.root.certify(key.publicKey.spki) {
            $0.extensions = [SyntheticPhone.ext(draft)]
        }
        return CBOR.map([]).with("alg", CBOR(integer: -7))
            .with("sig", .bytes(try key.sign(maker.toBeSigned)))
            .with("x5c", .array([.bytes(leaf.der)]))
    }

    @Test func `its signature is by the certificate's key, which is the new one`() throws {
        let maker = try SyntheticMaker()
        let good = try statement(maker)
        #expect(maker.refusal("android-key", good) == nil)
        let other = try maker.key.sign(maker.toBeSigned)
        #expect(
            maker.refusal("android-key", good.replacing("sig", .bytes(other)))
                == .attestationSignatureInvalid)
        #expect(
            maker.refusal("android-key", try statement(maker, key: maker.key))
                == .attestationPublicKeyMismatch)
    }

    @Test func `its challenge is the hash of the client data`() throws {
        let maker = try SyntheticMaker()
        for challenge in [[], maker.fixture.challenge, Bytes(repeating: 0, count: 32)] {
            #expect(
                maker.refusal("android-key", try statement(maker) { $0.challenge = challenge })
                    == .attestationNonceMismatch)
        }
    }

    @Test func `its key is of one application, generated there, and signs only`() throws {
        let maker = try SyntheticMaker()
        let changes: [(inout DescriptionDraft) -> Void] = [
            { $0.hardware(600, DER.null()) }, { $0.software(600, DER.null()) },
            { $0.hardware(702, DER.integer(2)) }, { $0.hardware(702, nil) },
            { $0.software(702, DER.integer(2)) }, { $0.hardware(1, nil) },
            { $0.hardware(1, DescriptionDraft.numbers(2, 1)) },
            { $0.hardware(1, DescriptionDraft.numbers(3)) },
            { $0.software(1, DescriptionDraft.numbers(2, 3)) },
        ]
        for change in changes {
            #expect(
                maker.refusal("android-key", try statement(maker, change))
                    == .attestationCertificateInvalid)
        }
    }

    @Test func `its certificate describes the key once and in its form`() throws {
        let maker = try SyntheticMaker()
        let good = DescriptionDraft(
            challenge: sha256(maker.fixture.clientData("webauthn.create")).bytes)
        let key = maker.fixture.authenticator.key
        for extensions in [
            [], [SyntheticPhone.ext(good), SyntheticPhone.ext(good)],
            [TestCertificate.ext(KeyDescription.oid, Bytes(good.encoded.dropLast()))],
        ] {
            let leaf = try maker.root.certify(key.publicKey.spki) { $0.extensions = extensions }
            let statement = try statement(maker).replacing("x5c", .array([.bytes(leaf.der)]))
            #expect(maker.refusal("android-key", statement) == .attestationCertificateInvalid)
        }
    }

    /// Whether the certificate was revoked, and how the phone was booted, is not asked for a passkey.
    @Test func `a key is recorded, and meets no profile`() throws {
        let maker = try SyntheticMaker()
        func profiles(
            _ change: (inout DescriptionDraft) -> Void
        ) throws -> [AttestationProfile] {
            let attestation = try maker.attestation(
                "android-key", try statement(maker, change), maker.trusting(.recorded))
            #expect(attestation.verdict == .basic)
            #expect(attestation.facts["android_key"]?["keyMintSecurityLevel"] != nil)
            #expect(
                attestation.facts["not_proven"] == [
                    "aaguid", "key_storage", "user_verification_method",
                ])
            return attestation.profiles
        }
        #expect(try profiles { _ in } == [])
        #expect(try profiles { $0.keyMintLevel = 0 } == [])
        #expect(try profiles { $0.attestationLevel = 0 } == [])
        #expect(try profiles { $0.moveToSoftware(1) } == [])
        #expect(try profiles { $0.moveToSoftware(702) } == [])
    }
}
