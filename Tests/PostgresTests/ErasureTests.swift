import Countersign
import Crypto
import Evidence
import Postgres
import TestSupport
import Testing

@Suite struct `Erasing a customer` {
    @Test func `leaves no word of the customer in any table, and every leaf as it was`()
        async throws
    {
        try await ErasureWorld.with { erasure in
            try await erasure.settle()
            let bank = erasure.world.bank
            let leaves =
                "SELECT string_agg(leaf::text, ',' ORDER BY id) FROM countersign.evidence WHERE id <= '%'"
            let last = try #require(
                try await bank.text("SELECT max(id::text) FROM countersign.evidence"))
            let before = try await bank.text(leaves.replacing("%", with: last))
            let clear = try await erasure.everythingInTheClear()
            // Else the test looks for what was never there.
            for canary in ErasureWorld.canaries {
                #expect(clear.contains(canary), "\(canary)")
            }
            guard case .erased(let erased) = try await erasure.erase() else {
                Issue.record("not erased")
                return
            }
            #expect(erased.subject.text == erasure.subject && erased.records > 10)
            let after = try await erasure.everythingInTheClear()
            #expect(ErasureWorld.canaries.filter { after.contains($0) } == [])
            #expect(try await bank.text(leaves.replacing("%", with: last)) == before)
            #expect(try await erasure.faults() == [])
        }
    }

    @Test func `takes the documents that officers signed about the customer with it`() async throws
    {
        try await ErasureWorld.with { erasure in
            try await erasure.settle()
            let people = erasure.world.people
            #expect(try await people.bodies(.actProposed).count == 1)
            #expect(try await people.evidence(.actProposed) == 1)
            _ = try await erasure.erase()
            #expect(try await people.bodies(.actProposed).isEmpty)
            #expect(try await people.bodies(.actApproved).isEmpty)
            #expect(try await people.evidence(.actProposed) == 1)
            #expect(
                try await people.count(
                    "SELECT count(*) FROM countersign.act WHERE document IS NULL") == 1)
            let told = try #require(try await people.bodies(.subjectErased).first)
            guard case .array(let named)? = told["service_records"] else {
                Issue.record("no records of the service are named")
                return
            }
            #expect(named.count == 2)
            #expect(told["subject_id"]?.text == erasure.subject)
            #expect(
                try await people.acts.acts(
                    ActQuery(role: .officer, state: nil, limit: 9, before: nil)
                ).isEmpty)
        }
    }

    @Test
    func `takes with it what officers were refused when they proposed, and lets nobody tell more`()
        async throws
    {
        try await ErasureWorld.with { erasure in
            try await erasure.settle()
            let bank = erasure.world.bank
            let people = erasure.world.people
            let asked = try await bank.ask(try Fixtures.transfer("30.00"), erasure.world.customer)
            #expect(try await erasure.world.refusal(asked.id) == .customerHasKey)
            _ = try await bank.bank.cancel(asked.id, reason: "no more")
            #expect(try await people.bodies(.actRefused).count == 1)
            _ = try await erasure.erase()
            #expect(try await people.bodies(.actRefused).isEmpty)
            #expect(try await people.evidence(.actRefused) == 1)
            // A refusal that was under way meanwhile is not written any more.
            #expect(
                try await bank.text(
                    """
                    SELECT countersign.record_refused_act('\(erasure.world.anna.person.text)',
                        '\(asked.id.text)', '[]')
                    """) == "lost_race")
            #expect(try await erasure.faults() == [])
        }
    }

    @Test func `takes with it what an act of before V0033 was told under the service's key`()
        async throws
    {
        try await ErasureWorld.with { erasure in
            try await erasure.settle()
            try await erasure.world.bank.test.run { connection throws(PostgresError) in
                try connection.run(
                    script: """
                        ALTER TABLE countersign.evidence_body DISABLE TRIGGER ALL;
                        UPDATE countersign.evidence_body SET subject_id = '00000000-0000-0000-0000-000000000000'
                         WHERE evidence_id IN (SELECT evidence_id FROM countersign.act_signature);
                        ALTER TABLE countersign.evidence_body ENABLE ALWAYS TRIGGER no_delete
                        """)
            }
            _ = try await erasure.erase()
            #expect(
                try await erasure.world.bank.count(
                    """
                    SELECT count(*) FROM countersign.evidence_body b
                      JOIN countersign.act_signature s ON s.evidence_id = b.evidence_id
                    """) == 0)
        }
    }

    @Test func `leaves everybody else as they were`() async throws {
        try await ErasureWorld.with { erasure in
            try await erasure.settle()
            let bank = erasure.world.bank
            let others = """
                SELECT count(*) FROM countersign.evidence_body b JOIN countersign.customer c
                    ON c.subject_id = b.subject_id WHERE c.customer_id = 'c-1001'
                """
            let before = try await bank.count(others)
            #expect(before > 3)
            _ = try await erasure.erase()
            #expect(try await bank.count(others) == before)
            #expect(try await bank.approve(try Fixtures.transfer("11.00"), erasure.other).isDecided)
        }
    }

    @Test func `ends with a customer whom nobody finds and who can become one again`() async throws
    {
        try await ErasureWorld.with { erasure in
            try await erasure.settle()
            let bank = erasure.world.bank
            _ = try await erasure.erase()
            #expect(try await erasure.erase() == .refused(.notFound))
            #expect(try await erasure.privacy.setLegalHold(erasure.hold()) == nil)
            #expect(try await bank.bank.action(erasure.executed) == nil)
            let late = try await bank.bank.cancel(erasure.executed, reason: "late")
            guard case .refused(.notFound) = late else {
                Issue.record("found: \(late)")
                return
            }
            // Keys end with their customer, and none can be given to another.
            #expect(
                try await bank.count(
                    "SELECT count(*) FROM countersign.credential WHERE status = 'revoked'") == 1)
            _ = try await bank.administration.importPayee(
                Fixtures.payee(), alias: DisplayText("", .payeeAlias), of: erasure.world.customer.id
            )
            #expect(
                try await bank.text(
                    "SELECT subject_id FROM countersign.customer WHERE customer_id = 'c-2002'")
                    != erasure.subject)
        }
    }

    @Test func `waits for what is open, held or under way`() async throws {
        try await ErasureWorld.with { erasure in
            // Approved and not yet sent.
            #expect(try await erasure.erase() == .refused(.actionOpen))
            let claims = try await erasure.world.bank.queue.claim(limit: 9, lease: Seconds(0))
            #expect(!claims.isEmpty)
            #expect(try await erasure.erase() == .refused(.actionOpen))
            try await erasure.settle()
            let asked = try await erasure.world.bank.ask(
                try Fixtures.transfer(payee: ErasureWorld.friend), erasure.world.customer)
            #expect(try await erasure.erase() == .refused(.actionOpen))
            _ = try await erasure.world.bank.bank.cancel(asked.id, reason: "no more")
            guard case .erased = try await erasure.erase() else {
                Issue.record("not erased")
                return
            }
        }
    }

    @Test func `waits until a legal hold is lifted, with the reasons of both`() async throws {
        try await ErasureWorld.with { erasure in
            try await erasure.settle()
            let set = try await erasure.privacy.setLegalHold(try erasure.hold())
            guard case .changed? = set else {
                Issue.record("no hold: \(String(describing: set))")
                return
            }
            #expect(try await erasure.privacy.setLegalHold(try erasure.hold()) == .unchanged)
            #expect(try await erasure.erase() == .refused(.legalHold))
            _ = try await erasure.privacy.liftLegalHold(try erasure.hold("the court has decided"))
            #expect(try await erasure.privacy.liftLegalHold(try erasure.hold()) == .unchanged)
            let people = erasure.world.people
            #expect(
                try await people.bodies(.subjectHoldSet).map { $0["reason"] } == [
                    "a court wants to see it"
                ])
            #expect(
                try await people.bodies(.subjectHoldLifted).map { $0["reason"] } == [
                    "the court has decided"
                ])
            guard case .erased = try await erasure.erase() else {
                Issue.record("not erased")
                return
            }
        }
    }

    @Test func `waits until the newest record is old enough, and a legal hold is none`()
        async throws
    {
        try await ErasureWorld.with(retentionDays: 30) { erasure in
            try await erasure.settle()
            guard case .refused(.retention(let until)) = try await erasure.erase() else {
                Issue.record("not refused")
                return
            }
            #expect(until > Instant(milliseconds: 0))
            try await erasure.age(days: 31)
            _ = try await erasure.privacy.setLegalHold(try erasure.hold())
            _ = try await erasure.privacy.liftLegalHold(try erasure.hold())
            guard case .erased = try await erasure.erase() else {
                Issue.record("not erased")
                return
            }
        }
    }

    @Test func `is impossible in production before five years`() async throws {
        try await ErasureWorld.with(isDevelopment: false, retentionDays: 1825) { erasure in
            try await erasure.settle()
            try await erasure.age(days: 1900)
            await #expect(throws: StoreFailure.internalFailure(code: "CS001")) {
                _ = try await erasure.erase()
            }
        }
        try await ErasureWorld.with(isDevelopment: false, retentionDays: 1826) { erasure in
            try await erasure.settle()
            guard case .refused(.retention) = try await erasure.erase() else {
                Issue.record("not refused")
                return
            }
        }
    }

    @Test func `is nobody's but the data-protection role's, who can do nothing else`() async throws
    {
        try await ErasureWorld.with { erasure in
            let call = "SELECT countersign.erase_customer(gen_random_uuid(), 0, 9999, '{}', '[]')"
            for role in [TestDatabase.Role.service, .op, .auditor] {
                let database = await erasure.world.bank.test.open(as: role, size: 1)
                for statement in [
                    call, "SELECT countersign.set_legal_hold(gen_random_uuid(), '[]')",
                    "SELECT countersign.erase_actions(gen_random_uuid(), '{}', '{}', now())",
                    "SET ROLE countersign_eraser", "SET ROLE countersign_privacy",
                ] {
                    await #expect(
                        throws: StoreFailure.internalFailure(code: "42501"), "\(role) \(statement)"
                    ) {
                        try await database.run { connection throws(PostgresError) in
                            try connection.run(script: statement)
                        }
                    }
                }
            }
            let privacy = await erasure.world.bank.test.open(as: .privacy, size: 1)
            for statement in [
                "SELECT * FROM countersign.customer", "SELECT * FROM countersign.evidence",
                "DELETE FROM countersign.evidence_body",
                "UPDATE countersign.subject_key SET wrapped = NULL",
                "SELECT countersign.write_evidence('[]')", "SELECT countersign.record_event('[]')",
                "SELECT countersign.erase_credentials(gen_random_uuid(), now())",
                "SET ROLE countersign_eraser",
            ] {
                await #expect(throws: StoreFailure.internalFailure(code: "42501"), "\(statement)") {
                    try await privacy.run { connection throws(PostgresError) in
                        try connection.run(script: statement)
                    }
                }
            }
        }
    }

    @Test func `cannot be done around the function, not even by its own role or a superuser`()
        async throws
    {
        try await ErasureWorld.with { erasure in
            try await erasure.settle()
            for statement in [
                "DELETE FROM countersign.evidence_body",
                "UPDATE countersign.subject_key SET wrapped = NULL",
                "UPDATE countersign.receipt SET raw = NULL, erased_at = now()",
                "UPDATE countersign.action SET amount = NULL, erased_at = now()",
                "DELETE FROM countersign.contradiction WHERE true; DELETE FROM countersign.policy_decision",
            ] {
                for role in ["", "SET ROLE countersign_eraser;"] {
                    await #expect(throws: StoreFailure.self, "\(role) \(statement)") {
                        try await erasure.world.bank.test.run { connection throws(PostgresError) in
                            try connection.run(script: role + statement)
                        }
                    }
                }
            }
        }
    }

    @Test func `is not believed without its record, nor is anything that comes after it`()
        async throws
    {
        try await ErasureWorld.with { erasure in
            try await erasure.settle()
            _ = try await erasure.erase()
            let records = try await erasure.store.everything().map(\.record)
            let key = erasure.world.bank.keyEncryption
            let gone = records.filter { $0.body == nil }
            #expect(gone.count > 10)
            let believing = EvidenceVerifier(
                keyEncryption: key, erasures: Erasures(reading: records, with: key))
            let doubting = EvidenceVerifier(keyEncryption: key)
            for record in gone {
                #expect(throws: EvidenceFault.bodyMissing) { try doubting.verify(record) }
                #expect(try believing.verify(record) == .erased)
            }
            await #expect(throws: StoreFailure.internalFailure(code: "CS011")) {
                try await erasure.world.bank.test.sql(
                    """
                    INSERT INTO countersign.evidence (id, kind, subject_id, leaf, body_commit)
                    SELECT countersign.fresh_id(), 'customer.locked', '\(erasure.subject)', 'x', sha256('')
                    """)
            }
        }
    }
}

extension ErasureWorld {
    /// Lets all evidence be older than it is: only a superuser without triggers can.
    func age(days: Int) async throws {
        try await world.bank.test.run { connection throws(PostgresError) in
            try connection.run(
                script: """
                    ALTER TABLE countersign.evidence DISABLE TRIGGER ALL;
                    UPDATE countersign.evidence SET recorded_at = recorded_at - interval '\(days) days';
                    ALTER TABLE countersign.evidence ENABLE ALWAYS TRIGGER stamp,
                        ENABLE ALWAYS TRIGGER no_change, ENABLE ALWAYS TRIGGER no_truncate
                    """)
        }
    }
}
