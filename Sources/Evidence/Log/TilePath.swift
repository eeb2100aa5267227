/// The path of one resource of the log below its prefix. Source: C2SP tlog-tiles.
package enum TilePath: Hashable, Sendable {
    /// `tile/LEVEL/INDEX[.p/WIDTH]`: `tile/0/x001/x234/067`, and with `.p/` and the number of its hashes while
    /// it is not full.
    case hashes(Tile.Place, width: Int)
    /// `tile/entries/INDEX[.p/WIDTH]`.
    case entries(index: Int64, width: Int)

    /// C2SP allows no level above; a tree of 2⁶³ leaves has 8.
    package static let levelMax = 63

    /// Whether it has all its hashes or entries, and will never change.
    package var isFull: Bool {
        switch self {
        case .hashes(_, let width), .entries(_, let width): width == Tile.width
        }
    }

    /// The path, without a slash before it.
    package var text: String {
        switch self {
        case .hashes(let place, let width):
            "tile/\(place.level)/" + Self.text(place.index, width)
        case .entries(let index, let width): "tile/entries/" + Self.text(index, width)
        }
    }

    /// Reads exactly what ``text`` writes; `nil` for any other spelling.
    package init?(text: some StringProtocol) {
        let parts: [String] = text.split(separator: "/", omittingEmptySubsequences: false)
            .map { String($0) }
        guard parts.count >= 3, parts[0] == "tile" else { return nil }
        var elements = Array(parts[2...])
        var width = Tile.width
        if elements.count >= 2, elements[elements.count - 2].hasSuffix(".p") {
            guard let partial = PlainDecimal.parse(elements.removeLast()),
                1..<Int64(Tile.width) ~= partial
            else { return nil }
            width = Int(partial)
            elements[elements.count - 1].removeLast(2)
        }
        guard let index = Self.index(elements) else { return nil }
        if parts[1] == "entries" {
            self = .entries(index: index, width: width)
        } else {
            guard let level = PlainDecimal.parse(parts[1]), level <= Self.levelMax else {
                return nil
            }
            self = .hashes(Tile.Place(level: Int(level), index: index), width: width)
        }
        guard self.text.utf8.elementsEqual(text.utf8) else { return nil }
    }

    private static func text(_ index: Int64, _ width: Int) -> String {
        precondition(index >= 0 && 1...Tile.width ~= width, "a tile is somewhere and not empty")
        var path = threeDigits(index % 1000)
        var rest = index / 1000
        while rest > 0 {
            path = "x\(threeDigits(rest % 1000))/" + path
            rest /= 1000
        }
        return width == Tile.width ? path : path + ".p/\(width)"
    }

    private static func threeDigits(_ number: Int64) -> String {
        String(String(1000 + number).dropFirst())
    }

    /// The number that the elements of a path spell, in whatever spelling; `nil` for none.
    private static func index(_ elements: [String]) -> Int64? {
        let digits = elements.dropLast().map { $0.drop { $0 == "x" } }.joined()
        return elements.last.flatMap { Int64(digits + $0) }.flatMap { $0 >= 0 ? $0 : nil }
    }
}
