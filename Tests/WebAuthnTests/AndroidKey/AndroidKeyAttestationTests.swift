import Countersign
import Crypto
import TestSupport
import Testing
import WebAuthn

/// AK-01 to AK-08, AK-21, AK-22 on synthetic chains: each test fails when its check is taken out.
@Suite struct `An Android key attestation` {
    private typealias Failure = AndroidAttestationFailure

    @Test func `that is good in everything proves its facts and meets the profile`() throws {
        let phone = try SyntheticPhone()
        let attestation = try phone.verify(try phone.certificates())
        #expect(attestation.key.spki == phone.key.publicKey.spki)
        #expect(attestation.root == phone.root.certificate)
        #expect(attestation.profiles(.bank) == [.androidBiometric])
        #expect(attestation.unmet(.androidBiometric, .bank) == [])
        #expect(attestation.unmet(.androidBiometricStrongBox, .bank) == [.strongBox])
        #expect(attestation.description.facts["attestationVersion"] == .integer(300))
        #expect(attestation.description.facts["hardwareEnforced"]?["userAuthType"] == .integer(2))
    }

    @Test func `says what it does not prove (AK-23)`() throws {
        let phone = try SyntheticPhone()
        let attestation = try phone.verify { $0.hardware(505, DER.integer(10)) }
        let facts = attestation.facts(.bank)
        #expect(
            facts["not_proven"] == [
                "key_invalidated_by_new_biometric", "which_finger_or_face", "app_integrity",
            ])
        #expect(facts["key"] == attestation.description.facts)
        #expect(facts["root_sha256"] == .string(sha256(phone.root.certificate.der).hex))
        #expect(facts["serials"] == ["abc", "abc", "abc", "abc"])
        #expect(
            facts["unmet"] == [
                "android-biometric": ["auth_every_use"],
                "android-biometric-strongbox": ["strongbox_level", "auth_every_use"],
            ])
        #expect(attestation.profiles(.bank) == [])
    }

    @Test func `may come without its root`() throws {
        let phone = try SyntheticPhone()
        _ = try phone.verify(try phone.certificates().dropLast())
    }

    @Test func `is a chain in order, leaf first (AK-01, AK-02)`() throws {
        let phone = try SyntheticPhone()
        let good = try phone.certificates()
        #expect(throws: Failure.malformed) { try phone.verify([Bytes]()) }
        #expect(throws: Failure.malformed) { try phone.verify([[0x30, 0]] + good.dropFirst()) }
        #expect(throws: Failure.chainBroken) { try phone.verify(good.reversed()) }
        #expect(throws: Failure.chainBroken) { try phone.verify([good[0]] + good) }
        #expect(throws: Failure.chainBroken) {
            try phone.verify([good[0], good[2], good[1], good[3]])
        }
        for index in good.indices.dropLast() {
            var changed = good
            changed[index][changed[index].count - 1] ^= 1
            #expect(throws: Failure.chainBroken) { try phone.verify(changed) }
        }
    }

    @Test func `has at least three certificates (AK-01)`() throws {
        let phone = try SyntheticPhone()
        let leaf = try phone.root.certify(phone.key.publicKey.spki) {
            $0.extensions = [SyntheticPhone.ext(.init(challenge: SyntheticPhone.challenge))]
        }
        #expect(throws: Failure.chainTooShort) { try phone.verify([leaf.der]) }
        #expect(throws: Failure.chainTooShort) {
            try phone.verify([leaf.der, phone.root.certificate.der])
        }
        #expect(throws: Failure.chainTooShort) {
            try phone.verify([leaf.der, phone.root.certificate.der, phone.root.certificate.der])
        }
        let below = try phone.intermediate.certify(phone.key.publicKey.spki) {
            $0.extensions = [SyntheticPhone.ext(.init(challenge: SyntheticPhone.challenge))]
        }
        _ = try phone.verify([below.der, phone.intermediate.certificate.der])
    }

    @Test func `reaches a pinned root (AK-02, AK-03)`() throws {
        let phone = try SyntheticPhone()
        let stranger = try SyntheticPhone()
        #expect(throws: Failure.rootUntrusted) { try phone.verify(try stranger.certificates()) }
        #expect(throws: Failure.rootUntrusted) {
            try AndroidKeyAttestation.verify(
                certificates: try phone.certificates(), challenge: SyntheticPhone.challenge,
                key: phone.key.publicKey.spki, at: SyntheticPhone.now,
                trust: AndroidTrust(
                    roots: GoogleAttestationRoots.certificates,
                    revocations: try SyntheticPhone.revocations(),
                    revocationsAgeMax: Seconds(86_400)))
        }
    }

    @Test func `of a remotely provisioned phone ends with its certificates (AK-04)`() throws {
        let last = SyntheticPhone.now
        let phone = try SyntheticPhone(isFactory: false) { $0.notAfter = last }
        let certificates = try phone.certificates()
        _ = try phone.verify(certificates, at: last)
        #expect(throws: Failure.expired) { try phone.verify(certificates, at: last + Seconds(1)) }
    }

    @Test func `of a phone provisioned in the factory does not age (AK-04)`() throws {
        let first = SyntheticPhone.now
        let phone = try SyntheticPhone {
            $0.notBefore = first
            $0.notAfter = first
        }
        let certificates = try phone.certificates()
        _ = try phone.verify(certificates, at: first + Seconds(1))
        #expect(throws: Failure.notYetValid) {
            try phone.verify(certificates, at: first - Seconds(1))
        }
    }

    /// The app chooses its leaf's subject, and a root may issue under its own name.
    @Test func `is not of the factory by its leaf's serial number (AK-04)`() throws {
        let last = SyntheticPhone.now
        let phone = try SyntheticPhone()
        let successor = try P256PrivateKey.generate()
        var above = TestCertificate(
            subject: phone.root.subject, issuer: phone.root.subject,
            spki: successor.publicKey.spki)
        above.serial = 77
        above.notAfter = last
        above.extensions = [TestCertificate.authority(), TestCertificate.issuerSerial(0x0ABC)]
        var leaf = TestCertificate(
            subject: TestCertificate.name("Key") + [("2.5.4.5", "90e8da3cadfc7820")],
            issuer: phone.root.subject, spki: phone.key.publicKey.spki)
        leaf.extensions = [
            SyntheticPhone.ext(.init(challenge: SyntheticPhone.challenge)),
            TestCertificate.issuerSerial(77),
        ]
        let chain = [try leaf.signed(by: successor), try above.signed(by: phone.root.key)]
        _ = try phone.verify(chain, at: last)
        #expect(throws: Failure.expired) { try phone.verify(chain, at: last + Seconds(1)) }
    }

    @Test func `has no critical extension that nobody reads (AK-02)`() throws {
        let description = DescriptionDraft(challenge: SyntheticPhone.challenge)
        let unknown = TestCertificate.ext("1.2.3.4", critical: true, [5, 0])
        let phone = try SyntheticPhone()
        #expect(throws: Failure.chainBroken) {
            try phone.verify(try phone.certificates { $0.extensions.append(unknown) })
        }
        let above = try SyntheticPhone { $0.extensions.append(unknown) }
        #expect(throws: Failure.chainBroken) { try above.verify(try above.certificates()) }
        // The description is read.
        _ = try phone.verify(
            try phone.certificates {
                $0.extensions = [
                    TestCertificate.ext(KeyDescription.oid, critical: true, description.encoded)
                ]
            })
    }

    /// A certificate of the root's name and key, signed by a stranger, continues any chain; a serial number
    /// above it would make a remotely provisioned chain look like one of the factory, which does not age.
    @Test func `may have nothing above its root (AK-02, AK-04)`() throws {
        let last = SyntheticPhone.now
        let phone = try SyntheticPhone(isFactory: false) { $0.notAfter = last }
        let stranger = try TestAuthority("Stranger", serialNumber: "1", below: try TestAuthority())
        var twin = TestCertificate(
            subject: phone.root.subject, issuer: stranger.subject,
            spki: phone.root.key.publicKey.spki)
        twin.extensions = [TestCertificate.authority()]
        let above = [try twin.signed(by: stranger.key), stranger.certificate.der]
        let good = try phone.certificates()
        for chain in [good.dropLast() + above, good + above, good.dropLast() + [above[0]]] {
            #expect(throws: Failure.rootUntrusted) { try phone.verify(chain, at: last) }
            #expect(throws: Failure.self) { try phone.verify(chain, at: last + Seconds(1)) }
        }
    }

    @Test func `whose leaf signs on is an attack (AK-05)`() throws {
        let phone = try SyntheticPhone()
        var certificates = try phone.certificates {
            $0.extensions.append(TestCertificate.authority())
        }
        // The attested key, of which the attacker has the use, certifies a key of his own.
        let thief = try P256PrivateKey.generate()
        var draft = TestCertificate(
            subject: TestCertificate.name("A key of the thief"),
            issuer: TestCertificate.name("Android Keystore Key"), spki: thief.publicKey.spki)
        draft.extensions = [SyntheticPhone.ext(.init(challenge: SyntheticPhone.challenge))]
        certificates.insert(try draft.signed(by: phone.key), at: 0)
        #expect(throws: Failure.extensionMisplaced) {
            try phone.verify(certificates, key: thief.publicKey.spki)
        }
        // As hardware really writes leaves: no authority at all. Neither are real attestation keys.
        var real = try phone.certificates()
        real.insert(try draft.signed(by: phone.key), at: 0)
        #expect(throws: Failure.extensionMisplaced) {
            try phone.verify(real, key: thief.publicKey.spki)
        }
    }

    @Test func `has its description once (AK-05, AK-07)`() throws {
        let phone = try SyntheticPhone()
        let description = DescriptionDraft(challenge: SyntheticPhone.challenge)
        #expect(throws: Failure.extensionMissing) {
            try phone.verify(try phone.certificates(description) { $0.extensions = [] })
        }
        #expect(throws: Failure.extensionMisplaced) {
            try phone.verify(
                try phone.certificates(description) {
                    $0.extensions.append(SyntheticPhone.ext(description))
                })
        }
    }

    @Test func `names no revoked and no suspended certificate (AK-06)`() throws {
        let phone = try SyntheticPhone { $0.serial = 0xFEED }
        let certificates = try phone.certificates { $0.serial = 0xBEEF }
        func verify(_ list: RevocationList?, at now: Instant = SyntheticPhone.now) throws {
            _ = try AndroidKeyAttestation.verify(
                certificates: certificates, challenge: SyntheticPhone.challenge,
                key: phone.key.publicKey.spki, at: now, trust: phone.trust(list))
        }
        try verify(try SyntheticPhone.revocations(["fee", "eed", "feed0"]))
        for serial in ["feed", "FEED", "00feed", "beef", "abc"] {
            for status in ["REVOKED", "SUSPENDED", "SOMETHING_NEW"] {
                #expect(throws: Failure.revoked) {
                    try verify(try SyntheticPhone.revocations([serial], status: status))
                }
            }
        }
    }

    @Test func `is below no revoked root, sent or not (AK-06)`() throws {
        let phone = try SyntheticPhone { $0.serial = 0xFEED }
        let leaf = try phone.intermediate.certify(phone.key.publicKey.spki) {
            $0.serial = 0xBEEF
            $0.extensions = [SyntheticPhone.ext(.init(challenge: SyntheticPhone.challenge))]
        }
        let below = [leaf.der, phone.intermediate.certificate.der]
        func verify(_ certificates: [Bytes], revoked serial: String) throws {
            _ = try AndroidKeyAttestation.verify(
                certificates: certificates, challenge: SyntheticPhone.challenge,
                key: phone.key.publicKey.spki, at: SyntheticPhone.now,
                trust: phone.trust(try SyntheticPhone.revocations([serial])))
        }
        for chain in [below, below + [phone.root.certificate.der]] {
            try verify(chain, revoked: "abd")
            #expect(throws: Failure.revoked) { try verify(chain, revoked: "abc") }
        }
    }

    @Test func `counts for nothing without a fresh revocation list (AK-06)`() throws {
        let phone = try SyntheticPhone()
        let certificates = try phone.certificates()
        func verify(_ list: RevocationList?) throws {
            _ = try AndroidKeyAttestation.verify(
                certificates: certificates, challenge: SyntheticPhone.challenge,
                key: phone.key.publicKey.spki, at: SyntheticPhone.now, trust: phone.trust(list))
        }
        let now = SyntheticPhone.now
        for fetchedAt in [now - Seconds(86_400), now + Seconds(300)] {
            try verify(try SyntheticPhone.revocations(fetchedAt: fetchedAt))
        }
        #expect(throws: Failure.revocationsMissing) { try verify(nil) }
        for fetchedAt in [now - Seconds(86_401), now + Seconds(301)] {
            #expect(throws: Failure.revocationsStale) {
                try verify(try SyntheticPhone.revocations(fetchedAt: fetchedAt))
            }
        }
    }

    @Test func `answers this challenge and no other (AK-08)`() throws {
        let phone = try SyntheticPhone()
        let certificates = try phone.certificates()
        let challenge = SyntheticPhone.challenge
        for other in [Bytes(challenge.dropLast()), challenge + [0], Bytes("another".utf8), []] {
            #expect(throws: Failure.challengeMismatch) {
                try phone.verify(certificates, challenge: other)
            }
        }
        let empty = try phone.certificates(DescriptionDraft(challenge: []))
        #expect(throws: Failure.challengeMismatch) { try phone.verify(empty, challenge: []) }
        let long = Bytes(repeating: 1, count: KeyDescription.challengeBytesMax + 1)
        #expect(throws: Failure.challengeMismatch) {
            try phone.verify(try phone.certificates(.init(challenge: long)), challenge: long)
        }
        let longest = Bytes(long.dropLast())
        _ = try phone.verify(try phone.certificates(.init(challenge: longest)), challenge: longest)
    }

    @Test func `is about the key that is being enrolled (AK-21)`() throws {
        let phone = try SyntheticPhone()
        let other = try P256PrivateKey.generate().publicKey.spki
        #expect(throws: Failure.keyMismatch) {
            try phone.verify(try phone.certificates(), key: other)
        }
        let tool = try OpenSSLTool()
        try tool.run("genpkey -algorithm ED448 -out k")
        try tool.run("pkey -in k -pubout -outform DER -out p")
        let foreign = try tool.read("p")
        let certificates = try phone.certificates { $0.spki = foreign }
        #expect(throws: Failure.keyUnsupported) { try phone.verify(certificates, key: foreign) }
        let unknown = DER.sequence(DER.sequence(DER.oid("1.2.3.4")), DER.bits([1]))
        #expect(throws: Failure.keyUnsupported) {
            try phone.verify(try phone.certificates { $0.spki = unknown }, key: unknown)
        }
    }

    @Test func `whose tags do not ascend is refused (AK-22)`() throws {
        let phone = try SyntheticPhone()
        #expect(throws: Failure.tagsDisordered) { try phone.verify { $0.hardware.swapAt(0, 1) } }
        #expect(throws: Failure.tagsDisordered) { try phone.verify { $0.software.swapAt(0, 1) } }
        #expect(throws: Failure.tagsDisordered) {
            try phone.verify { $0.hardware.insert($0.hardware[0], at: 0) }
        }
    }

    @Test func `may have tags that nobody here knows, and they are recorded (AK-22)`() throws {
        let phone = try SyntheticPhone()
        let attestation = try phone.verify {
            $0.hardware(11, DER.integer(1))
            $0.software(9999, DER.sequence(DER.octets([1]), DER.null()))
        }
        #expect(attestation.description.facts["hardwareEnforced"]?["unknownTags"] == [.integer(11)])
        #expect(
            attestation.description.facts["softwareEnforced"]?["unknownTags"] == [.integer(9999)])
        #expect(attestation.unmet(.androidBiometric, .bank) == [])
    }
}

extension AndroidRequirements {
    /// What the synthetic bank demands besides the profile.
    static var bank: AndroidRequirements {
        guard
            let signer = Digest(DescriptionDraft.signerDigest),
            let app = AndroidApp(packageName: DescriptionDraft.packageName, signers: [signer])
        else { preconditionFailure("the fixture names an app") }
        return AndroidRequirements(app: app, patchMonthMin: 202_501)
    }
}
