/// Swift text in which comments and the insides of string literals are blank, so that a rule about
/// code does not stumble over prose. Line breaks stay where they were.
///
/// What is interpolated into a string is blanked with it. Regex literals are not known.
struct SwiftCode {
    private(set) var blanked = ""
    private let characters: [Character]
    private var position = 0

    init(_ text: String) {
        characters = Array(text)
        while position < characters.count {
            if starts("//") {
                skipLine()
            } else if starts("/*") {
                skipComment()
            } else if let hashes = stringOpening() {
                skipString(hashes: hashes)
            } else {
                blanked.append(characters[position])
                position += 1
            }
        }
    }

    private func starts(_ text: String) -> Bool {
        position + text.count <= characters.count
            && characters[position..<position + text.count].elementsEqual(text)
    }

    private mutating func blank(_ count: Int = 1) {
        for _ in 0..<count where position < characters.count {
            blanked.append(characters[position] == "\n" ? "\n" : " ")
            position += 1
        }
    }

    private mutating func skipLine() {
        while position < characters.count, characters[position] != "\n" { blank() }
    }

    private mutating func skipComment() {
        var depth = 0
        repeat {
            if starts("/*") {
                depth += 1
                blank(2)
            } else if starts("*/") {
                depth -= 1
                blank(2)
            } else {
                blank()
            }
        } while depth > 0 && position < characters.count
    }

    /// The number of `#` before a quote that begins a string here; `nil` when none does.
    private func stringOpening() -> Int? {
        var end = position
        while end < characters.count, characters[end] == "#" { end += 1 }
        return end < characters.count && characters[end] == "\"" ? end - position : nil
    }

    private mutating func skipString(hashes: Int) {
        let fence = String(repeating: "#", count: hashes)
        blank(hashes)
        let quote = starts("\"\"\"") ? "\"\"\"" : "\""
        blank(quote.count)
        while position < characters.count, !starts(quote + fence) {
            if starts("\\" + fence + "(") {
                blank(hashes + 2)
                skipInterpolation()
            } else if starts("\\" + fence) {
                blank(hashes + 2)
            } else if quote.count == 1, characters[position] == "\n" {
                return
            } else {
                blank()
            }
        }
        blank(quote.count + hashes)
    }

    private mutating func skipInterpolation() {
        var depth = 1
        while position < characters.count, depth > 0 {
            if let hashes = stringOpening() {
                skipString(hashes: hashes)
                continue
            }
            if characters[position] == "(" { depth += 1 }
            if characters[position] == ")" { depth -= 1 }
            blank()
        }
    }
}

/// One function of a Swift file and how long it is.
struct MeasuredFunction: Equatable {
    let line: Int
    let length: Int

    /// All functions of a file, by counting braces from each `func`, `init`, `deinit` and `subscript`.
    static func all(in code: [Substring]) -> [MeasuredFunction] {
        code.indices.filter { isStart(code[$0]) }.compactMap { start in
            length(from: start, code).map { MeasuredFunction(line: start + 1, length: $0) }
        }
    }

    private static func isStart(_ line: Substring) -> Bool {
        line.hasWord("func") || line.hasWord("deinit") || line.hasWord("subscript")
            || line.trimmingPrefix(while: \.isWhitespace).split(separator: " ").contains {
                $0.hasPrefix("init(") || $0.hasPrefix("init?(") || $0.hasPrefix("init<")
            }
    }

    /// `nil` for a requirement of a protocol, which has no body.
    private static func length(from start: Int, _ code: [Substring]) -> Int? {
        var depth = 0
        var isOpen = false
        for index in start..<code.count {
            for character in code[index] {
                if character == "{" {
                    depth += 1
                    isOpen = true
                }
                if character == "}" { depth -= 1 }
                if isOpen && depth == 0 { return index - start + 1 }
                if depth < 0 { return nil }
            }
            if !isOpen, index > start, isStart(code[index]) { return nil }
        }
        return nil
    }
}
