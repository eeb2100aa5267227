package import Countersign
import FoundationEssentials

extension JSON {
    /// Reads JSON that was checked when it was recorded: bodies, policies, a client's signed data.
    ///
    /// What comes from outside is read by stricter readers first; these bytes have been through them.
    package init?(recorded bytes: Bytes) {
        do {
            self = try JSONDecoder().decode(JSON.self, from: Data(bytes))
        } catch {
            // Whoever asked says what it means that the bytes are no JSON.
            return nil
        }
    }

    /// A member that is a time.
    func instant(_ name: String) -> Instant? {
        self[name]?.text.flatMap { Instant(text: $0) }
    }
}
