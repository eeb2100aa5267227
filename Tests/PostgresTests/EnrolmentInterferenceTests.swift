import Countersign
import Crypto
import Evidence
import Postgres
import TestSupport
import Testing

@Suite struct `What changes between the load of an enrolment and its commit` {
    /// What comes in the way, and what the caller is told then; `nil` when it is enrolled after all.
    typealias Change = (sql: String, refusal: EnrolmentRefusal?)

    @Test(
        arguments: [
            ("UPDATE countersign.customer SET version = version + 1", nil),
            ("UPDATE countersign.credential SET seq = seq + 1", nil),
            (newPolicy(), nil),
            (newPolicy(requiring: "app-attest"), .attestationRefused),
            ("UPDATE countersign.enrolment SET spent_at = clock_timestamp()", .consumed),
            ("UPDATE countersign.enrolment SET expires_at = clock_timestamp()", .expired),
            (
                "UPDATE countersign.enrolment SET message = message || '\\x20'",
                .authenticationFailed
            ),
            (
                "UPDATE countersign.enrolment_authorization SET spent_at = clock_timestamp()",
                .notAuthorized
            ),
            (
                "UPDATE countersign.enrolment_authorization SET expires_at = clock_timestamp()",
                .notAuthorized
            ),
            (
                "UPDATE countersign.enrolment_authorization SET message = message || '\\x20'",
                .authenticationFailed
            ),
            (
                """
                UPDATE countersign.credential SET status = 'revoked', revoked_at = clock_timestamp()
                """, .authenticationFailed
            ),
        ] as [Change])
    func `makes the good finish be decided again`(change: Change) async throws {
        let (outcome, lost) = try await finish(interference: change.sql, isGood: true)
        #expect(outcome.refusal == change.refusal)
        #expect(lost == 1)
    }

    /// Another policy becomes active; it may ask for that profile of every key.
    private static func newPolicy(requiring profile: String? = nil) -> String {
        let demands = ActionKind.allCases.flatMap { kind in
            profile.map { ["\"\(kind.rawValue)\": [\"\($0)\"]"] } ?? []
        }
        return """
            INSERT INTO countersign.policy (version, time_zone, active_from, document)
            SELECT version + 1, time_zone, clock_timestamp(), convert_to(
                       (convert_from(document, 'UTF8')::jsonb || jsonb_build_object(
                           'required_attestation', '{\(demands.joined(separator: ", "))}'::jsonb)
                       )::text, 'UTF8')
              FROM countersign.policy ORDER BY version DESC LIMIT 1
            """
    }

    @Test(arguments: [true, false])
    func `is the customer's lock, and then no finish is looked at`(isGood: Bool) async throws {
        let (outcome, lost) = try await finish(
            interference: """
                UPDATE countersign.customer SET locked_until = clock_timestamp() + interval '1 h'
                """, isGood: isGood)
        guard case .customerLocked? = outcome.refusal else {
            Issue.record("\(outcome)")
            return
        }
        #expect(lost == 1)
    }

    @Test(
        arguments: [
            ("UPDATE countersign.customer SET failures = 3", .authenticationFailed),
            ("UPDATE countersign.credential SET seq = seq + 1", .authenticationFailed),
            ("UPDATE countersign.enrolment SET spent_at = clock_timestamp()", .consumed),
            ("UPDATE countersign.enrolment SET expires_at = clock_timestamp()", .expired),
            (
                "UPDATE countersign.enrolment_authorization SET spent_at = clock_timestamp()",
                .notAuthorized
            ),
        ] as [Change])
    func `makes a failed finish be counted anew`(change: Change) async throws {
        let (outcome, lost) = try await finish(interference: change.sql, isGood: false)
        #expect(outcome.refusal == change.refusal)
        #expect(lost == 1)
    }

    /// Finishes with the answer of an active credential, good or wrong.
    private func finish(
        interference sql: String, isGood: Bool
    ) async throws -> (FinishOutcome, lost: Int) {
        try await EnrolmentWorld.with(connections: 2) { world in
            let customer = try EnrolmentWorld.customer()
            let phone = try await world.enrolled(customer)
            let key = try P256PrivateKey.generate()
            let offer = try await world.begin(for: customer)
            let question = try await world.question(offer.id, customer, key: key.publicKey.spki)
            let answer = try phone.sign(isGood ? question.message : offer.message)
            let interference = Interference(sql, in: world.test)
            let store = InterferedStore(base: world.credentials, interference: interference)
            let outcome = try await world.service(store: store).finishEnrolment(
                FinishEnrolmentCommand(
                    client: world.client, customerID: customer, enrolmentID: offer.id,
                    offered: .deviceKey(try world.offered(key, offer.message)),
                    authorization: .assertion(challenge: question.id, answer)))
            let credentials = try await world.count("SELECT count(*) FROM countersign.credential")
            #expect(credentials == (outcome.refusal == nil ? 2 : 1))
            return (outcome, interference.racesLost)
        }
    }
}
