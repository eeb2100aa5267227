/// A text that a customer is shown before signing, and that the bank then executes.
///
/// It holds no character that is invisible, moves other characters or ends a line: two texts that
/// look alike to such a degree would be one text to the customer and two to the bank.
///
/// The text must be in Unicode Normalization Form C. Normalising needs Foundation, which the domain
/// does not import, so whoever takes the text from outside (`HTTP`) normalises it first.
package struct DisplayText: Sendable {
    package let text: String

    /// Where the text is shown, which decides how long it may be.
    package enum Field: Hashable, Sendable {
        case payeeName, payeeAlias, reference, endToEndID
        /// What a customer calls a credential, and why somebody cancels or revokes.
        case credentialLabel, reason
        /// Why two people end a hold.
        case actReason
        /// What a risk team calls a draft that it evaluates.
        case shadowLabel

        /// In Unicode scalars.
        package var lengths: ClosedRange<Int> {
            switch self {
            case .payeeName, .reason: 1...140
            case .payeeAlias, .reference: 0...140
            case .endToEndID: 0...35
            case .credentialLabel: 0...64
            case .actReason: 1...500
            case .shadowLabel: 1...64
            }
        }
    }

    /// Takes the text exactly as it is; nothing is trimmed or replaced.
    ///
    /// - Throws: `text_empty`, `text_too_long`, `text_forbidden_character`,
    ///   `text_surrounding_space` or `text_leading_mark`.
    package init(_ text: String, _ field: Field) throws(InvalidValue) {
        let scalars = text.unicodeScalars
        guard scalars.count >= field.lengths.lowerBound else {
            throw InvalidValue("text_empty", "A text is needed here.")
        }
        guard scalars.count <= field.lengths.upperBound else {
            throw DisplayText.tooLong(field)
        }
        guard scalars.allSatisfy(DisplayText.isVisible) else {
            throw InvalidValue(
                "text_forbidden_character",
                "The text holds a control, invisible, private or unassigned character.")
        }
        guard let first = scalars.first, let last = scalars.last else {
            self.text = text
            return
        }
        guard !DisplayText.isSpace(first), !DisplayText.isSpace(last) else {
            throw InvalidValue(
                "text_surrounding_space", "The text begins or ends with white space.")
        }
        // A mark joins what stands before it, and at the start that is not part of this text. With
        // the rule before, this also refuses texts of nothing but marks and spaces.
        guard !DisplayText.isMark(first) else {
            throw InvalidValue("text_leading_mark", "The text begins with a combining mark.")
        }
        self.text = text
    }

    /// The refusal of a text that is longer than its field.
    package static func tooLong(_ field: Field) -> InvalidValue {
        InvalidValue(
            "text_too_long", "At most \(field.lengths.upperBound) characters are allowed here.")
    }

    /// White space that may stand between words: every other kind looks like one of these two.
    private static func isSpace(_ scalar: Unicode.Scalar) -> Bool {
        scalar == " " || scalar == "\u{3000}"
    }

    private static func isMark(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .nonspacingMark, .spacingMark, .enclosingMark: true
        default: false
        }
    }

    private static func isVisible(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .format, .surrogate, .privateUse, .unassigned, .lineSeparator,
            .paragraphSeparator:
            false
        case .spaceSeparator:
            isSpace(scalar)
        default:
            // Default ignorable: variation selectors, tags, Hangul fillers, the grapheme joiner …
            !scalar.properties.isDefaultIgnorableCodePoint && !blanks.contains(scalar)
        }
    }

    /// Characters that draw nothing although their category promises a glyph, and the two that
    /// stand for content that was lost.
    private static let blanks: Set<Unicode.Scalar> = [
        "\u{2800}", "\u{13441}", "\u{13442}", "\u{16FE4}", "\u{1D159}", "\u{FFFC}", "\u{FFFD}",
    ]
}

extension DisplayText: Hashable {
    /// Equal when the bytes are: a canonically equivalent text would have another signature.
    package static func == (left: Self, right: Self) -> Bool {
        left.text.utf8.elementsEqual(right.text.utf8)
    }

    package func hash(into hasher: inout Hasher) { hasher.combine(text) }
}
