import Countersign
import Crypto
import TestSupport
import Testing
import WebAuthn

/// AK-09 to AK-20, each as one change of a description that is good in everything.
@Suite struct `The biometric profile of an Android key` {
    private typealias Change = @Sendable (inout DescriptionDraft) -> Void

    private static let changes: [(String, Change, [AndroidCondition])] = [
        ("AK-09 levels differ", { $0.attestationLevel = 2 }, [.hardware]),
        ("AK-09 attested by software", { $0.attestationLevel = 0 }, [.hardware]),
        (
            "AK-09 all software",
            {
                $0.attestationLevel = 0
                $0.keyMintLevel = 0
            }, [.hardware]
        ),
        ("AK-10 may agree keys", { $0.hardware(1, DescriptionDraft.numbers(2, 6)) }, [.signOnly]),
        ("AK-10 may attest", { $0.hardware(1, DescriptionDraft.numbers(2, 7)) }, [.signOnly]),
        ("AK-10 may only verify", { $0.hardware(1, DescriptionDraft.numbers(3)) }, [.signOnly]),
        ("AK-10 no purpose", { $0.hardware(1, nil) }, [.signOnly]),
        ("AK-10 purpose by software", { $0.moveToSoftware(1) }, [.signOnly]),
        ("AK-11 RSA", { $0.hardware(2, DER.integer(1)) }, [.ecP256]),
        ("AK-11 224 bits", { $0.hardware(3, DER.integer(224)) }, [.ecP256]),
        ("AK-11 P-521", { $0.hardware(10, DER.integer(3)) }, [.ecP256]),
        ("AK-11 no curve", { $0.hardware(10, nil) }, [.ecP256]),
        ("AK-11 algorithm by software", { $0.moveToSoftware(2) }, [.ecP256]),
        ("AK-11 no digest", { $0.hardware(5, nil) }, [.sha256Only]),
        ("AK-11 NONE too", { $0.hardware(5, DescriptionDraft.numbers(0, 4)) }, [.sha256Only]),
        ("AK-11 SHA-512", { $0.hardware(5, DescriptionDraft.numbers(6)) }, [.sha256Only]),
        ("AK-11 digest by software", { $0.moveToSoftware(5) }, [.sha256Only]),
        ("AK-12 no authentication", { $0.hardware(503, DER.null()) }, [.authRequired]),
        ("AK-12 none by software", { $0.software(503, DER.null()) }, [.authRequired]),
        ("AK-13 password", { $0.hardware(504, DER.integer(1)) }, [.biometricOnly]),
        ("AK-13 password too", { $0.hardware(504, DER.integer(3)) }, [.biometricOnly]),
        ("AK-13 anything", { $0.hardware(504, DER.integer(0xFFFF_FFFF)) }, [.biometricOnly]),
        ("AK-13 none", { $0.hardware(504, nil) }, [.biometricOnly]),
        ("AK-13 by software", { $0.moveToSoftware(504) }, [.biometricOnly]),
        ("AK-14 for a while", { $0.hardware(505, DER.integer(10)) }, [.authEveryUse]),
        ("AK-14 by software", { $0.software(505, DER.integer(1)) }, [.authEveryUse]),
        ("AK-15 while carried", { $0.hardware(506, DER.null()) }, [.notOnBody]),
        ("AK-15 by software", { $0.software(506, DER.null()) }, [.notOnBody]),
        ("AK-16 imported", { $0.hardware(702, DER.integer(2)) }, [.generated]),
        ("AK-16 securely imported", { $0.hardware(702, DER.integer(4)) }, [.generated]),
        ("AK-16 no origin", { $0.hardware(702, nil) }, [.generated]),
        ("AK-16 origin by software", { $0.moveToSoftware(702) }, [.generated]),
        ("AK-17 of every app", { $0.hardware(600, DER.null()) }, [.ownApplication]),
        ("AK-17 by software", { $0.software(600, DER.null()) }, [.ownApplication]),
        (
            "AK-18 unlocked",
            { $0.hardware(704, DescriptionDraft.rootOfTrust(locked: DER.boolean(false))) },
            [.deviceLocked]
        ),
        (
            "AK-18 self-signed", { $0.hardware(704, DescriptionDraft.rootOfTrust(state: 1)) },
            [.verifiedBoot]
        ),
        (
            "AK-18 unverified", { $0.hardware(704, DescriptionDraft.rootOfTrust(state: 2)) },
            [.verifiedBoot]
        ),
        (
            "AK-18 failed", { $0.hardware(704, DescriptionDraft.rootOfTrust(state: 3)) },
            [.verifiedBoot]
        ),
        ("AK-18 nothing", { $0.hardware(704, nil) }, [.deviceLocked, .verifiedBoot]),
        ("AK-18 by software", { $0.moveToSoftware(704) }, [.deviceLocked, .verifiedBoot]),
        ("AK-19 nobody's", { $0.software(709, nil) }, [.application]),
        ("AK-20 old system", { $0.hardware(706, DER.integer(202_412)) }, [.patchLevel]),
        ("AK-20 old vendor part", { $0.hardware(718, DER.integer(20_241_231)) }, [.patchLevel]),
        ("AK-20 old boot image", { $0.hardware(719, DER.integer(202_412)) }, [.patchLevel]),
        ("AK-20 no patch level", { $0.hardware(706, nil) }, [.patchLevel]),
        ("AK-20 by software", { $0.moveToSoftware(706) }, [.patchLevel]),
    ]

    @Test func `is missed by every change, and for that reason alone`() throws {
        let phone = try SyntheticPhone()
        for (name, change, unmet) in Self.changes {
            let attestation = try phone.verify(change)
            #expect(attestation.unmet(.androidBiometric, .bank) == unmet, "\(name)")
        }
        // Every condition has a change that only it notices.
        let noticed = Set(Self.changes.filter { $0.2.count == 1 }.flatMap { $0.2 })
        #expect(noticed == Set(AttestationProfile.androidBiometric.androidConditions ?? []))
    }

    /// The chain is verified with keys of other kinds too.
    @Test func `is missed by a certified key of another curve than the description's (AK-11)`()
        throws
    {
        let tool = try OpenSSLTool()
        try tool.run("genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-384 -out k")
        try tool.run("pkey -in k -pubout -outform DER -out p")
        let key = try tool.read("p")
        let phone = try SyntheticPhone()
        let attestation = try phone.verify(try phone.certificates { $0.spki = key }, key: key)
        #expect(attestation.unmet(.androidBiometric, .bank) == [.ecP256])
    }

    @Test func `is met by what is allowed besides`() throws {
        let phone = try SyntheticPhone()
        let allowed: [Change] = [
            { $0.hardware(1, DescriptionDraft.numbers(2, 3)) },
            { $0.hardware(5, DescriptionDraft.numbers(4, 6)) },
            { $0.hardware(718, nil) }, { $0.hardware(719, DER.integer(202_501)) },
            { $0.hardware(509, DER.null()) }, { $0.hardware(507, DER.null()) },
            { $0.version = 4 }, { $0.version = 500 },
        ]
        for change in allowed {
            #expect(try phone.verify(change).unmet(.androidBiometric, .bank) == [])
        }
    }

    @Test func `knows the app by package and the whole set of signers (AK-19)`() throws {
        let phone = try SyntheticPhone()
        let (name, digest) = (DescriptionDraft.packageName, DescriptionDraft.signerDigest)
        let other = Bytes(repeating: 0xAC, count: 32)
        let refused: [([String], [Bytes])] = [
            (["com.example.bank.evil"], [digest]), (["com.example.ban"], [digest]),
            (["COM.EXAMPLE.BANK"], [digest]), ([], [digest]), ([name], [other]), ([name], []),
            ([name], [digest, other]), ([name], [Bytes(digest.dropLast())]),
        ]
        for (packages, digests) in refused {
            let attestation = try phone.verify {
                $0.software(709, DescriptionDraft.application(packages, digests))
            }
            #expect(attestation.unmet(.androidBiometric, .bank) == [.application], "\(packages)")
        }
        let shared = try phone.verify {
            $0.software(709, DescriptionDraft.application(["com.example.other", name], [digest]))
        }
        #expect(shared.unmet(.androidBiometric, .bank) == [])
    }

    @Test func `reads digests as keytool prints them`() throws {
        let digest = try #require(Digest(DescriptionDraft.signerDigest))
        let hex = digest.hex
        let colons = stride(from: 0, to: 64, by: 2)
            .map { String(hex.dropFirst($0).prefix(2)).uppercased() }.joined(separator: ":")
        #expect(Digest(fingerprint: hex) == digest)
        #expect(Digest(fingerprint: colons) == digest)
        for wrong in [
            "", ":", String(hex.dropLast()), String(hex.dropLast(2)), hex + "00", hex + ":",
            colons + ":", ":" + colons, String(hex.dropLast()) + "g",
            colons.prefix(1) + ":" + colons.dropFirst().drop { $0 == ":" },
        ] {
            #expect(Digest(fingerprint: wrong) == nil, "\(wrong)")
        }
        #expect(AndroidApp(packageName: "a", signers: [digest]) != nil)
        #expect(AndroidApp(packageName: "", signers: [digest]) == nil)
        #expect(AndroidApp(packageName: "a", signers: []) == nil)
    }

    @Test func `in a secure element asks for both levels to be StrongBox (AK-09)`() throws {
        let phone = try SyntheticPhone()
        let strong = try phone.verify {
            $0.attestationLevel = 2
            $0.keyMintLevel = 2
        }
        #expect(strong.unmet(.androidBiometricStrongBox, .bank) == [])
        for level in [\DescriptionDraft.keyMintLevel, \.attestationLevel] {
            let mixed = try phone.verify { $0[keyPath: level] = 2 }
            #expect(mixed.unmet(.androidBiometricStrongBox, .bank) == [.hardware, .strongBox])
        }
    }

    @Test func `is the only kind of profile that such a key can meet`() throws {
        let phone = try SyntheticPhone()
        let attestation = try phone.verify(try phone.certificates())
        for profile in [AttestationProfile.appAttest, .fidoTrusted] {
            #expect(attestation.unmet(profile, .bank) == AndroidCondition.allCases)
        }
    }

    @Test func `takes any patch level when the bank names none (AK-20)`() throws {
        let phone = try SyntheticPhone()
        let old = try phone.verify { $0.hardware(706, DER.integer(201_501)) }
        let requirements = AndroidRequirements(
            app: AndroidRequirements.bank.app, patchMonthMin: nil)
        #expect(old.unmet(.androidBiometric, requirements) == [])
    }

    @Test func `and its conditions have codes that never change`() {
        #expect(
            AndroidCondition.allCases.map(\.rawValue) == [
                "hardware_level", "strongbox_level", "key_ec_p256", "digest_sha256",
                "purpose_sign", "origin_generated", "auth_required", "auth_biometric_only",
                "auth_every_use", "auth_not_on_body", "not_all_applications", "device_locked",
                "boot_verified", "application", "patch_level",
            ])
    }
}

/// AK-07 and AK-18: what the parser refuses.
@Suite struct `A description of an Android key` {
    @Test func `that is not the schema's is refused (AK-07)`() throws {
        let phone = try SyntheticPhone()
        let good = DescriptionDraft(challenge: SyntheticPhone.challenge).encoded
        var malformed: [Bytes] = [
            [], [0x30, 0], DER.null(), good + [0], DER.sequence([good]),
            DER.sequence([Bytes(good.dropFirst(4)), DER.null()]),
        ]
        malformed += stride(from: 1, to: good.count, by: 3).map { Bytes(good.prefix($0)) }
        for value in malformed {
            let certificates = try phone.certificates {
                $0.extensions = [TestCertificate.ext(KeyDescription.oid, value)]
            }
            #expect(throws: AndroidAttestationFailure.descriptionMalformed) {
                try phone.verify(certificates)
            }
        }
    }

    @Test func `with a value of another type is refused (AK-07)`() throws {
        let phone = try SyntheticPhone()
        let changes: [@Sendable (inout DescriptionDraft) -> Void] = [
            { $0.hardware(1, DER.integer(2)) }, { $0.hardware(2, DER.octets([3])) },
            { $0.hardware(503, DER.boolean(true)) }, { $0.hardware(3, DER.null()) },
            { $0.hardware(3, DER.integer(256) + DER.integer(256)) },
            { $0.software(709, DER.octets([])) }, { $0.software(709, DER.octets([0x30, 0])) },
            { $0.attestationLevel = 3 }, { $0.keyMintLevel = -1 },
            { $0.hardware(704, DescriptionDraft.rootOfTrust(state: 4)) },
            { $0.hardware(2, DER.element([2], [0, 3])) },
            // More than the schema has.
            {
                $0.hardware(
                    704,
                    DER.sequence(
                        DER.octets([1]), DER.boolean(true), DER.enumerated(0), DER.octets([2]),
                        DER.null()))
            },
            { $0.software(709, DER.octets(DER.sequence(DER.set([]), DER.set([]), DER.null()))) },
            {
                let package = DER.sequence(DER.octets([1]), DER.integer(7), DER.null())
                $0.software(709, DER.octets(DER.sequence(DER.set([package]), DER.set([]))))
            },
            // In the list, and not under the tag of any property.
            { $0.untagged = DER.integer(3) }, { $0.untagged = DER.element([0x80], [3]) },
        ]
        for change in changes {
            #expect(throws: AndroidAttestationFailure.descriptionMalformed) {
                try phone.verify(change)
            }
        }
    }

    @Test func `of an unknown version is refused (AK-07)`() throws {
        let phone = try SyntheticPhone()
        for version in [0, 5, 301, 600, -1] as [Int64] {
            #expect(throws: AndroidAttestationFailure.descriptionUnknown) {
                try phone.verify { $0.version = version }
            }
        }
    }

    @Test(arguments: [
        [0x01, 0x01, 0x01], [0x01, 0x02, 0xFF, 0xFF], [0x01, 0x00], [0x02, 0x01, 0xFF],
    ])
    func `with a malformed lock state is refused (AK-18)`(locked: Bytes) throws {
        let phone = try SyntheticPhone()
        #expect(throws: AndroidAttestationFailure.descriptionMalformed) {
            try phone.verify { $0.hardware(704, DescriptionDraft.rootOfTrust(locked: locked)) }
        }
    }

    @Test func `of before version 3 has no boot hash`() throws {
        let phone = try SyntheticPhone()
        let attestation = try phone.verify {
            $0.hardware(
                704, DER.sequence(DER.octets([1]), DER.boolean(true), DER.enumerated(0)))
        }
        #expect(attestation.unmet(.androidBiometric, .bank) == [])
        let root = attestation.description.facts["hardwareEnforced"]?["rootOfTrust"]
        #expect(root?["deviceLocked"] == .bool(true))
        #expect(root?["verifiedBootHash"] == nil)
    }

    @Test func `survives any bytes`() throws {
        let phone = try SyntheticPhone()
        let good = try phone.certificates()
        let leaf = good[0]
        var generator = try SeededGenerator()
        for _ in 0..<2000 {
            var changed = leaf
            for _ in 0..<Int.random(in: 1...4, using: &generator) {
                let (index, byte) = generator.alteration(of: changed)
                changed[index] = byte
            }
            _ = AndroidKeyAttestation.claim(of: [changed])?.facts.encoded
        }
    }
}

@Suite struct `The revocation list` {
    @Test func `is Google's document`() throws {
        let json = """
            {"entries": {"6681152659205225093": {"status": "REVOKED", "reason": "KEY_COMPROMISE"},
            "0c35C": {"status": "SUSPENDED", "expires": "2030-01-01"}}}
            """
        let list = try RevocationList(json: Bytes(json.utf8), fetchedAt: SyntheticPhone.now)
        #expect(list.contains(serial: "c35c"))
        #expect(list.contains(serial: "6681152659205225093"))
        #expect(!list.contains(serial: "c35"))
    }

    @Test(arguments: [
        "", "[]", "{}", #"{"entries": []}"#, #"{"entries": {"1": "REVOKED"}}"#,
        #"{"entries": {"1": {}}}"#, #"{"entries": {"xyz": {"status": "REVOKED"}}}"#,
        #"{"entries": {"": {"status": "REVOKED"}}}"#, #"{"entries": {"1": {"status": 1}}}"#,
        #"{"entries": {}, "entries": {"1": {"status": "REVOKED"}}}"#, #"{"entries": {}}"#,
        #"{"entries": {"1": {"status": "REVOKED"}}} x"#,
    ])
    func `of another form is refused`(text: String) {
        #expect(throws: RevocationList.Failure.malformed) {
            try RevocationList(json: Bytes(text.utf8), fetchedAt: SyntheticPhone.now)
        }
    }

    @Test func `is read up to a length that no real one has`() {
        let long =
            Bytes(#"{"entries": {"1": {"status": "REVOKED"}}}"#.utf8)
            + Bytes(repeating: 0x20, count: RevocationList.bytesMax)
        #expect(throws: RevocationList.Failure.malformed) {
            try RevocationList(json: long, fetchedAt: SyntheticPhone.now)
        }
    }
}

@Suite struct `Google's attestation roots` {
    @Test func `are the published ones (AK-03)`() {
        #expect(
            GoogleAttestationRoots.certificates.map { sha256($0.der).hex } == [
                "c1984a3ef45c1e2a918551de10603c86f7051b2249c4891cae3230eabd0c97d5",
                "1ef1a04b8ba58ab94589ac498c8982a783f24ea7307e0159a0c3a73b377d87cc",
                "ab6641178a36e179aa0c1cdddf9a16eb45fa20943e2b8cd7c7c05c26cf8b487a",
                "cedb1cb6dc896ae5ec797348bce9286753c2b38ee71ce0fbe34a9a1248800dfc",
                "6d9db4ce6c5c0b293166d08986e05774a8776ceb525d9e4329520de12ba4bcc0",
            ])
        let keys = Set(GoogleAttestationRoots.certificates.map(\.spki))
        #expect(keys.count == 2)
        #expect(
            GoogleAttestationRoots.certificates.prefix(4).allSatisfy {
                $0.subject[.serialNumber] == "f92009e853b6b045"
            })
    }
}
