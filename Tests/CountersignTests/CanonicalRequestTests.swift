import Countersign
import Crypto
import TestSupport
import Testing

@Suite struct `The bytes of a signed request` {
    private let draft = RequestDraft(Fixtures.id(1))

    private func text(_ draft: RequestDraft) -> String? {
        draft.message.map { String(decoding: $0, as: UTF8.self) }
    }

    @Test func `are five lines, the target as it was sent`() {
        let digest = sha256(draft.body).hex
        #expect(
            text(draft) == "POST\n/v1/transfers?draft=%2F1\n1767607200\nnonce-0001\n\(digest)")
    }

    @Test(arguments: [
        ("/a?x=1&y=%2f", "/a", "?x=1&y=%2f"), ("/a", "/a", ""), ("/a?", "/a", "?"),
        ("/a??b?c", "/a", "??b?c"), ("/a%3Fb", "/a%3Fb", ""),
    ])
    func `with a host are seven lines, path and query apart`(
        target: String, path: String, query: String
    ) {
        let draft = draft.with {
            $0.host = "api.bank.example:8443"
            $0.target = target
        }
        let digest = sha256(draft.body).hex
        #expect(
            text(draft)
                == "POST\napi.bank.example:8443\n\(path)\n\(query)\n1767607200\nnonce-0001\n\(digest)"
        )
    }

    @Test func `of a body that is empty hold the digest of nothing`() {
        let nothing = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
        #expect(text(draft.with { $0.body = [] })?.hasSuffix("\n\(nothing)") == true)
    }

    /// Two requests of which one could pass for the other.
    @Test func `differ whenever a part does`() {
        let hosted = draft.with { $0.host = "bank.example" }
        let requests = [
            draft, hosted,
            draft.with { $0.method = "post" }, draft.with { $0.target += "&" },
            draft.with { $0.target = "/v1/transfers?draft=/1" },
            draft.with { $0.target = "/v1/transfers?draft=%2f1" },
            draft.with { $0.timestamp += 1 }, draft.with { $0.nonce += "0" },
            draft.with { $0.body += [0x20] },
            hosted.with { $0.host = "Bank.example" }, hosted.with { $0.target = "/v1/transfers" },
            hosted.with { $0.target = "/v1/transfers?" },
        ]
        #expect(Set(requests.map(\.message)).count == requests.count)
    }

    @Test(arguments: [
        "", " ", "/a b", "/a\n1767607200\nnonce-0001", "/a\rb", "/a\tb", "/\u{7F}", "/é", "/a\u{0}",
        String(repeating: "/", count: 8193),
    ])
    func `there are none for a target that cannot be sent`(target: String) {
        #expect(draft.with { $0.target = target }.message == nil)
        let hosted = draft.with {
            $0.host = "bank.example"
            $0.target = target
        }
        #expect(hosted.message == nil)
    }

    @Test(arguments: [
        "", "GET /a", "GE\nT", "{", "GÉT", "GET:", String(repeating: "G", count: 33),
    ])
    func `there are none for a method that is no token`(method: String) {
        #expect(draft.with { $0.method = method }.message == nil)
    }

    @Test(arguments: ["", "a b", "a\nb", "bänk", String(repeating: "a", count: 256)])
    func `there are none for a host that cannot be sent`(host: String) {
        #expect(draft.with { $0.host = host }.message == nil)
    }

    @Test(arguments: ["*", "https://bank.example/a", "bank.example:443"])
    func `there are none with a host for a target without a path`(target: String) {
        #expect(draft.with { $0.target = target }.message != nil)
        let hosted = draft.with {
            $0.host = "bank.example"
            $0.target = target
        }
        #expect(hosted.message == nil)
    }

    @Test func `at the longest are still there`() {
        let longest = draft.with {
            $0.method = String(repeating: "G", count: 32)
            $0.target = String(repeating: "/", count: 8192)
            $0.host = String(repeating: "a", count: 255)
        }
        #expect(longest.message != nil)
    }

    /// One key signs both, so that neither may ever pass for the other.
    @Test func `are never those of another signed message`() throws {
        let message = try #require(draft.message)
        #expect(SignedMessage(decoding: message) == nil)
        #expect(EnrolmentMessage(decoding: message) == nil)
        #expect(AuthorizationMessage(decoding: message) == nil)
        #expect(draft.with { $0.method = "{\"a\":\"b\"}" }.message == nil)
    }

    /// The vectors that clients build on: `docs/signed-request-vectors.json`.
    @Test func `are those of the published vectors`() throws {
        let document = try RepositoryFiles.json("docs/signed-request-vectors.json")
        guard case .array(let vectors)? = document["vectors"],
            let pem = document["public_key"]?.text
        else {
            Issue.record("the file holds no vectors")
            return
        }
        #expect(Set(vectors.map { $0["profile"]?.text }).count == 2)
        for vector in vectors {
            func text(_ name: String) throws -> String {
                try #require(vector[name]?.text, "\(name) is missing")
            }
            let timestamp = try #require(Int64(text("timestamp")))
            let draft = try draft.with {
                $0.method = try text("method")
                $0.host = vector["host"]?.text
                $0.target = try text("target")
                $0.body = Bytes(try text("body").utf8)
                $0.timestamp = timestamp
                $0.nonce = try text("nonce")
            }
            let message = try #require(draft.message)
            #expect(String(decoding: message, as: UTF8.self) == vector["message"]?.text)
            #expect(draft.request([]).profile.name.rawValue == vector["profile"]?.text)
            let signature = try #require(Base64.decode(text("signature")))
            #expect(try Fixtures.deviceKeyVerifies(signature, over: message, pem: pem))
        }
    }
}
