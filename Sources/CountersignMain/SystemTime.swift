import Countersign
import Foundation

/// This machine's time of day. Decisions never use it: theirs is the database's.
func systemTime() -> Instant {
    Instant(milliseconds: Int64((Date().timeIntervalSince1970 * 1000).rounded(.down)))
}
