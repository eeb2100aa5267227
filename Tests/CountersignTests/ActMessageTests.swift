import Countersign
import TestSupport
import Testing

/// What people sign, beside what customers sign.
@Suite struct `The messages of people` {
    private func message(
        kind: ActKind = .publishPolicy, stage: ActStage = .propose, person: String = "anna"
    ) throws -> ActMessage {
        ActMessage(
            actID: Fixtures.id(1), audience: Fixtures.audience, challengeID: Fixtures.id(2),
            documentDigest: try #require(Digest(Fixtures.bytes32(3))),
            expiresAt: Fixtures.at + Seconds(300), kind: kind, nonce: Fixtures.bytes32(1),
            person: person, role: .risk, stage: stage)
    }

    private func registration() -> PersonKeyMessage {
        PersonKeyMessage(
            registrationID: Fixtures.id(1), audience: Fixtures.audience,
            person: Person(id: Fixtures.id(9), name: "anna", role: .risk),
            expiresAt: Fixtures.at + Seconds(300), nonce: Fixtures.bytes32(1))
    }

    /// A difference here is a change of the format, and needs another version.
    @Test func `are these bytes`() throws {
        #expect(
            String(decoding: try message().bytes, as: UTF8.self)
                == """
                {"act_id":"019b8d9c-1000-7000-8000-000000000001","audience":"bank.example",\
                "challenge_id":"019b8d9c-1000-7000-8000-000000000002",\
                "document_digest":"0303030303030303030303030303030303030303030303030303030303030303",\
                "expires_at":"2026-01-05T10:05:00Z",\
                "nonce":"AQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQE","person":"anna",\
                "purpose":"policy.publish","role":"risk","stage":"propose",\
                "version":"countersign-act/1"}
                """)
        #expect(
            String(decoding: registration().bytes, as: UTF8.self)
                == """
                {"audience":"bank.example","expires_at":"2026-01-05T10:05:00Z",\
                "nonce":"AQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQE","person":"anna",\
                "purpose":"person_key.register",\
                "registration_id":"019b8d9c-1000-7000-8000-000000000001","role":"risk",\
                "version":"countersign-act/1"}
                """)
    }

    @Test(arguments: ActKind.allCases, ActStage.allCases)
    func `are read as they were written`(kind: ActKind, stage: ActStage) throws {
        let message = try message(kind: kind, stage: stage)
        #expect(ActMessage(decoding: message.bytes) == message)
    }

    @Test func `are no messages of customers, nor the reverse`() throws {
        for bytes in [try message().bytes, registration().bytes] {
            #expect(SignedMessage(decoding: bytes) == nil)
            #expect(EnrolmentMessage(decoding: bytes) == nil)
            #expect(AuthorizationMessage(decoding: bytes) == nil)
        }
        #expect(ActMessage(decoding: registration().bytes) == nil)
        for kind in ActionKind.allCases {
            let content = try Fixtures.content(kind)
            for decision in [SignedDecision.approve, .reject] {
                let bytes = try Fixtures.message(content, decision: decision).bytes
                #expect(ActMessage(decoding: bytes) == nil)
            }
        }
    }

    @Test(arguments: [
        ("version", "countersign/1"), ("version", "countersign-act/2"), ("purpose", "enrol"),
        ("purpose", "person_key.register"), ("stage", "reject"), ("role", "backend"),
        ("act_id", "1"), ("nonce", "AQ"), ("expires_at", "2026-01-05T10:05:00.5Z"),
        ("document_digest", "03"), ("more", "x"),
    ])
    func `of another form are not read`(member: String, value: String) throws {
        var members = try #require(CanonicalJSON.decode(try message().bytes))
        members[member] = value
        #expect(ActMessage(decoding: CanonicalJSON.encode(members)) == nil)
        members[member] = nil
        if member != "more" {
            #expect(ActMessage(decoding: CanonicalJSON.encode(members)) == nil)
        }
    }
}

/// What is different between two documents.
@Suite struct `A difference of documents` {
    private func pointers(_ old: JSON, _ new: JSON) -> [String] {
        JSONDifference.between(old, new).map(\.pointer)
    }

    @Test func `is told member by member`() {
        let old: JSON = ["a": .integer(1), "b": ["c": "x", "d": ["y"]], "gone": .null]
        let new: JSON = ["b": ["d": ["y", "z"], "c": "x"], "a": .integer(2), "new": [:]]
        let found = JSONDifference.between(old, new)
        #expect(found.map(\.pointer) == ["/a", "/b/d", "/gone", "/new"])
        #expect(found[0].json == ["pointer": "/a", "from": .integer(1), "to": .integer(2)])
        #expect(found[2].json == ["pointer": "/gone", "from": .null])
        #expect(found[3].json == ["pointer": "/new", "to": [:]])
    }

    @Test func `is none where members only stand in another order`() {
        #expect(
            pointers(
                ["a": "x", "b": [["c": "y", "d": "z"]]], ["b": [["d": "z", "c": "y"]], "a": "x"]
            ).isEmpty)
        #expect(pointers(["a": ["x", "y"]], ["a": ["y", "x"]]) == ["/a"])
        #expect(pointers(["a": [:]], ["a": []]) == ["/a"])
    }

    @Test func `escapes names as RFC 6901 says`() {
        #expect(pointers(["a/b~c": "x"], ["a/b~c": "y"]) == ["/a~1b~0c"])
    }
}
