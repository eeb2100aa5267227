import Countersign
import Crypto
import Postgres
import TestSupport
import Testing

@Suite struct `Tampering at rest` {
    /// Changes a row as somebody who may do anything, and switches off what would stop even that.
    private func tamper(_ world: DecisionWorld, _ assignments: String, _ id: ID<Action>)
        async throws
    {
        try await world.test.sql("ALTER TABLE countersign.action DISABLE TRIGGER ALL")
        try await world.test.sql(
            "UPDATE countersign.action SET \(assignments) WHERE id = '\(id.text)'")
        try await world.test.sql("ALTER TABLE countersign.action ENABLE ALWAYS TRIGGER guard")
    }

    @Test(arguments: [
        "amount = '1200.00', amount_minor = 120000",
        "currency = 'GBP'",
        "currency = 'no currency'",
        "debtor_account = 'iban:NL91ABNA0417164300'",
        "payee_name = 'Mallory'",
        "payee_account = 'iban:NL91ABNA0417164300'",
        "reference = 'another'",
        "end_to_end_id = 'another'",
    ])
    func `an edited action is refused, its challenge dies, and evidence says so`(
        edit: String
    ) async throws {
        try await DecisionWorld.with(connections: 4) { world in
            let customer = try await world.customer()
            let asked = try await world.ask(try Fixtures.transfer(), customer)
            try await tamper(world, edit, asked.id)
            let command = try world.command(.approve, asked, customer)
            #expect(try await world.bank.decide(command).refusal == .authenticationFailed)
            #expect(try await world.bank.decide(command).refusal == .challengeConsumed)
            #expect(try await world.count("SELECT count(*) FROM countersign.decision") == 0)
            #expect(try await world.count("SELECT sum(failures) FROM countersign.customer") == 0)
            #expect(
                try await world.count(
                    "SELECT count(*) FROM countersign.evidence WHERE kind = 'tamper.detected'") == 1
            )
        }
    }

    @Test(arguments: ["payee_name = 'Mallory'", "currency = 'no currency'"])
    func `no other question is asked about an edited action`(edit: String) async throws {
        try await DecisionWorld.with(connections: 4) { world in
            let customer = try await world.customer()
            let asked = try await world.ask(try Fixtures.transfer(), customer)
            try await tamper(world, edit, asked.id)
            guard
                case .refused(.authenticationFailed) = try await world.bank.issueChallenge(
                    for: asked.id)
            else {
                Issue.record("the customer would be asked to sign the edit")
                return
            }
            #expect(
                try await world.count(
                    "SELECT count(*) FROM countersign.evidence WHERE kind = 'tamper.detected'") == 1
            )
        }
    }

    @Test func `an edited message is refused even when the customer signs the edit`() async throws {
        try await DecisionWorld.with(connections: 4) { world in
            let customer = try await world.customer()
            let asked = try await world.ask(try Fixtures.transfer(), customer)
            let text = String(decoding: asked.approveMessage, as: UTF8.self)
            let edited = Bytes(text.replacing(#""120.00""#, with: #""999.00""#).utf8)
            try await world.test.sql(
                """
                UPDATE countersign.challenge SET approve_message = '\\x\(Hex.encode(edited))'
                """)
            let command = DecideCommand(
                action: asked.id, decision: .approve,
                proof: .signed(challenge: asked.challenge, try customer.phone.sign(edited)))
            #expect(try await world.bank.decide(command).refusal == .authenticationFailed)
            #expect(try await world.count("SELECT count(*) FROM countersign.execution_order") == 0)
        }
    }

    @Test func `an edit between the load and the commit is found under the locks`() async throws {
        try await DecisionWorld.with(connections: 4) { world in
            let customer = try await world.customer()
            let asked = try await world.ask(try Fixtures.transfer(), customer)
            let command = try world.command(.approve, asked, customer)
            guard case .signed(let challenge, let assertion) = command.proof,
                let context = try await world.store.load(
                    action: asked.id, challenge: challenge, credential: assertion.reference)
            else {
                Issue.record("nothing was loaded")
                return
            }
            try await tamper(world, "payee_name = 'Mallory'", asked.id)
            let decide = DecideAction(
                store: world.store, verifier: try Fixtures.verifier(), sha256: .openSSL)
            guard case .approve(let signed, let allowance) = try decide.decide(command, context)
            else {
                Issue.record("what was loaded is not approved")
                return
            }
            guard
                case .tampered = try await world.store.commit(
                    .approve(signed, allowance), on: context)
            else {
                Issue.record("the edit was not found")
                return
            }
        }
    }
}
