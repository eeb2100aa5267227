import Countersign
import Crypto
import Evidence
import Postgres
import TestSupport
import Testing

/// A log on a database of its own, whose records are written as the service writes them.
struct LogWorld: Sendable {
    static let origin = "bank.example/log"

    let test: TestDatabase
    let key: Ed25519PrivateKey
    private let readings: TestReadings

    static func with<Result>(_ body: (LogWorld) async throws -> Result) async throws -> Result {
        try await withDatabase { test in try await body(try LogWorld(test)) }
    }

    /// A log of 520 records, in batches that end at 100, 400 and 520.
    static func withThreeBatches(_ body: (LogWorld) async throws -> Void) async throws {
        try await with { world in
            let log = await world.instance()
            _ = try await log.lead()
            let first = try await world.count("SELECT count(*) FROM countersign.evidence")
            for count in [100 - first, 300, 120] {
                try await world.record(count, together: true)
                try await world.sequence(log)
            }
            try await body(world)
        }
    }

    private init(_ test: TestDatabase) throws {
        self.test = test
        key = try .generate()
        readings = try TestReadings(of: Self.origin)
    }

    var sealer: EvidenceSealer { readings.sealer }

    var verifierKey: VerifierKey { Self.verifierKey(key) }

    static func verifierKey(_ key: Ed25519PrivateKey) -> VerifierKey {
        VerifierKey(name: origin, kind: .ed25519, publicKey: key.publicKey)
    }

    /// A sequencer with a connection of its own, as an instance has one.
    func instance(demandsLead: Bool = true) async -> PostgresLog {
        PostgresLog(
            database: await test.open(size: 1, adjust: { $0.statementDeadline = .seconds(60) }),
            origin: Self.origin, demandsLead: demandsLead)
    }

    var signer: @Sendable (Checkpoint) -> SignedNote? { Self.signer(key) }

    /// Signs as this log with any key.
    static func signer(_ key: Ed25519PrivateKey) -> @Sendable (Checkpoint) -> SignedNote? {
        let verifierKey = verifierKey(key)
        return { checkpoint in
            do {
                return try SignedNote.note(signing: checkpoint.text, as: verifierKey) { text in
                    try key.sign(text)
                }
            } catch { return nil }
        }
    }

    /// The keys of the log, as the service tells them.
    func keys() async throws -> AnnouncedKeys {
        let database = await test.open(size: 1)
        let key = try #require(KeyEncryptionKey(Fixtures.bytes32(3)))
        return AnnouncedKeys(
            database: database,
            service: ServiceSubject(
                database: database, sealer: sealer, keyEncryption: key, entropy: .openSSL))
    }

    /// Records so many looks at evidence, a transaction each or all in one.
    func record(_ count: Int, together: Bool = false) async throws {
        if together { return try await readings.record(count, in: test) }
        for _ in 0..<count { try await readings.record(1, in: test) }
    }

    /// Records of the service itself, as the database's functions take them.
    func json(_ drafts: [EvidenceDraft]) async throws -> String {
        try await readings.json(drafts, in: test)
    }

    /// A statement that records one.
    func statement() async throws -> String { try await readings.statement(1, in: test) }

    /// Does what a superuser can do to the log's tables when no trigger and no foreign key is in the way.
    func tamper(_ sql: String) async throws {
        try await test.run { connection throws(PostgresError) in
            try connection.run(
                script: """
                    SET session_replication_role = replica;
                    SET search_path = countersign;
                    DO $$ DECLARE t text; BEGIN
                        FOREACH t IN ARRAY ARRAY['log_state', 'log_leaf', 'log_tile', 'log_checkpoint',
                            'log_cosignature', 'log_timestamp', 'log_chain', 'log_key'] LOOP
                            EXECUTE format('ALTER TABLE %I DISABLE TRIGGER ALL', t);
                        END LOOP;
                    END $$;
                    \(sql)
                    """)
        }
    }

    /// Records one in a transaction that stays open while `body` runs, and is committed then.
    func whileOneIsOpen(_ body: () async throws -> Void) async throws {
        let late = try await statement()
        let blocker = try await Blocker(test)
        let other = await patient()
        async let held: Void = {
            try await other.run { connection throws(PostgresError) in
                try connection.run(
                    script: "BEGIN; \(late); SELECT pg_advisory_xact_lock(1); COMMIT")
            }
        }()
        try await blocker.waiters(1)
        try await body()
        try await blocker.release()
        try await held
    }

    /// Keeps a snapshot of a transaction that has written nothing while `body` runs. It sees the same afterwards.
    func whileASnapshotIsOpen(_ body: () async throws -> Void) async throws {
        let blocker = try await Blocker(test, key: "2")
        let other = await patient()
        async let held: Void = {
            try await other.run { connection throws(PostgresError) in
                try connection.run(
                    script: """
                        BEGIN ISOLATION LEVEL REPEATABLE READ;
                        DO $$ DECLARE seen bigint := (SELECT count(*) FROM countersign.evidence); BEGIN
                            PERFORM pg_advisory_xact_lock(2);
                            IF seen <> (SELECT count(*) FROM countersign.evidence) THEN
                                RAISE EXCEPTION 'the snapshot has moved';
                            END IF;
                        END $$;
                        COMMIT
                        """)
            }
        }()
        try await eventually("the snapshot is held") {
            try await count(
                """
                SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted AND objid = 2
                   AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
                """) == 1
        }
        try await body()
        try await blocker.release()
        try await held
    }

    /// A session in which a statement may take as long as the longest fault run.
    private func patient() async -> Database {
        await test.open(as: nil, size: 1, adjust: { $0.statementDeadline = .seconds(7200) })
    }

    /// Gives positions to what is one batch, signed.
    func advance(_ log: PostgresLog) async throws(StoreFailure) -> PostgresLog.Batch? {
        try await log.advance(keys: [verifierKey], signer)
    }

    /// Gives positions to all there is, publishes, and returns the size.
    @discardableResult
    func sequence(_ log: PostgresLog) async throws -> Int64? {
        guard let batch = try await advance(log) else { return nil }
        try await log.publish(batch)
        return batch.size
    }

    /// Everything that a check of the whole log finds, and how many records no position has.
    func faults() async throws -> [String] {
        let audit = PostgresLogAudit(database: await test.open(as: .auditor, size: 1))
        var faults: [String] = []
        do {
            let size = try await audit.check(nil, keys: [verifierKey])
            _ = try await audit.checkTestimony(witnesses: nil, anchors: [], policies: [])
            if size > 0 {
                let found = try await audit.completeness(of: size)
                if found != .init(unsequenced: 0, missing: 0, altered: 0) {
                    faults.append("\(found)")
                }
                faults += try await audit.strays(limit: 100).map { "stray \($0.text)" }
            }
        } catch let fault as LogFault {
            faults.append("\(fault.position): \(fault.what)")
        }
        return faults
    }

    /// One number out of the database, as the superuser.
    func count(_ expression: String) async throws -> Int {
        let rows = try await test.sql("SELECT (\(expression))::bigint AS value")
        let row = try #require(rows.first)
        return try row["value"]
    }
}
