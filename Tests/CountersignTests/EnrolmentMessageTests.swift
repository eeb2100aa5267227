import Countersign
import TestSupport
import Testing

@Suite struct `The messages of an enrolment` {
    private func enrolment() throws -> EnrolmentMessage {
        EnrolmentMessage(
            audience: Fixtures.audience, customerID: try CustomerID("c-1001"),
            enrolmentID: Fixtures.id(1), expiresAt: Fixtures.at + Seconds(300),
            nonce: Fixtures.bytes32(1))
    }

    private func authorization() throws -> AuthorizationMessage {
        AuthorizationMessage(
            audience: Fixtures.audience, challengeID: Fixtures.id(2),
            customerID: try CustomerID("c-1001"), enrolmentID: Fixtures.id(1),
            expiresAt: Fixtures.at + Seconds(300),
            keyDigest: try #require(Digest(Fixtures.bytes32(3))), nonce: Fixtures.bytes32(1))
    }

    /// A difference here is a change of the format, and needs another version.
    @Test func `are these bytes`() throws {
        #expect(
            String(decoding: try enrolment().bytes, as: UTF8.self)
                == """
                {"audience":"bank.example","customer_id":"c-1001",\
                "enrolment_id":"019b8d9c-1000-7000-8000-000000000001",\
                "expires_at":"2026-01-05T10:05:00Z",\
                "nonce":"AQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQE","purpose":"enrol",\
                "version":"countersign/1"}
                """)
        #expect(
            String(decoding: try authorization().bytes, as: UTF8.self)
                == """
                {"audience":"bank.example","challenge_id":"019b8d9c-1000-7000-8000-000000000002",\
                "customer_id":"c-1001","enrolment_id":"019b8d9c-1000-7000-8000-000000000001",\
                "expires_at":"2026-01-05T10:05:00Z",\
                "key_digest":"0303030303030303030303030303030303030303030303030303030303030303",\
                "nonce":"AQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQE",\
                "purpose":"authorize_enrolment","version":"countersign/1"}
                """)
    }

    @Test func `are read back as they were written`() throws {
        #expect(EnrolmentMessage(decoding: try enrolment().bytes) == (try enrolment()))
        #expect(AuthorizationMessage(decoding: try authorization().bytes) == (try authorization()))
    }

    @Test func `never serve as one another, nor as the message of an action`() throws {
        let action = try Fixtures.message(Fixtures.transfer()).bytes
        #expect(EnrolmentMessage(decoding: try authorization().bytes) == nil)
        #expect(AuthorizationMessage(decoding: try enrolment().bytes) == nil)
        #expect(EnrolmentMessage(decoding: action) == nil)
        #expect(AuthorizationMessage(decoding: action) == nil)
        #expect(SignedMessage(decoding: try enrolment().bytes) == nil)
        #expect(SignedMessage(decoding: try authorization().bytes) == nil)
    }

    @Test(
        arguments: [
            ("version", "countersign/2"), ("purpose", "enroll"), ("customer_id", ""),
            ("enrolment_id", "019B8D9C-1000-7000-8000-000000000001"),
            ("expires_at", "2026-01-05T10:05:00.500Z"), ("nonce", "AQ"), ("audience", nil),
            ("further", "member"),
        ] as [(String, String?)])
    func `with one member changed are none`(name: String, value: String?) throws {
        var members = try #require(CanonicalJSON.decode(try enrolment().bytes))
        members[name] = value
        #expect(EnrolmentMessage(decoding: CanonicalJSON.encode(members)) == nil)
        members = try #require(CanonicalJSON.decode(try authorization().bytes))
        members[name] = value
        #expect(AuthorizationMessage(decoding: CanonicalJSON.encode(members)) == nil)
    }
}
