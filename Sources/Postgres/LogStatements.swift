// The statements of the log, embedded from sql/queries.

extension Statement {
    static let leadLog = Statement("lead_log", .read, PackageResources.lead_log_sql)
    static let publishNewestLog = Statement(
        "publish_newest_log", .write, PackageResources.publish_newest_log_sql)
    static let giveUpLog = Statement("give_up_log", .read, PackageResources.give_up_log_sql)
    static let leadsLog = Statement("leads_log", .read, PackageResources.leads_log_sql)
    static let openLog = Statement("open_log", .write, PackageResources.open_log_sql)
    static let oneSnapshot = Statement("one_snapshot", .read, PackageResources.one_snapshot_sql)
    static let patientTransaction = Statement(
        "patient_transaction", .read, PackageResources.patient_transaction_sql)
    static let lockLog = Statement("lock_log", .write, PackageResources.lock_log_sql)
    static let logBatch = Statement("log_batch", .read, PackageResources.log_batch_sql)
    static let advanceLog = Statement("advance_log", .write, PackageResources.advance_log_sql)
    static let logKeyIsKnown = Statement(
        "log_key_is_known", .read, PackageResources.log_key_is_known_sql)
    static let announceLogKey = Statement(
        "announce_log_key", .write, PackageResources.announce_log_key_sql)
    static let promiseKeyIsKnown = Statement(
        "promise_key_is_known", .read, PackageResources.promise_key_is_known_sql)
    static let announcePromiseKey = Statement(
        "announce_promise_key", .write, PackageResources.announce_promise_key_sql)
    static let promisedRecord = Statement(
        "promised_record", .read, PackageResources.promised_record_sql)
    static let publishLog = Statement("publish_log", .write, PackageResources.publish_log_sql)
    static let publishedCheckpoint = Statement(
        "published_checkpoint", .read, PackageResources.published_checkpoint_sql)
    static let shownCheckpoint = Statement(
        "shown_checkpoint", .write, PackageResources.shown_checkpoint_sql)
    static let recordQuorum = Statement("record_quorum", .write, PackageResources.record_quorum_sql)
    static let checkpointOfSize = Statement(
        "checkpoint_of_size", .read, PackageResources.checkpoint_of_size_sql)
    static let publishedCheckpointOfSize = Statement(
        "published_checkpoint_of_size", .read, PackageResources.published_checkpoint_of_size_sql)
    static let logTiles = Statement("log_tiles", .read, PackageResources.log_tiles_sql)
    static let logEntries = Statement("log_entries", .read, PackageResources.log_entries_sql)
    static let logPositions = Statement("log_positions", .read, PackageResources.log_positions_sql)
    static let logCheckpoints = Statement(
        "log_checkpoints", .read, PackageResources.log_checkpoints_sql)
    static let checkpointBefore = Statement(
        "checkpoint_before", .read, PackageResources.checkpoint_before_sql)
    static let bundleRecords = Statement(
        "bundle_records", .read, PackageResources.bundle_records_sql)
    static let bundleCheckpoint = Statement(
        "bundle_checkpoint", .read, PackageResources.bundle_checkpoint_sql)
    static let logState = Statement("log_state", .read, PackageResources.log_state_sql)
    static let auditCompleteness = Statement(
        "audit_completeness", .read, PackageResources.audit_completeness_sql)
    static let publishedNote = Statement(
        "published_note", .read, PackageResources.published_note_sql)
    static let recordCosignature = Statement(
        "record_cosignature", .write, PackageResources.record_cosignature_sql)
    static let recordTimestamp = Statement(
        "record_timestamp", .write, PackageResources.record_timestamp_sql)
    static let logTimestamped = Statement(
        "log_timestamped", .read, PackageResources.log_timestamped_sql)
    static let noteRewound = Statement("note_rewound", .write, PackageResources.note_rewound_sql)
    static let logStrays = Statement("log_strays", .read, PackageResources.log_strays_sql)
    static let logWaiting = Statement("log_waiting", .read, PackageResources.log_waiting_sql)
    static let logIsDue = Statement("log_is_due", .read, PackageResources.log_is_due_sql)
    static let logCosignatures = Statement(
        "log_cosignatures", .read, PackageResources.log_cosignatures_sql)
    static let logTimestamps = Statement(
        "log_timestamps", .read, PackageResources.log_timestamps_sql)
    static let logEntriesDetached = Statement(
        "log_entries_detached", .read, PackageResources.log_entries_detached_sql)
    static let logKeys = Statement("log_keys", .read, PackageResources.log_keys_sql)
}
