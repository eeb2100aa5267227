import Countersign
import Evidence
import HTTP
import Postgres

/// What keeps the log, put together from the configuration.
struct LogService: Sendable {
    let sequencer: LogSequencer
    let waiting: LogWaiting
    let mirror: LogMirrorKeeper?
    let witnesses: LogWitnesses?
    let timestamps: LogTimestamps?

    /// Keeps the log until the task is cancelled.
    func run() async {
        await withTaskGroup { group in
            group.addTask { await sequencer.run() }
            group.addTask { await waiting.run() }
            if let mirror { group.addTask { await mirror.run() } }
            if let witnesses { group.addTask { await witnesses.run() } }
            if let timestamps { group.addTask { await timestamps.run() } }
        }
    }
}

extension Configuration {
    /// How long the first batch may take, which holds all the evidence there is.
    private static let batchDeadline = Duration.seconds(900)
    /// Until a log that was another than it was is compared again.
    private static let refusedPause = Duration.seconds(10)

    /// - Parameters:
    ///   - database: The service's pool, for reading.
    ///   - keys: Tells of the keys of the log.
    ///   - announcePromiseKey: Tells of the key of promises.
    ///   - metrics: Where its numbers are shown.
    /// - Returns: `nil` when nothing signs, which only development allows.
    /// - Throws: ``ConfigurationError``, or that libcurl cannot be started.
    func makeLog(
        database: Postgres.Database, keys: AnnouncedKeys,
        announce announcePromiseKey: @escaping @Sendable () async throws(StoreFailure) -> Void,
        metrics: Metrics
    ) throws -> LogService? {
        guard let signer = try logSigner(), let origin = evidence.origin,
            let url = self.database.url
        else { return nil }
        try checkSignCommands()
        guard VerifierKey.isName(origin) else {
            throw ConfigurationError(
                "evidence.origin names the log's key: it has no spaces and no plus sign")
        }
        var options = try Self.databaseOptions(url, "database.url", size: 1)
        options.statementDeadline = Self.batchDeadline
        options.applicationName = "countersign-log"
        let numbers = LogMetrics(metrics)
        let mirror = log.mirror.map {
            LogMirror(
                folder: MirrorFolder($0.text), reader: PostgresLogReader(database: database),
                failpoints: failpoint.map(Failpoints.init))
        }
        let verifierKeys = signer.keys.map(\.verifierKey.text)
        let lead = LogLead()
        let witnesses = try makeWitnesses(
            signer: signer, origin: origin, database: database, lead: lead, metrics: metrics)
        return LogService(
            sequencer: LogSequencer(
                log: PostgresLog(
                    database: Postgres.Database(options), origin: origin,
                    demandsLead: failpoint?.isUnled != true),
                signer: signer,
                origin: origin,
                anchors: mirror.map { mirror in
                    [
                        LogAnchor(name: "mirror") { () async throws(LogAnchor.Unread) in
                            do throws(LogMirror.Failure) { return try await mirror.newest() } catch
                            {
                                throw LogAnchor.Unread(fields: error.fields)
                            }
                        }
                    ]
                } ?? [],
                witnesses: witnesses, lead: lead,
                announce: { () async throws(StoreFailure) in
                    try await keys.announce(verifierKeys, for: .checkpoints)
                    try await announcePromiseKey()
                },
                metrics: numbers, tick: .milliseconds(log.tickMilliseconds),
                failpoints: failpoint.map(Failpoints.init), refusedPause: Self.refusedPause),
            waiting: LogWaiting(
                reader: PostgresLogReader(database: database), metrics: numbers),
            mirror: mirror.map { LogMirrorKeeper(mirror: $0, metrics: numbers) },
            witnesses: witnesses,
            timestamps: try makeTimestamps(
                database: database, witnesses: witnesses?.standing, lead: lead, metrics: metrics))
    }
}
