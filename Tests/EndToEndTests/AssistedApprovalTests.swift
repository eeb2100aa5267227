import Countersign
import Crypto
import Foundation
import TestSupport
import Testing
import WebAuthn

@testable import CountersignMain

/// The slow path on the running program: service, core banking and officers, each as in production.
@Suite struct `A customer without a key` {
    private func body(_ method: String = "in_person") -> JSON {
        [
            "reason": "phone stolen, rent is due",
            "identity_check": ["method": .string(method), "reference": "passport, copy 7"],
        ]
    }

    @Test func `is served by two officers, and core banking believes their keys alone`()
        async throws
    {
        try await withBank { bank in
            let instance = try await bank.serve()
            try await publish(at: instance)
            try await bank.importPayee(of: "c-2")
            let anna = try await BankPerson.join("anna", instance, as: .officer)
            let bert = try await BankPerson.join("bert", instance, as: .officer)
            let created = try await instance.backend().create([
                "customer_id": "c-2", "kind": "transfer",
                "transfer": [
                    "amount": "150.00", "currency": "EUR", "debtor_account": Cast.debtorAccount,
                    "payee": Cast.known(), "reference": "Rent",
                ],
            ])
            let action = try #require(created.text("action", "id"))
            #expect(try await anna.api.get("/v1/actions/\(action)").status == 200)
            let path = "/v1/actions/\(action)/assisted-approval"
            #expect(try await anna.api.post(path, body("sms")).status == 422)
            let asked = try await anna.api.post(path, body())
            #expect(asked.status == 201)
            let act = try #require(asked.text("act", "id"))
            #expect(asked.text("act", "document", "members", "amount") == "150.00")
            #expect(try await anna.sign(asked).text("act", "state") == "open")
            let question = try await bert.api.post("/v1/acts/\(act)/challenge", [:])
            #expect(try await bert.sign(question).text("act", "state") == "done")
            let held = try await instance.backend().action(action)
            #expect(held.text("action", "execution") == "held")
            #expect(held.text("action", "hold", "rule") == "assisted_hold")

            try await letTimePass(at: bank)
            // Nothing is carried out while core banking cannot read whose keys officers have.
            try await untilAsked(bank)
            #expect(try await execution(of: action, at: instance) == "in_progress")
            try TestBank.write(
                String(decoding: keys([anna, bert]).encoded, as: UTF8.self), to: bank.officerKeys)
            // Nor before its own clock says that the hold is over, whatever the database says.
            try await untilAsked(bank)
            #expect(try await execution(of: action, at: instance) == "in_progress")
            #expect(try bank.bookings().isEmpty)
            _ = try await bank.core.ending(after: SIGTERM)
            try await bank.core.start(holdClockAhead: Seconds(86_400))
            try await bank.endLeases()
            try await until("core banking has executed it") {
                try await execution(of: action, at: instance) == "executed"
            }
            // Then it is no business of officers any more.
            #expect(try await anna.api.get("/v1/actions/\(action)").problem == "not-found")
            let (ending, text) = try await bank.run(
                ["evidence", "verify"], as: "countersign_auditor")
            // It finds nothing but that this test has let two days pass in no time.
            #expect(ending == .exited(1))
            let faults = text.split(separator: "\n").filter { $0.contains(" action.released: ") }
            #expect(faults.count == 1 && text.contains(" 1 fault"), "\(text)")
        }
    }

    /// Lets core banking be asked once more.
    private func untilAsked(_ bank: TestBank) async throws {
        let attempt = "SELECT attempt FROM countersign.execution_order"
        let before = try await bank.count(attempt)
        try await bank.endLeases()
        try await until("core banking was asked") { try await bank.count(attempt) > before }
    }

    /// Two people of the risk team let officers approve.
    private func publish(at instance: ServiceInstance) async throws {
        let rita = try await BankPerson.join("rita", instance)
        let rolf = try await BankPerson.join("rolf", instance)
        let active = try await rita.api.get("/v1/policies/active")
        guard let document = active.json["policy"]?["document"] else {
            throw Unexpected("the policy was answered \(active.status)")
        }
        let policy = document.setting(
            "assisted", to: ["hold_s": .integer(86_400), "max": ["EUR": "200.00"]])
        let asked = try await rita.api.post(
            "/v1/acts", ["kind": "policy.publish", "document": ["policy": policy]])
        let act = try #require(asked.text("act", "id"))
        _ = try await rita.sign(asked)
        let question = try await rolf.api.post("/v1/acts/\(act)/challenge", [:])
        #expect(try await rolf.sign(question).text("act", "state") == "done")
        try await until("version 2 is in force") {
            try await rolf.api.get("/v1/policies/active").json["policy"]?["version"] == .integer(2)
        }
    }

    private func execution(
        of action: String, at instance: ServiceInstance
    ) async throws -> String? {
        try await instance.backend().action(action).text("action", "execution")
    }

    private func keys(_ officers: [BankPerson]) -> JSON {
        .array(
            officers.map { officer in
                [
                    "person": .string(officer.name), "key_id": .string(officer.key),
                    "public_key": .string(
                        Base64.encode(officer.authenticator.key.publicKey.spki)),
                ]
            })
    }

    /// Lets the approval be two days old and its hold be over, as only the owner of the database can.
    private func letTimePass(at bank: TestBank) async throws {
        try await bank.script(
            """
            ALTER TABLE countersign.decision DISABLE TRIGGER ALL;
            UPDATE countersign.decision SET decided_at = decided_at - interval '2 days',
                   hold_until = date_trunc('second', clock_timestamp());
            ALTER TABLE countersign.decision ENABLE TRIGGER ALL;
            ALTER TABLE countersign.decision ENABLE ALWAYS TRIGGER no_change
            """)
        try await bank.changingActions(
            """
            UPDATE countersign.action a SET hold_until = d.hold_until
              FROM countersign.decision d WHERE d.action_id = a.id AND a.execution = 'held';
            UPDATE countersign.execution_order SET available_at = clock_timestamp()
            """)
    }
}
