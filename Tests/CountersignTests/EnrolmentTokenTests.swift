import Countersign
import Crypto
import TestSupport
import Testing

@Suite struct `A token of the identity system` {
    private static let claims: JSON = [
        "enrolment_id": .string(FinishCase.enrolmentID.text), "customer_id": "c-1001",
        "key_digest": .string(sha256(FinishCase.key).hex),
        "exp": .integer(Fixtures.at.milliseconds / 1000 + 300), "jti": "t-1", "iss": "bank",
    ]

    private func finish(_ claims: JSON?) async throws -> (FinishOutcome, [EnrolmentFault]) {
        var finish = FinishCase()
        finish.authorization = .scaToken("token")
        finish.claims = claims
        let store = try finish.store()
        return (try await finish.finish(store), store.now.spent.map(\.fault))
    }

    @Test func `vouches for the key of the enrolment that it names`() async throws {
        for possession in [EnrolmentContext.Possession.none, .former, .active] {
            var finish = FinishCase()
            finish.authorization = .scaToken("token")
            finish.claims = Self.claims
            finish.possession = possession
            let store = try finish.store()
            #expect(try await finish.finish(store).credential != nil)
            guard case .token(let token)? = store.now.enrolled.first?.vouching else {
                Issue.record("no token")
                return
            }
            #expect(token.id == "t-1" && token.expiresAt == Fixtures.at + Seconds(300))
        }
    }

    @Test(
        arguments: [
            ("enrolment_id", "019b8d9c-1000-7000-8000-000000000009", .tokenEnrolmentMismatch),
            ("customer_id", "c-1002", .tokenCustomerMismatch),
            ("customer_id", "C-1001", .tokenCustomerMismatch),
            ("key_digest", .string(sha256([9]).hex), .tokenKeyMismatch),
            ("exp", .integer(Fixtures.at.milliseconds / 1000), .tokenExpired),
            ("exp", .integer(Fixtures.at.milliseconds / 1000 + 601), .tokenTooLong),
        ] as [(String, JSON, AuthorizationFault)])
    func `about something else vouches for nothing`(
        name: String, value: JSON, fault: AuthorizationFault
    ) async throws {
        let (outcome, faults) = try await finish(Self.claims.setting(name, to: value))
        #expect(outcome.refusal == .notAuthorized)
        #expect(faults == [.authorization(fault)])
    }

    @Test(
        arguments: [
            ("exp", .integer(Fixtures.at.milliseconds / 1000 + 1)),
            ("exp", .integer(Fixtures.at.milliseconds / 1000 + 600)),
            ("jti", .string(String(repeating: "é", count: 255))),
            ("key_digest", .string(sha256(FinishCase.key).hex.uppercased())),
        ] as [(String, JSON)])
    func `at its bounds vouches`(name: String, value: JSON) async throws {
        #expect(try await finish(Self.claims.setting(name, to: value)).0.credential != nil)
    }

    @Test(
        arguments: [
            ("enrolment_id", nil), ("enrolment_id", "1"), ("customer_id", nil),
            ("customer_id", .integer(1)), ("key_digest", "00"), ("key_digest", nil), ("exp", nil),
            ("exp", "1767607500"), ("exp", .fraction), ("exp", .integer(-1)),
            ("exp", .integer(.max)),
            ("jti", nil), ("jti", ""), ("jti", .integer(1)), ("jti", "a\0b"),
            ("jti", .string(String(repeating: "x", count: 256))),
        ] as [(String, JSON?)])
    func `without a claim that is needed is none`(name: String, value: JSON?) async throws {
        let (outcome, faults) = try await finish(Self.claims.setting(name, to: value))
        #expect(outcome.refusal == .notAuthorized)
        #expect(faults == [.authorization(.tokenInvalid)])
    }

    @Test func `that nobody signed, or whose key is not configured, is none`() async throws {
        #expect(try await finish(nil).1 == [.authorization(.tokenInvalid)])
        var finish = FinishCase()
        finish.authorization = .scaToken("token")
        finish.claims = Self.claims
        finish.identityIsConfigured = false
        let store = try finish.store()
        #expect(try await finish.finish(store).refusal == .notAuthorized)
        #expect(store.now.spent.map(\.fault) == [.authorization(.tokenNotConfigured)])
    }
}
