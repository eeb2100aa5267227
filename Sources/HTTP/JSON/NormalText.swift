package import Countersign
import Foundation

extension DisplayText {
    /// Takes a text from outside: normalised to NFC, then judged as it will be shown and signed.
    ///
    /// The domain cannot normalise; this is the one place that does.
    ///
    /// - Throws: What the initialiser of ``DisplayText`` throws.
    package init(normalizing text: String, _ field: Field) throws(InvalidValue) {
        // Ordering a long run of combining marks takes quadratic time, so length is judged before.
        // NFC makes at most four scalars into one (UAX #15 §9.1), so this refuses nothing else.
        guard text.unicodeScalars.count <= 4 * field.lengths.upperBound else {
            throw DisplayText.tooLong(field)
        }
        try self.init(text.precomposedStringWithCanonicalMapping, field)
    }
}

extension JSON {
    /// The same object with one of its texts normalised to NFC, for documents that the domain reads itself.
    /// One that is too long stays as it is, and is refused for its length.
    func normalizing(_ name: String, _ field: DisplayText.Field) -> JSON {
        guard case .object(let members) = self else { return self }
        return .object(
            members.map { member in
                guard member.name == name, case .string(let text) = member.value,
                    text.unicodeScalars.count <= 4 * field.lengths.upperBound
                else { return member }
                return Member(name, .string(text.precomposedStringWithCanonicalMapping))
            })
    }
}
