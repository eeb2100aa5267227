import Countersign
import Crypto
import Evidence
import TestSupport
import Testing

/// A timestamp proves for ever what it proved when it was made: its certificates are judged at its own time, by
/// whoever verifies.
@Suite(.onAThreadOfItsOwn) struct `A timestamp whose authority's certificate has expired since` {
    private let world: BundleWorld
    private let authority: OpenSSLAuthority

    init() async throws {
        world = try await BundleWorld()
        authority = try OpenSSLAuthority()
    }

    private func answer(at time: String) throws -> Bytes {
        try authority.stamp(
            try #require(world.checkpoint().byLogAlone).encoded, at: time)
    }

    /// Who believes a bundle with that timestamp: our verifier, the one in Python, and openssl by hand.
    private func believers(of answer: Bytes) throws -> [String] {
        let bytes = try world.bundle(timestamps: [answer]).encoded
        let anchors = try Certificate.anchors(pem: Bytes(authority.root.utf8))
        var believers: [String] = []
        let verifier = BundleVerifier(trust: try TrustPolicy(text: world.policyText)) {
            response, note throws(TimestampFault) in
            try TimestampToken.verify(response: response, over: note, anchors: anchors)
        }
        do throws(BundleFault) {
            let stamps = try verifier.verify(bytes).stamps
            #expect(stamps.map(\.at.text) == ["2026-01-05T10:00:00Z"])
            believers.append("countersign")
        } catch {
            #expect(error == .timestamp(1, .signer))
        }
        let python = try PythonVerifier().run(bytes, world.policyText, authority: authority.root)
        if python.isValid {
            believers.append("python")
        } else {
            #expect(python.text.contains("INVALID: timestamp"))
        }
        let page = try PageCommands(of: "docs/auditor.md", under: "## By hand")
        let tool = try OpenSSLTool()
        try tool.write(bytes, to: "bundle.json")
        try tool.write(world.policyText, to: "policy")
        try tool.write(Bytes(authority.root.utf8), to: "tsa.pem")
        // The helpers, the checkpoint, and the timestamps.
        let blocks = page.blocks[0] + page.blocks[1] + (page.blocks.last ?? "")
        do {
            let printed = try tool.shell(blocks)
            #expect(printed.contains("timestamp of Jan  5 10:00:00 2026 GMT"))
            believers.append("openssl")
        } catch let failed as InvalidValue {
            #expect("\(failed)".contains("Verification: FAILED"), "\(failed)")
        }
        return believers
    }

    @Test func `is believed by all three, as of the time that it states`() throws {
        #expect(
            try believers(of: answer(at: "2026-01-05 10:00:00")) == [
                "countersign", "python", "openssl",
            ])
    }

    @Test func `is believed by none when it was made after that, or before it began`() throws {
        for time in ["2026-01-09 10:00:00", "2026-01-03 10:00:00"] {
            #expect(try believers(of: answer(at: time)) == [])
        }
    }

    /// The status around a timestamp is signed by nobody, and openssl prints its text before the time.
    @Test func `is not believed for a time that only the answer around it states`() throws {
        let late = try answer(at: "2026-01-09 10:00:00")
        var reader = try DERReader.only(late).sequence()
        _ = try reader.next()
        let token = Bytes(try reader.next().encoded)
        let text = "granted\nTime stamp: Jan  5 10:00:00 2026 GMT"
        let disguised = DER.sequence(
            DER.sequence(DER.integer(0), DER.sequence(DER.utf8(text))), token)
        #expect(try believers(of: disguised) == [])
    }
}
