/// What is wrong with a log, and from which position on.
package struct LogFault: Error, Hashable, Sendable {
    /// The first position that is another than it was, as far as that can be told.
    package let position: Int64
    package let what: What

    /// The raw value is what `evidence fsck` prints.
    package enum What: String, Sendable {
        case gap = "there is no row for this position"
        case recordMissing = "its record is gone"
        case record = "its record is not what its leaf says"
        case leafHash = "its record has another leaf than was given this position"
        case order = "its record was not written where it stands"
        case tile = "a stored tile has other hashes than the leaves"
        case root = "the root of a checkpoint is not that of the leaves before it"
        case note = "a checkpoint does not say what its columns say"
        case signature = "a checkpoint is not signed by a key of the log"
        case checkpoint = "a checkpoint is gone, or ends where no batch ended"
        case edge = "the state of the log is not that of its leaves"
        case link = "a checkpoint is not the one that was written in this place"
        case key = "the keys of the log are not those that its records tell"
        case cosignature = "a cosignature of this checkpoint was changed, or is gone or was put in"
        case timestamp = "a timestamp of this checkpoint was changed, or is gone or was put in"
        case beyond = "there are rows after the end of the log"
    }

    package init(_ what: What, at position: Int64) {
        self.what = what
        self.position = position
    }
}
