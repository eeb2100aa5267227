import Countersign
import Crypto
import Foundation
import TestSupport
import Testing

@testable import CountersignMain
@testable import WebAuthn

/// That the settings reach the verifier, and that a file which cannot be used stops the start.
@Suite struct `The files that say whom to believe` {
    private func verifier(
        _ change: (inout Configuration) -> Void
    ) throws -> CustomerProofVerifier {
        var configuration = Configuration()
        change(&configuration)
        let party = try RelyingParty(
            id: Fixtures.audience, name: "Bank", origins: [Fixtures.origin], framing: .refused)
        return configuration.makeProofVerifier(
            party, payments: nil, trust: try configuration.attestationTrust())
    }

    /// What the refusal says; `nil` when there was none.
    private func refusal(_ change: (inout Configuration) -> Void) throws -> String? {
        do {
            _ = try verifier(change)
            return nil
        } catch let error as ConfigurationError {
            return error.message
        }
    }

    /// The metadata and its root as files.
    private func withMetadata(
        _ text: String, root: String, _ body: (FilePath, FilePath) throws -> Void
    ) throws {
        let (text, root) = (try TemporaryFile(text), try TemporaryFile(root))
        defer {
            text.delete()
            root.delete()
        }
        try body(FilePath(text: text.path), FilePath(text: root.path))
    }

    /// Due after any day on which this test runs within its certificates' dates.
    private func metadata() throws -> (text: String, root: String, anchor: Certificate) {
        var metadata = try TestMetadata()
        metadata.nextUpdate = "2034-01-01"
        let der = Base64.encode(metadata.root.certificate.der)
        return (
            try metadata.text(),
            "-----BEGIN CERTIFICATE-----\n\(der)\n-----END CERTIFICATE-----\n",
            metadata.maker.certificate
        )
    }

    @Test func `need not be: then nobody is believed, and every format is still in order or not`()
        throws
    {
        let verifier = try verifier { _ in }
        #expect(verifier.policy.attestation == .untrusting)
        #expect(verifier.devices.android == nil && verifier.devices.appAttest == nil)
    }

    @Test func `give anchors from the metadata`() throws {
        let good = try metadata()
        // An editor's last line end is not part of the list.
        try withMetadata(good.text + "\n", root: good.root) { file, root in
            let verifier = try verifier {
                ($0.webauthn.metadata, $0.webauthn.metadataRoot) = (file, root)
            }
            let anchors = verifier.policy.attestation.anchors
            #expect(anchors.map(\.certificate) == [good.anchor])
            #expect(anchors.map(\.until) == [Instant(text: "2034-01-02T00:00:00Z")])
            #expect(verifier.policy.attestation.trust == .recorded)
        }
    }

    @Test func `stop the start when the metadata or its root is not in order`() throws {
        let (good, stranger) = (try metadata(), try metadata())
        for (text, root, word) in [
            (good.text, stranger.root, "webauthn.metadata is refused: untrusted"),
            ("secret", good.root, "webauthn.metadata is refused: malformed"),
            (good.text, "secret", "webauthn.metadata_root is no certificate"),
        ] {
            try withMetadata(text, root: root) { file, root in
                let message = try refusal {
                    ($0.webauthn.metadata, $0.webauthn.metadataRoot) = (file, root)
                }
                #expect(message?.contains(word) == true)
                #expect(message?.contains("secret") == false)
            }
        }
        try withMetadata(good.text, root: good.root) { file, root in
            let missing = FilePath(text: "/nonexistent/secret")
            for (file, root) in [(missing, root), (file, missing)] {
                let message = try refusal {
                    ($0.webauthn.metadata, $0.webauthn.metadataRoot) = (file, root)
                }
                #expect(message?.contains("cannot be read") == true)
                #expect(message?.contains("secret") == false)
            }
        }
    }

    @Test func `stop the start when the folder of certificates is not in order`() throws {
        let message = try refusal {
            $0.webauthn.attestationAnchors = FilePath(text: "/nonexistent/secret")
        }
        #expect(message?.hasPrefix("webauthn.attestation_anchors") == true)
        #expect(message?.contains("secret") == false)
    }

    @Test func `give Apple's app with its one environment and Apple's root`() throws {
        for (setting, environment) in [
            (Configuration.AppAttestEnvironment.production, AppAttestTrust.Environment.production),
            (.development, .development),
        ] {
            let trust = try verifier {
                $0.apple.appID = "ABCDE12345.com.bank.app"
                $0.apple.environment = setting
            }.devices.appAttest
            #expect(trust?.appID == "ABCDE12345.com.bank.app")
            #expect(trust?.environments == [environment])
            #expect(trust?.root == AppAttestTrust.appleRoot)
        }
    }

    /// AK-06: the list is as old as the file, and a file that is no list is no list.
    @Test func `are read again before a key is judged, for what Google revoked`() async throws {
        let file = try TemporaryFile("no list")
        defer { file.delete() }
        let android = try #require(
            try verifier {
                $0.android.package = "com.example.bank"
                $0.android.certificates = [Fixtures.sha256([])]
                $0.android.patchLevelMin = 202_501
                $0.android.revocationList = FilePath(text: file.path)
                $0.android.revocationListMaxAgeHours = 48
            }.devices.android)
        #expect(android.requirements.app.packageName == "com.example.bank")
        #expect(android.requirements.patchMonthMin == 202_501)
        #expect(android.trust().roots == GoogleAttestationRoots.certificates)
        #expect(android.trust().revocationsAgeMax == Seconds(48 * 3600))
        #expect(android.trust().revocations == nil)
        try revoke("abc", in: file.path)
        // To judge is to read no file.
        #expect(android.trust().revocations == nil)
        await android.refresh()
        let revocations = try #require(android.trust().revocations)
        #expect(revocations.contains(serial: "abc"))
        #expect(revocations.fetchedAt == Instant(milliseconds: 1_750_000_000_000))
        // The same file is not read twice, and another one is, by its date or its length.
        try revoke("abd", in: file.path)
        await android.refresh()
        #expect(android.trust().revocations?.contains(serial: "abc") == true)
        try revoke("abd", in: file.path, at: 1_750_000_001)
        await android.refresh()
        #expect(android.trust().revocations?.contains(serial: "abc") == false)
        try revoke("abcd", in: file.path, at: 1_750_000_001)
        await android.refresh()
        #expect(android.trust().revocations?.contains(serial: "abcd") == true)
        try FileManager.default.removeItem(atPath: file.path)
        await android.refresh()
        #expect(android.trust().revocations == nil)
    }

    private func revoke(
        _ serial: String, in path: String, at seconds: TimeInterval = 1_750_000_000
    ) throws {
        let list: JSON = .object([
            .init("entries", .object([.init(serial, ["status": "REVOKED"])]))
        ])
        try Data(list.encoded).write(to: URL(filePath: path))
        try FileManager.default.setAttributes(
            [.modificationDate: Date(timeIntervalSince1970: seconds)], ofItemAtPath: path)
    }

    @Test func `are not left out silently for an app without its certificates`() throws {
        let message = try refusal { $0.android.package = "com.example.bank" }
        #expect(message == "android.package needs android.certificates")
    }

    @Test func `leave Android's list of revocations missing when none is named`() throws {
        let android = try #require(
            try verifier {
                $0.android.package = "com.example.bank"
                $0.android.certificates = [Fixtures.sha256([])]
            }.devices.android)
        #expect(android.trust().revocations == nil)
        #expect(android.requirements.patchMonthMin == nil)
    }
}
