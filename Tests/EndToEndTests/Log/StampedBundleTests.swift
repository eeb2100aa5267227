import Countersign
import Crypto
import Evidence
import Foundation
import TestSupport
import Testing

@testable import CountersignMain

/// A bundle of the running service, over whose checkpoint an authority made of the openssl program has said at
/// what time it was there.
@Suite(.onAThreadOfItsOwn) struct `A bundle with a timestamp` {
    private struct Stamped {
        let bank: TestBank
        let bytes: Bytes
        let policy: String
        let authority: String

        var bundle: EvidenceBundle {
            get throws { try #require(EvidenceBundle(decoding: bytes)) }
        }

        var note: Bytes {
            get throws { try #require(try bundle.checkpoint.byLogAlone).encoded }
        }

        func verifier() throws -> BundleVerifier {
            let anchors = try Certificate.all(pem: authority)
            return BundleVerifier(trust: try TrustPolicy(text: Bytes(policy.utf8))) {
                response, note throws(TimestampFault) in
                try TimestampToken.verify(response: response, over: note, anchors: anchors)
            }
        }

        /// Writes what an auditor has.
        func write(_ files: [String: String]) throws -> (String) -> String {
            for (name, text) in files { try TestBank.write(text, to: bank.folder + "/" + name) }
            return { bank.folder + "/" + $0 }
        }
    }

    private static func pem(_ certificate: Certificate) -> String {
        let text = Data(certificate.der).base64EncodedString(
            options: [.lineLength64Characters, .endLineWithLineFeed])
        return "-----BEGIN CERTIFICATE-----\n\(text)\n-----END CERTIFICATE-----\n"
    }

    private func withStamped(_ body: (Stamped) async throws -> Void) async throws {
        try await Peer.authority { peer in
            try await withBank { bank in
                let first = try await bank.serve()
                let customer = try await bank.customer("c-1", at: first)
                let paid = try await InsistentClient(Shift(first)).pay(from: customer, key: "k-1")
                try await bank.auditLog([paid.evidence])
                _ = try await first.process.ended()
                // Whoever begins to lead asks at once, and then each minute.
                let authority = try #require(try await peer.call("root").text)
                try TestBank.write(authority, to: bank.folder + "/tsa.pem")
                let second = try await bank.serve(
                    "--log-timestamp-urls", try #require(try await peer.call("url").text),
                    "--log-timestamp-ca", bank.folder + "/tsa.pem")
                try await until("the authority has stamped it") {
                    try await bank.count(
                        """
                        SELECT count(*) FROM countersign.log_timestamp t WHERE t.size >
                            (SELECT position FROM countersign.log_leaf WHERE evidence_id = '\(paid.evidence)')
                        """) > 0
                }
                let answer = try await second.auditor().get("/v1/evidence/\(paid.evidence)/bundle")
                #expect(answer.status == 200 && answer.body.count <= 20_480)
                try await body(
                    Stamped(
                        bank: bank, bytes: answer.body,
                        policy: "log \(try bank.logKey().text)\nquorum none\n", authority: authority
                    ))
            }
        }
    }

    @Test func `proves its time to whoever names the authority`() async throws {
        try await withStamped { stamped in
            let other = try TestAuthority(root: "Another authority").certificate
            let path = try stamped.write([
                "bundle": String(decoding: stamped.bytes, as: UTF8.self), "trust": stamped.policy,
                "other.pem": Self.pem(other),
                "none.pem": "no certificate",
            ])
            func verify(_ authority: String?) async throws -> (ServiceProcess.Ending, String) {
                try await stamped.bank.verifyBundle(
                    path("bundle"), path("trust"), timestampCA: authority.map(path))
            }
            let proven = try #require(
                try stamped.verifier().verify(stamped.bytes).stamps.first)
            #expect(abs(systemTime().milliseconds - proven.at.milliseconds) < 60_000)
            let believed = try await verify("tsa.pem")
            #expect(believed.0 == .exited(0))
            #expect(believed.1.contains(", timestamped by CN=good at \(proven.at.text)."))
            #expect(!believed.1.contains("not checked"))
            // Who names nobody is told so.
            let unasked = try await verify(nil)
            #expect(unasked.0 == .exited(0) && !unasked.1.contains("timestamped by"))
            #expect(unasked.1.contains("no authority was named to believe: 1."))
            // Who names another one is not told that it is good for anything.
            let doubted = try await verify("other.pem")
            #expect(doubted.0 == .exited(1))
            #expect(doubted.1.contains("the timestamp 1 is not believed"))
            #expect(try await verify("none.pem").0 == .exited(1))
        }
    }

    @Test func `proves it without us, to openssl and to the verifier in Python`() async throws {
        try await withStamped { stamped in
            let path = try stamped.write([
                "bundle": String(decoding: stamped.bytes, as: UTF8.self), "trust": stamped.policy,
                "other.pem": Self.pem(
                    try TestAuthority(root: "Another authority").certificate),
            ])
            let openssl = try OpenSSLTool()
            try openssl.write(stamped.bytes, to: "bundle.json")
            try openssl.write(Bytes(stamped.authority.utf8), to: "tsa.pem")
            try openssl.write(Bytes(stamped.policy.utf8), to: "policy")
            let page = try PageCommands(of: "docs/auditor.md", under: "## By hand")
            let printed = try openssl.shell(page.script)
            #expect(printed.contains("Verified OK\n") && printed.contains("timestamp of "))
            #expect(try openssl.read("note") == stamped.note)
            let script = URL(filePath: #filePath).deletingLastPathComponent()
                .appending(path: "../../../docs/verify-bundle.py").standardizedFileURL.path
            for (authority, ending) in [("tsa.pem", 0), ("other.pem", 1)] as [(String, Int32)] {
                let python = try ServiceProcess(
                    "python-\(authority)",
                    words: [
                        "/usr/bin/env", "python3", "-B", script, path("bundle"), path("trust"),
                        path(authority),
                    ], in: stamped.bank.folder)
                #expect(try await python.ending() == .exited(ending), "\(python.text)")
            }
        }
    }

    private typealias Change = (index: Int, byte: UInt8)

    @Test func `is refused for each of 2,500 random bytes, but for those of it that nobody signs`()
        async throws
    {
        try await withStamped { stamped in
            let token = try #require(try stamped.bundle.timestamps.first)
            var generator = try SeededGenerator()
            let random = (0..<2500).map { _ in generator.alteration(of: stamped.bytes) }
            try expectRefused(stamped.bytes, token, random, by: stamped.verifier())
            // Most of what is random in a token is refused for its spelling. So once more each of its characters,
            // as another one that may be there, with everything beside what is signed that an authority may add.
            let decorated = try UnsignedParts.decorated(token)
            let bytes = Bytes(
                String(decoding: stamped.bytes, as: UTF8.self)
                    .replacing(Base64.encode(token), with: Base64.encode(decorated)).utf8)
            let alphabet = Bytes(Base64.encode(Bytes(0...255)).utf8)
            let place = try #require(bytes.firstRange(of: Bytes(Base64.encode(decorated).utf8)))
            let spelled: [Change] = place.map { index in
                (index, generator.pick(alphabet.filter { $0 != bytes[index] }))
            }
            let accepted = try expectRefused(bytes, decorated, spelled, by: stamped.verifier())
            for part in ["PKIStatusInfo", "certificate on no path", "unsignedAttrs"] {
                #expect(accepted.contains(part), "else nobody knows that it was looked at")
            }
        }
    }

    /// Expects that every change which is accepted is of what nobody signs, and prints which these were.
    ///
    /// - Returns: The parts of the token in which there were some.
    @discardableResult
    private func expectRefused(
        _ bytes: Bytes, _ token: Bytes, _ changes: [Change], by verifier: BundleVerifier
    ) throws -> Set<String> {
        let proven = try verifier.verify(bytes).stamps
        let unsigned = try UnsignedParts(of: token)
        var accepted: [String: Int] = [:]
        for change in changes {
            var altered = bytes
            altered[change.index] = change.byte
            let stamps: [ProvenTimestamp]
            do throws(BundleFault) {
                stamps = try verifier.verify(altered).stamps
            } catch { continue }
            #expect(stamps == proven, "byte \(change.index) became \(change.byte)")
            for part in try unsignedParts(altered, bytes, token, unsigned) {
                accepted[part, default: 0] += 1
            }
        }
        let counts = accepted.sorted { $0.key < $1.key }.map { "\($0.value) in \($0.key)" }
        let sizes = unsigned.parts.map { "\($0.range.count) of \($0.name)" }
        print(
            "stamped bundle of \(bytes.count) bytes, \(changes.count) altered; accepted "
                + counts.joined(separator: ", ")
                + "; unsigned of the token's \(token.count) bytes: "
                + sizes.joined(separator: ", "))
        return Set(accepted.keys)
    }

    /// The names of the parts in which an accepted bundle differs: all of it is in the token, and unsigned.
    private func unsignedParts(
        _ altered: Bytes, _ bytes: Bytes, _ token: Bytes, _ unsigned: UnsignedParts
    ) throws -> Set<String> {
        let bundle = try #require(EvidenceBundle(decoding: altered))
        let original = try #require(EvidenceBundle(decoding: bytes))
        #expect(bundle.checkpoint == original.checkpoint && bundle.entries == original.entries)
        let other = try #require(bundle.timestamps.first)
        #expect(bundle.timestamps.count == 1 && other.count == token.count)
        let places = zip(other, token).enumerated().filter { $1.0 != $1.1 }.map(\.offset)
        for place in places where unsigned.name(of: place) == nil {
            Issue.record("byte \(place) of the token is signed, and may be another")
        }
        return Set(places.compactMap(unsigned.name))
    }
}
