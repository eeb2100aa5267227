import Countersign
import Crypto
import Evidence
import TestSupport
import Testing

/// The bundle that `docs/evidence-format.md` publishes, for whoever writes a verifier.
@Suite struct `The published bundle` {
    private let bytes: Bytes
    private let policy: Bytes

    init() throws {
        bytes = try RepositoryFiles.bytes("docs/bundle-vector.json")
        policy = try RepositoryFiles.bytes("docs/bundle-vector.policy")
    }

    /// These bytes are with auditors for ever: what is verified today is verified by every later program.
    @Test func `is verified`() throws {
        let verifier = BundleVerifier(
            trust: try TrustPolicy(text: policy), verifyTimestamp: nil)
        let verified = try verifier.verify(bytes)
        #expect(verified.isSignatureVerified)
        #expect(verified.sentences.count == 8)
        #expect(try #require(EvidenceBundle(decoding: bytes)).encoded == bytes)
    }

    @Test func `is what the page says of it`() throws {
        let page = try RepositoryFiles.text("docs/evidence-format.md")
        let bundle = try #require(EvidenceBundle(decoding: bytes))
        let approved = try #require(bundle.entries[.approved])
        #expect(page.contains(EvidenceSealer.leafHash(approved.leaf).hex))
        #expect(page.contains("position \(approved.position)"))
        let checkpoint = try #require(Checkpoint(text: bundle.checkpoint.text))
        #expect(page.contains(Base64.encode(checkpoint.root.bytes)))
        for line in String(decoding: policy, as: UTF8.self).split(separator: "\n") {
            #expect(page.contains(line))
        }
    }

    /// What the page lets an auditor do by hand, with `openssl` alone.
    @Test func `is verified by hand as the page shows`() throws {
        let bundle = try #require(EvidenceBundle(decoding: bytes))
        let trust = try TrustPolicy(text: policy)
        let tool = try OpenSSLTool()
        try tool.write(Bytes(trust.logs[0].key.publicKey.pem.utf8), to: "log.pem")
        try tool.write(bundle.checkpoint.text, to: "text")
        try tool.write(bundle.checkpoint.signatures[0].signature, to: "signature")
        try tool.run(
            "pkeyutl -verify -pubin -inkey log.pem -rawin -in text -sigfile signature")
        #expect(throws: (any Error).self) {
            try tool.write(bundle.checkpoint.text + [0x0A], to: "text")
            try tool.run(
                "pkeyutl -verify -pubin -inkey log.pem -rawin -in text -sigfile signature")
        }
    }
}
