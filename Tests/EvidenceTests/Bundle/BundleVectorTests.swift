import Countersign
import Crypto
import Evidence
import TestSupport
import Testing

/// The bundle that `docs/evidence-format.md` publishes, for whoever writes a verifier.
@Suite(.onAThreadOfItsOwn) struct `The published bundle` {
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
        #expect(verified.sentences.count == 10)
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

    /// What the page lets an auditor do by hand, with what a bare Debian has beside `openssl` and `python3`.
    @Test func `is verified by hand as the page shows`() throws {
        let page = try PageCommands(of: "docs/evidence-format.md", with: "bundle-vector.json")
        let tool = try OpenSSLTool()
        try tool.write(bytes, to: "bundle-vector.json")
        #expect(try tool.shell(page.script) == page.output)
        #expect(page.output.contains("Signature Verified Successfully"))
        // One byte of the checkpoint is another, and the page's commands say so.
        let text = String(decoding: bytes, as: UTF8.self)
        let altered = text.replacing("log.bank.example\\n628", with: "log.bank.example\\n629")
        try #require(altered != text)
        try tool.write(Bytes(altered.utf8), to: "bundle-vector.json")
        #expect(throws: (any Error).self) { try tool.shell(page.script) }
    }
}
