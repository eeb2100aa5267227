import Countersign
import Crypto
import Evidence
import TestSupport
import Testing

/// Measured with what a bank really has: a log of a million leaves, two witnesses, the policy that an installation
/// begins with, an attested key, and timestamps of an authority with a key of RSA-2048 under an intermediate one,
/// which sends both certificates with each.
@Suite(.onAThreadOfItsOwn) struct `The size of a bundle` {
    private let authority: OpenSSLAuthority

    init() throws { authority = try OpenSSLAuthority() }

    private func world(
        _ credential: CredentialKind, _ change: (inout BundleWorld.Story) -> Void = { _ in }
    ) async throws -> BundleWorld {
        try await BundleWorld {
            $0.credential = credential
            $0.document = try RepositoryFiles.firstPolicy()
            change(&$0)
        }
    }

    /// The bundle of a log of a million leaves: each proof has twenty hashes, though they prove nothing here.
    private func bundle(_ world: BundleWorld, _ timestamps: [Bytes] = []) throws -> EvidenceBundle {
        let signed = try world.checkpoint()
        let text = Checkpoint(
            origin: TestLog.origin, size: 1_000_000, root: sha256(signed.text)
        ).text
        let bundle = try #require(
            EvidenceBundle(
                Array(world.records.values), timestamps: timestamps,
                checkpoint: SignedNote(text: text, signatures: signed.signatures)
            ) { _ in (0..<256).map { sha256([UInt8($0)]) } })
        #expect(bundle.entries.values.allSatisfy { $0.hashes.count == 20 })
        return bundle
    }

    private func tokens(_ world: BundleWorld, _ count: Int) throws -> [Bytes] {
        let note = try #require(world.checkpoint().byLogAlone).encoded
        return try (0..<count).map { _ in
            try authority.stamp(note, at: "2026-01-05 10:00:00")
        }
    }

    @Test(arguments: [CredentialKind.deviceKey, .passkey])
    func `is at most 20 KB with a timestamp of an authority as banks have it`(
        credential: CredentialKind
    ) async throws {
        let world = try await world(credential)
        let tokens = try tokens(world, 1)
        #expect(tokens[0].count > 2500, "both certificates are in it")
        let made = try bundle(world, tokens)
        let size = made.encoded.count
        print(
            "size of a bundle by \(credential.rawValue): \(size) bytes, with one timestamp of "
                + "\(tokens[0].count)")
        #expect(size <= EvidenceBundle.madeBytesMax && made.timestamps == tokens)
    }

    @Test func `is kept by leaving out timestamps, the longest first, and nothing else`()
        async throws
    {
        let world = try await world(.passkey)
        let tokens = try tokens(world, 2)
        let small = Bytes(repeating: 1, count: 300)
        let none = try bundle(world)
        #expect(try bundle(world, tokens).timestamps.count == 1)
        #expect(try bundle(world, [tokens[0], small]).timestamps.first == small)
        // No more than two, however small.
        #expect(try bundle(world, [[1, 1], [2], [3, 3, 3]]).timestamps == [[2], [1, 1]])
        let room = EvidenceBundle.madeBytesMax - none.encoded.count - 2
        for (length, count) in [(room / 4 * 3, 1), (room / 4 * 3 + 1, 0)] {
            let made = try bundle(world, [Bytes(repeating: 1, count: length)])
            #expect(made.timestamps.count == count && made.entries == none.entries)
            #expect(made.encoded.count <= EvidenceBundle.madeBytesMax)
        }
    }

    /// With a hold and its release there are two records more.
    @Test(arguments: [CredentialKind.deviceKey, .passkey])
    func `is at most 20 KB with every record that an action can have`(
        credential: CredentialKind
    ) async throws {
        let world = try await world(credential) {
            $0.isHeld = true
            $0.following = [.released, .executed]
        }
        let made = try bundle(world, tokens(world, 1))
        print(
            "size of a bundle by \(credential.rawValue), held and released: "
                + "\(made.encoded.count) bytes, with \(made.timestamps.count) such timestamps")
        #expect(made.encoded.count <= EvidenceBundle.madeBytesMax)
        // Such a timestamp has no room, a short one has.
        #expect(made.timestamps == [])
        #expect(try bundle(world, [Bytes(repeating: 1, count: 800)]).timestamps.count == 1)
    }

    /// As enrolments were recorded before attachments. Then it is longer, and has no timestamp: nothing that
    /// proves a record is left out of it.
    @Test func `is not kept by leaving out what proves a record`() async throws {
        let chain = BundleWorld.certificateSizes.reduce(0, +)
        let world = try await world(.deviceKey) {
            $0.isHeld = true
            $0.following = [.released, .executed]
            $0.alter = { role, draft in
                guard role == .enrolled else { return draft }
                let statement = Base64.encodeURL(Bytes(repeating: 7, count: chain))
                return draft.with(
                    body: draft.body.setting("proof.attestation", to: .string(statement)))
            }
        }
        let made = try bundle(world, tokens(world, 1))
        #expect(made.encoded.count > EvidenceBundle.madeBytesMax && made.timestamps == [])
        #expect(try world.verify(world.bundle().encoded).isSignatureVerified)
    }
}
