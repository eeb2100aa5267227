import Countersign
import Crypto
import Foundation

/// The officers' keys that core banking has on record; never taken from an order.
struct OfficerKeys: Sendable {
    /// A key and whose it is.
    struct Entry: Sendable {
        let person: String
        let key: PublicKey
    }

    private let entries: [ID<PersonKey>: Entry]

    /// Reads a JSON list of `{"person", "key_id", "public_key"}`, the key in base64 of DER SPKI; `nil` for
    /// anything else, and for a list that names a key twice.
    init?(_ bytes: Bytes) {
        guard case .array(let list)? = SignedJSON.decode(bytes) else { return nil }
        var entries: [ID<PersonKey>: Entry] = [:]
        for json in list {
            guard let person = json["person"]?.text, !person.isEmpty,
                let id = json["key_id"]?.text.flatMap({ ID<PersonKey>($0) }),
                let spki = json["public_key"]?.text.flatMap({ Base64.decode($0) })
            else { return nil }
            do throws(KeyError) {
                let entry = Entry(person: person, key: try PublicKey(spki: spki))
                guard entries.updateValue(entry, forKey: id) == nil else { return nil }
            } catch {
                return nil
            }
        }
        self.entries = entries
    }

    /// Reads a file; see ``init(_:)-(Bytes)``.
    init?(path: String) {
        guard let data = FileManager.default.contents(atPath: path) else { return nil }
        self.init(Bytes(data))
    }

    /// The key of that ID.
    subscript(id: ID<PersonKey>) -> Entry? { entries[id] }
}
