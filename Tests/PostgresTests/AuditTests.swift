import Countersign
import Crypto
import Evidence
import Postgres
import TestSupport
import Testing

/// What somebody does who owns the database and has no key of the service, and what an audit finds.
@Suite struct `An audit of a database` {
    /// A well-made leaf that goes on with an action's chain, as anybody can make it: the body is sealed with a
    /// key of the forger's own.
    private func forge(
        _ draft: EvidenceDraft, _ action: ID<Action>, _ world: DecisionWorld
    ) async throws -> SealedEvidence {
        let rows = try await world.test.sql(
            "SELECT subject_id, seq, head FROM countersign.action WHERE id = '\(action.text)'")
        guard let row = rows.first, let key = KeyEncryptionKey(EntropySource.openSSL(32)) else {
            throw Unexpected("no action")
        }
        let subject: ID<Subject> = try row["subject_id"]
        let head: Bytes = try row["head"]
        let sealer = EvidenceSealer(
            log: "bank.example/log", keyEncryption: key, entropy: .openSSL)
        let sealed = sealer.seal(
            [draft], subject: subject,
            wrappedKey: key.wrapFreshKey(for: subject, entropy: .openSSL), at: try await now(world),
            heads: ChainHeads(
                actions: [action: ChainHead(length: try row["seq"], leafHash: Digest(head))]))
        return try #require(sealed?.first)
    }

    private func now(_ world: DecisionWorld) async throws -> Instant {
        let rows = try await world.test.sql("SELECT clock_timestamp() AS now")
        guard let row = rows.first else { throw Unexpected("no time") }
        return try row["now"]
    }

    @Test(arguments: [true, false])
    func `finds a record whose body nobody with a key has made`(hasBody: Bool) async throws {
        try await DecisionWorld.with(connections: 4) { world in
            let asked = try await world.ask(try Fixtures.transfer(), try await world.customer())
            #expect(try await world.evidenceFaults() == [])
            let hold: JSON = ["until": "2026-01-06T10:00:00Z", "rule": "x", "at_end": "release"]
            let forged = try await forge(
                EvidenceDraft(
                    .actionReleased, action: asked.id, outcome: "ready", body: ["hold": hold]),
                asked.id, world)
            try await world.test.sql(
                """
                INSERT INTO countersign.evidence
                       (id, kind, action_id, subject_id, leaf, body_commit)
                VALUES ('\(forged.id.text)', 'action.released', '\(asked.id.text)',
                        '\(forged.subject.text)', '\\x\(Hex.encode(forged.leaf))',
                        '\\x\(forged.bodyCommitment.hex)')
                """)
            if hasBody {
                try await world.test.sql(
                    """
                    INSERT INTO countersign.evidence_body
                    VALUES ('\(forged.id.text)', '\(forged.subject.text)',
                            '\\x\(Hex.encode(forged.salt))', '\\x\(Hex.encode(forged.nonce))',
                            '\\x\(Hex.encode(forged.ciphertext))')
                    """)
            }
            let fault: EvidenceFault = hasBody ? .body : .bodyMissing
            let faults = try await world.evidenceFaults()
            #expect(faults.count == 1)
            #expect(faults.first?.hasSuffix(fault.rawValue) == true, "\(faults)")
        }
    }

    @Test func `finds records whose bodies or keys were taken away`() async throws {
        for change in [
            "DELETE FROM countersign.evidence_body WHERE subject_id IN "
                + "(SELECT subject_id FROM countersign.customer)",
            "UPDATE countersign.subject_key SET wrapped = NULL",
        ] {
            try await DecisionWorld.with(connections: 4) { world in
                _ = try await world.ask(try Fixtures.transfer(), try await world.customer())
                try await world.test.run { connection throws(PostgresError) in
                    try connection.run(
                        script: """
                            ALTER TABLE countersign.evidence_body DISABLE TRIGGER ALL;
                            ALTER TABLE countersign.subject_key DISABLE TRIGGER ALL;
                            \(change)
                            """)
                }
                let faults = try await world.evidenceFaults()
                // The import of the payee, the action, and its first question.
                #expect(faults.count == 3, "\(change)")
                #expect(
                    faults.allSatisfy { $0.hasSuffix(EvidenceFault.bodyMissing.rawValue) },
                    "\(faults)")
            }
        }
    }
}

@Suite struct `What a migration tells` {
    private func versions(_ world: PeopleWorld) async throws -> [JSON?] {
        try await world.bodies(.policyPublished).map { $0["version"] }
    }

    @Test func `in production is its own policy alone, and that another one is in force`()
        async throws
    {
        try await PeopleWorld.with { world in
            _ = try await Migrator.state(isDevelopment: false, of: world.test.superuser)
            let migrating = await world.migrating()
            try await migrating.recordInstallation()
            #expect(try await migrating.recordPolicies() == [])
            try await world.test.policy(["{currencies,EUR,single_max}": "\"90000.00\""])
            #expect(try await migrating.recordPolicies() == [2])
            #expect(try await versions(world) == [.integer(1)])
            let told = try await world.bodies(.policyPublished)
            #expect(told.first?["active_from"] == "1970-01-01T00:00:00Z")
            #expect(try await world.audit().faults == [])
        }
    }

    @Test func `in development is every version once, also of the same document`() async throws {
        try await PeopleWorld.with { world in
            let migrating = await world.migrating()
            try await migrating.recordInstallation()
            for _ in 0..<2 {
                try await world.test.policy([:])
                #expect(try await migrating.recordPolicies() == [])
                #expect(try await migrating.recordPolicies() == [])
            }
            #expect(try await versions(world) == [.integer(1), .integer(2), .integer(3)])
            // Who published them does not count afterwards, when development has ended.
            _ = try await Migrator.state(isDevelopment: false, of: world.test.superuser)
            try await migrating.recordInstallation()
            try await world.test.policy([:])
            #expect(try await migrating.recordPolicies() == [4])
            #expect(try await world.audit().faults == [])
        }
    }

    @Test func `never again is development once it has been production`() async throws {
        try await PeopleWorld.with { world in
            let migrating = await world.migrating()
            for isDevelopment in [true, true, false, false, true] {
                _ = try await Migrator.state(
                    isDevelopment: isDevelopment, of: world.test.superuser)
                try await migrating.recordInstallation()
            }
            let told = try await world.bodies(.installationStated).map { $0["installation"]?.text }
            #expect(told == ["development", "production"])
            let subject = EvidenceSealer.serviceSubject
            let forged = world.sealer.seal(
                [ServiceEvidence.stated(isDevelopment: true)], subject: subject,
                wrappedKey: world.keyEncryption.wrapFreshKey(for: subject, entropy: .openSSL),
                at: Fixtures.at, heads: ChainHeads())
            let json = JSON.array(try #require(forged).map(\.json)).encoded
            let rows = try await world.test.sql(
                "SELECT countersign.tell_installation('\(String(decoding: json, as: UTF8.self))')"
                    + " AS status")
            let status: String? = try rows.first?["status"]
            #expect(status == "lost_race")
            for role in [TestDatabase.Role.service, .op, .auditor] {
                let database = await world.test.open(as: role, size: 1)
                await #expect(throws: StoreFailure.internalFailure(code: "42501"), "\(role)") {
                    try await database.run { connection throws(PostgresError) in
                        try connection.run(script: "SELECT countersign.tell_installation('[]')")
                    }
                }
            }
        }
    }
}
