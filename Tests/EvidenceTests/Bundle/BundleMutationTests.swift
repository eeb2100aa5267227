import Countersign
import Crypto
import Evidence
import Foundation
import TestSupport
import Testing

/// No byte of a bundle can be another: not of a text, not of a signature, not of its spelling.
@Suite struct `An altered bundle` {
    /// A bundle with all that there may be, and who believes its timestamps.
    private func world() async throws -> (BundleWorld, Bytes, BundleVerifier.TimestampCheck) {
        let world = try await BundleWorld {
            $0.credential = .passkey
            $0.isHeld = true
            $0.following = [.released, .executed]
        }
        let tokens = [Fixtures.bytes32(1), Fixtures.bytes32(2) + [3]]
        let bytes = try world.bundle(timestamps: tokens).encoded
        return (
            world, bytes,
            { token, _ throws(TimestampFault) in
                guard tokens.contains(token) else { throw .signature }
                return ProvenTimestamp(at: Fixtures.at, authority: "CN=tsa", policy: "1.2.3")
            }
        )
    }

    @Test func `is refused for each of 2,500 random bytes`() async throws {
        let (world, bytes, check) = try await world()
        let verifier = BundleVerifier(
            trust: try TrustPolicy(text: world.policyText), verifyTimestamp: check)
        _ = try verifier.verify(bytes)
        var generator = try SeededGenerator()
        var accepted: [String] = []
        var faults: [String: Int] = [:]
        for _ in 0..<2500 {
            let (index, byte) = generator.alteration(of: bytes)
            var altered = bytes
            altered[index] = byte
            do throws(BundleFault) {
                _ = try verifier.verify(altered)
                accepted.append("\(index): \(bytes[index]) became \(altered[index])")
            } catch { faults[error.name, default: 0] += 1 }
        }
        let counts = faults.sorted { $0.key < $1.key }.map { "\($0.value) \($0.key)" }
        print("bundle of \(bytes.count) bytes, 2500 altered: " + counts.joined(separator: ", "))
        // The keys are new in each run, so that the seed alone does not bring the bundle back.
        #expect(accepted == [], "\(generator), of \(String(decoding: bytes, as: UTF8.self))")
        // Not all of them for their spelling: what a byte says counts too.
        #expect(faults.count > 4)
    }

    @Test func `is refused for each way to write the same`() async throws {
        let (world, bytes, check) = try await world()
        let text = String(decoding: bytes, as: UTF8.self)
        let replacements = [
            (#"{"v":"#, #"{ "v":"#), (#""}}}"#, "\"}}}\n"),
            (#""v":"#, #""v":"countersign/bundle/1","v":"#),
            ("bundle/1", "bundle/2"), ("bundle/1", #"bundle\/1"#),
            (#""timestamps":["#, #""more":1,"timestamps":["#),
            (#""enrolled":"#, #""enrolment":"#), (#""leaf":"#, #""extra":"","leaf":"#),
            (#""enrolled":"#, #""enrolled":{},"enrolled":"#),
            (#""salt":"#, #""salt":null,"salt":"#),
            ("Erika", "\\u0045rika"), ("tlog-proof@v1\\n", "tlog-proof@v1\\nextra AQ==\\n"),
        ]
        for (from, to) in replacements {
            let altered = text.replacingOccurrences(of: from, with: to)
            try #require(altered != text, "the bundle has no \(from)")
            #expect(throws: BundleFault.form, "\(from) → \(to)") {
                try world.verify(Bytes(altered.utf8), timestamp: check)
            }
        }
        for wrong in [Bytes(bytes.dropLast()), bytes + [0x20], [0xEF, 0xBB, 0xBF] + bytes, []] {
            #expect(throws: BundleFault.form) { try world.verify(wrong, timestamp: check) }
        }
        let long = bytes + Bytes(repeating: 0x20, count: EvidenceBundle.bytesMax)
        #expect(throws: BundleFault.form) { try world.verify(long, timestamp: check) }
    }
}

extension BundleFault {
    /// The case without what it is about.
    fileprivate var name: String { String("\(self)".prefix { $0 != "(" }) }
}
