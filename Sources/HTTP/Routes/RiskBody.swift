import Countersign

extension ObjectReader {
    /// What the bank knows about the risk: kept as it came, for policy and evidence.
    ///
    /// `segment`, `signals` and `name_check` are read by us, so they have a form; what else is in there is the bank's own business
    /// as long as it is small and every value in it can be kept.
    mutating func risk() throws(BodyRefusal) -> JSON? {
        guard let risk = try optionalDocument("risk") else { return nil }
        _ = check("risk") { () throws(InvalidValue) in try Risk.check(risk) }
        return risk
    }
}

/// The form of what the bank says about the risk.
enum Risk {
    private static let bytesMax = 4 << 10
    private static let signalsMax = 32
    /// Of a segment and of a signal.
    static let wordLengthMax = 64

    fileprivate static func check(_ risk: JSON) throws(InvalidValue) {
        guard risk.encoded.count <= bytesMax else {
            throw InvalidValue("risk_too_large", "At most \(bytesMax) bytes are kept.")
        }
        guard !holdsFraction(risk) else {
            throw InvalidValue(
                "risk_fraction", "Numbers must be 64-bit integers; write others as strings.")
        }
        guard isWord(risk["segment"] ?? .string(PolicyRules.defaultSegment)) else {
            throw InvalidValue(
                "risk_segment",
                "The segment is a word of 1 to \(wordLengthMax) a-z, 0-9, _.")
        }
        guard isNameCheck(risk["name_check"] ?? .null) else {
            throw InvalidValue(
                "risk_name_check",
                "The name check is match, close_match, no_match or not_possible.")
        }
        guard signalsAreWords(risk["signals"] ?? .null) else {
            throw InvalidValue(
                "risk_signals",
                "The signals are at most \(signalsMax) words of 1 to \(wordLengthMax) a-z, 0-9, _."
            )
        }
    }

    /// A fraction has lost its value in reading, so it would be kept as something else.
    private static func holdsFraction(_ json: JSON) -> Bool {
        switch json {
        case .fraction: true
        case .array(let values): values.contains(where: holdsFraction)
        case .object(let members): members.contains { holdsFraction($0.value) }
        case .null, .bool, .integer, .string: false
        }
    }

    private static func isNameCheck(_ json: JSON) -> Bool {
        json == .null || json.text.map { NameCheck(rawValue: $0) != nil } ?? false
    }

    private static func signalsAreWords(_ json: JSON) -> Bool {
        switch json {
        case .null: true
        case .array(let signals): signals.count <= signalsMax && signals.allSatisfy(isWord)
        case .bool, .integer, .fraction, .string, .object: false
        }
    }

    private static func isWord(_ json: JSON) -> Bool { json.text.map(isWord) ?? false }

    /// Whether a text can be a segment or a signal.
    static func isWord(_ text: String) -> Bool {
        let units = text.utf8
        return (1...wordLengthMax).contains(units.count)
            && units.allSatisfy { unit in
                (0x61...0x7A).contains(unit) || (0x30...0x39).contains(unit)
                    || unit == UInt8(ascii: "_")
            }
    }
}
