/// A path with named gaps, such as `/v1/actions/{id}/approve`.
///
/// Nothing is normalised: a doubled slash, a dot segment or an escaped letter of a literal is simply
/// another path, which no pattern matches.
struct PathPattern: Sendable {
    private enum Segment: Sendable, Equatable {
        case literal(String)
        case parameter(String)
    }

    let text: String
    private let segments: [Segment]

    init(_ text: String) {
        precondition(text.hasPrefix("/"), "a pattern begins with a slash: \(text)")
        self.text = text
        segments = PathPattern.split(text).map { part in
            part.hasPrefix("{") && part.hasSuffix("}")
                ? .parameter(String(part.dropFirst().dropLast())) : .literal(String(part))
        }
    }

    var segmentCount: Int { segments.count }

    /// Patterns with more literals come first, so `/a/b` is preferred to `/a/{x}`.
    var literalCount: Int { segments.count { if case .literal = $0 { true } else { false } } }

    /// The parts of a path between slashes; the first is what follows the leading slash.
    static func split(_ path: String) -> [Substring] {
        path.dropFirst().split(separator: "/", omittingEmptySubsequences: false)
    }

    /// Values of the gaps, decoded once; `nil` when the path is another or a value is not acceptable.
    func match(_ parts: [Substring]) -> PathParameters? {
        guard parts.count == segments.count else { return nil }
        var values: [String: String] = [:]
        for (segment, part) in zip(segments, parts) {
            switch segment {
            case .literal(let text):
                guard part == text else { return nil }
            case .parameter(let name):
                guard let value = PathPattern.value(of: part) else { return nil }
                values[name] = value
            }
        }
        return PathParameters(values: values)
    }

    /// A slash, a backslash or a dot segment inside a value is refused: whatever reads the path in
    /// front of us or behind us may see another path there.
    private static func value(of part: Substring) -> String? {
        guard let value = PercentEncoding.decode(part), !value.isEmpty, value != ".", value != "..",
            !value.utf8.contains(where: { $0 < 0x20 || $0 == 0x7F }),
            !value.utf8.contains(UInt8(ascii: "/")), !value.utf8.contains(UInt8(ascii: "\\"))
        else { return nil }
        return value
    }
}

/// What stood in the gaps of the pattern that matched.
package struct PathParameters: Sendable, Equatable {
    private let values: [String: String]

    package init(values: [String: String]) { self.values = values }

    /// The decoded, non-empty value of a gap of the route's own pattern.
    package subscript(name: String) -> String {
        guard let value = values[name] else {
            preconditionFailure("the pattern of this route has no {\(name)}")
        }
        return value
    }
}
