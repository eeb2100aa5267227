import Countersign
import Crypto
import Evidence
import Postgres
import TestSupport
import Testing

/// What the operator of the database can write with the functions that are the operator's to call.
@Suite struct `Evidence that the operator writes` {
    /// A bank with two customers, whose operator seals what he likes: as one who has the service's key could.
    private struct Forging {
        let world: PeopleWorld
        let database: Database
        let customer: ID<Subject>
        let other: ID<Subject>

        /// One call as the operator; its status.
        func call(_ function: String) async throws(StoreFailure) -> String {
            try await database.query(.write("SELECT countersign.\(function) AS status")) {
                rows throws(PostgresError) in
                guard let row = try rows.single() else { throw .malformedColumn("status") }
                return try row["status"]
            }
        }

        /// A record, as the database's functions take it.
        func sealed(_ draft: EvidenceDraft, _ subject: ID<Subject>) async throws -> JSON {
            let rows = try await world.test.sql(
                """
                SELECT wrapped, clock_timestamp() AS now FROM countersign.subject_key
                 WHERE subject_id = '\(subject.text)'
                """)
            let row = try #require(rows.first)
            let records = world.sealer.seal(
                [draft], subject: subject, wrappedKey: try row["wrapped"], at: try row["now"],
                heads: ChainHeads())
            return try #require(records?.first).json
        }

        /// What must stand beside no other record: of the service, of another customer and of an action.
        func strangers() async throws -> [JSON] {
            [
                try await sealed(
                    EvidenceDraft(.personKeyRevoked, outcome: "revoked", body: [:]),
                    EvidenceSealer.serviceSubject),
                try await sealed(EvidenceDraft(.recovery, outcome: "recovered", body: [:]), other),
                try await sealed(
                    EvidenceDraft(
                        .actionReleased, action: ID(rawValue: 7), outcome: "ready", body: [:]),
                    customer),
            ]
        }

        /// Every way in which the right record is not the only thing that is told.
        func forgeries(_ right: JSON) async throws -> [JSON] {
            let strangers = try await strangers()
            var forged: [JSON] = [.array([]), .array([right] + strangers)]
            for stranger in strangers {
                forged.append(.array([right, stranger]))
                // The columns say one thing and the leaf another.
                var lying = right
                for name in ["leaf", "body_commit", "salt", "nonce", "ciphertext"] {
                    lying = lying.setting(name, to: stranger[name])
                }
                forged.append(.array([lying]))
            }
            for chain in ["action_id", "credential_id"] {
                forged.append(
                    .array([right.setting(chain, to: .string(ID<Action>(rawValue: 7).text))]))
            }
            return forged
        }

        /// Expects that `function`, given evidence, takes the right record alone.
        func expect(
            _ status: String, of right: JSON, _ function: (String) -> String
        ) async throws {
            let before = try await world.count("SELECT count(*) FROM countersign.evidence")
            for forged in try await forgeries(right) {
                let evidence = String(decoding: forged.encoded, as: UTF8.self)
                await #expect(throws: StoreFailure.internalFailure(code: "CS005"), "\(evidence)") {
                    _ = try await call(function(evidence))
                }
            }
            #expect(try await world.count("SELECT count(*) FROM countersign.evidence") == before)
            let evidence = String(decoding: JSON.array([right]).encoded, as: UTF8.self)
            #expect(try await call(function(evidence)) == status)
        }
    }

    private func forging(_ body: (Forging) async throws -> Void) async throws {
        try await PeopleWorld.with { world in
            var subjects: [ID<Subject>] = []
            for name in ["c-1", "c-2"] {
                _ = try await world.administration.importPayee(
                    Fixtures.payee(), alias: DisplayText("", .payeeAlias), of: CustomerID(name))
                let rows = try await world.test.sql(
                    "SELECT subject_id FROM countersign.customer WHERE customer_id = '\(name)'")
                subjects.append(try #require(rows.first)["subject_id"])
            }
            // So that the service has a key for what it tells of itself.
            _ = try await world.client("core", .backend)
            try await body(
                Forging(
                    world: world, database: await world.test.open(as: .op, size: 1),
                    customer: subjects[0], other: subjects[1]))
        }
    }

    @Test func `with a payee is its import and nothing beside it`() async throws {
        try await forging { forging in
            let right = try await forging.sealed(
                EvidenceDraft(.payeeImported, outcome: "imported", body: [:]), forging.customer)
            try await forging.expect("imported", of: right) { evidence in
                """
                import_payee('\(forging.customer.text)', gen_random_uuid(), 'bban:forged', 'Zoe', '',
                    clock_timestamp(), '\(evidence)', NULL, NULL)
                """
            }
        }
    }

    @Test func `with a client is that it was added and nothing beside it`() async throws {
        try await forging { forging in
            let right = try await forging.sealed(
                EvidenceDraft(.clientAdded, outcome: "added", body: [:]),
                EvidenceSealer.serviceSubject)
            try await forging.expect("added", of: right) { evidence in
                """
                add_client(gen_random_uuid(), 'forged', 'backend', sha256('forged'), NULL,
                    '\(evidence)')
                """
            }
        }
    }

    @Test func `with the end of a key is that end and nothing beside it`() async throws {
        try await forging { forging in
            let anna = try await forging.world.person("anna")
            let right = try await forging.sealed(
                EvidenceDraft(.personKeyRevoked, outcome: "revoked", body: [:]),
                EvidenceSealer.serviceSubject)
            try await forging.expect("revoked", of: right) { evidence in
                """
                revoke_person_key('\(anna.recorded.id.text)', NULL, clock_timestamp(),
                    '\(evidence)')
                """
            }
        }
    }

    @Test func `with a founding is that it was opened and nothing beside it`() async throws {
        try await forging { forging in
            let right = try await forging.sealed(
                EvidenceDraft(.personFoundingReopened, outcome: "reopened", body: [:]),
                EvidenceSealer.serviceSubject)
            try await forging.expect("reopened", of: right) { evidence in
                "reopen_founding('officer', '{}', clock_timestamp(), '\(evidence)')"
            }
        }
    }

    /// A function that is granted later is looked at here, too.
    @Test func `is that of these functions and of no other`() async throws {
        try await PeopleWorld.with { world in
            let rows = try await world.test.sql(
                """
                SELECT p.proname::text AS name FROM pg_proc p
                 WHERE p.pronamespace = 'countersign'::regnamespace AND p.prosecdef
                   AND has_function_privilege('countersign_operator', p.oid, 'EXECUTE')
                   AND EXISTS (SELECT FROM unnest(p.proargnames) AS a (name) WHERE a.name LIKE '%evidence%')
                 ORDER BY 1
                """)
            let names: [String] = try rows.map { try $0["name"] }
            #expect(
                names == [
                    "add_client", "detach_evidence_month", "import_payee", "record_event",
                    "reopen_founding",
                    "revoke_person_key",
                ])
        }
    }
}
