import Countersign
import Foundation

/// Structured events, one JSON object a line, on standard error.
///
/// An event has a name from a closed list and typed fields. There is no free text, so neither a
/// customer's data nor a caller's bytes can get into a log line by accident.
enum Log {
    private static let sink = LogSink()

    /// Writes one event; a log that cannot be written stops nothing.
    static func event(_ name: LogEvent, _ fields: LogField...) { event(name, fields) }

    static func event(_ name: LogEvent, _ fields: [LogField]) {
        sink.write(line(name, fields, at: systemTime()))
    }

    /// One line without its line feed.
    static func line(_ name: LogEvent, _ fields: [LogField], at instant: Instant) -> String {
        let members =
            [
                JSON.Member("at", .string(instant.text)),
                JSON.Member("level", .string(name.level.rawValue)),
                JSON.Member("event", .string(name.rawValue)),
            ] + fields.map(\.member)
        return String(decoding: JSON.object(members).encoded, as: UTF8.self)
    }
}

/// What an operator can be told. The names are stable: alarms are written against them.
enum LogEvent: String, CaseIterable, Sendable {
    case serviceStarted = "service.started"
    case serviceDraining = "service.draining"
    case serviceStopped = "service.stopped"
    case certificatesReloaded = "certificates.reloaded"
    case certificatesRefused = "certificates.refused"
    case requestFailed = "request.failed"
    case databaseUnavailable = "database.unavailable"
    /// No standby confirms commits: decisions are lost with the disk of the one server.
    case databaseAlone = "database.alone"
    case deliveryRetried = "delivery.retried"
    case deliveryUnknown = "delivery.unknown"
    /// The receiver of events did not take a batch; it is sent again.
    case eventsRetried = "events.retried"
    /// A batch of events could not be read or settled; tried again.
    case eventsFailed = "events.failed"
    case sweepFailed = "sweep.failed"
    /// A round of the log's sequencer failed; tried again.
    case logFailed = "log.failed"
    /// What signs checkpoints made no valid signature: nothing gets a position until it does.
    case logUnsigned = "log.unsigned"
    /// The log is another than is held of it outside: nothing is signed until a person has looked.
    case logMismatch = "log.mismatch"
    /// What is held of the log outside cannot be read: nothing is signed until it can be.
    case logAnchorUnread = "log.anchor_unread"
    case logMirrorFailed = "log.mirror_failed"
    /// Entries of a month that was detached before this mirror began are not in it.
    case logMirrorGap = "log.mirror_gap"
    /// A witness did not cosign; it is asked again.
    case logWitnessFailed = "log.witness_failed"
    /// A witness has not cosigned for minutes.
    case logWitnessSilent = "log.witness_silent"
    /// A witness has seen another log than this one: nothing is signed until a person has looked.
    case logWitnessContradicts = "log.witness_contradicts"
    /// No checkpoint has had the cosignatures that the policy asks for, for minutes.
    case logQuorumMissing = "log.quorum_missing"
    /// The database gave nothing to show to witnesses; tried again.
    case logWitnessesUnasked = "log.witnesses_unasked"
    /// A decision was answered without a promise of its record, since OpenSSL has failed.
    case promiseUnsigned = "promise.unsigned"
    /// That a checkpoint has its quorum was not noted: an older one is shown meanwhile.
    case logQuorumUnrecorded = "log.quorum_unrecorded"
    /// An authority gave no timestamp that proves anything; it is asked again.
    case logTimestampFailed = "log.timestamp_failed"
    /// An authority has given none for minutes.
    case logTimestampsSilent = "log.timestamps_silent"
    /// The database gave nothing to stamp; tried again.
    case logTimestampsUnasked = "log.timestamps_unasked"
    /// Decisions could not be evaluated under a shadow; tried again.
    case shadowsFailed = "shadows.failed"
    /// The metadata of authenticators is due for its next edition: no passkey meets a profile by it.
    case metadataLapsed = "metadata.lapsed"
    /// Google's list of revocations is missing or too old: no attested Android key is enrolled.
    case revocationsLapsed = "revocations.lapsed"

    /// How soon a person should look.
    enum Level: String, Sendable { case info, warning, alarm }

    var level: Level {
        switch self {
        case .serviceStarted, .serviceDraining, .serviceStopped, .certificatesReloaded: .info
        case .certificatesRefused, .requestFailed, .databaseUnavailable, .databaseAlone,
            .deliveryRetried, .eventsRetried, .eventsFailed, .sweepFailed, .shadowsFailed,
            .metadataLapsed, .logFailed, .logMirrorFailed, .logMirrorGap, .logWitnessFailed,
            .logWitnessesUnasked, .logQuorumUnrecorded, .logTimestampFailed, .logTimestampsUnasked,
            .revocationsLapsed:
            .warning
        case .deliveryUnknown, .promiseUnsigned, .logUnsigned, .logMismatch, .logAnchorUnread,
            .logWitnessSilent,
            .logWitnessContradicts, .logQuorumMissing, .logTimestampsSilent:
            .alarm
        }
    }
}

/// One field of an event. There are four types of value, none of them free text.
struct LogField: Sendable {
    let member: JSON.Member

    /// Where an operator reads what to do when the log is another than it was.
    static let logRunbook = code("runbook", "docs/operations.md#the-log-is-another-than-it-was")

    /// An identifier of ours.
    static func id<Entity>(_ name: StaticString, _ id: ID<Entity>) -> LogField {
        LogField(member: .init(name.description, .string(id.text)))
    }

    /// A word of the program: an enum's name, an HTTP route, an SQLSTATE.
    static func code(_ name: StaticString, _ code: StaticString) -> LogField {
        LogField(member: .init(name.description, .string(code.description)))
    }

    /// A word that came from outside the program's text, such as a caller's request ID or an SQLSTATE.
    ///
    /// Anything but 1 to 64 of `A–Z a–z 0–9 . _ : / -` becomes `?`.
    static func code(_ name: StaticString, checking word: String) -> LogField {
        let isWord =
            (1...64).contains(word.utf8.count)
            && word.utf8.allSatisfy { unit in
                switch unit {
                case 0x2D...0x3A, 0x41...0x5A, 0x5F, 0x61...0x7A: true
                default: false
                }
            }
        return LogField(member: .init(name.description, .string(isWord ? word : "?")))
    }

    /// What the database could not do: a word of ours, an SQLSTATE or a constraint.
    static func failure(_ name: StaticString, _ failure: StoreFailure) -> LogField {
        switch failure {
        case .unavailable: code(name, "unavailable")
        case .outcomeUnknown: code(name, "outcome_unknown")
        case .internalFailure(let word): code(name, checking: word)
        }
    }

    static func count(_ name: StaticString, _ count: Int) -> LogField {
        LogField(member: .init(name.description, .integer(Int64(count))))
    }

    /// A length of time; the unit ends the field's name: `duration_ms`.
    static func milliseconds(_ name: StaticString, _ duration: Duration) -> LogField {
        let (seconds, attoseconds) = duration.components
        let milliseconds = seconds * 1000 + attoseconds / 1_000_000_000_000_000
        return LogField(member: .init(name.description + "_ms", .integer(milliseconds)))
    }
}

/// Keeps lines of several threads apart.
private struct LogSink: Sendable {
    private let lock = NSLock()

    func write(_ line: String) {
        lock.withLock {
            // Standard error gone means that nobody listens; the service goes on.
            do { try FileHandle.standardError.write(contentsOf: Data((line + "\n").utf8)) } catch {}
        }
    }
}
