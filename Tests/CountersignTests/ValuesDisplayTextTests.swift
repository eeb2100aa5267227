import Countersign
import Testing

@Suite struct `Texts that are shown` {
    private func code(_ text: String, _ field: DisplayText.Field = .payeeName) -> String? {
        refusal { () throws(InvalidValue) in try DisplayText(text, field) }
    }

    @Test(arguments: [
        "A", "Erika Mustermann", "中国银行", "البنك الأهلي", "O’Brien & Søn", "Nguyễn Thị Hiếu",
        "田中　太郎", "Γιώργος", "Łukasz Żółć", "José Núñez", "ירון", "नेपाल बैंक", "ธนาคาร", "한국은행",
        "A-B/C (D) + E, \"F\" {G} <H> %I% |J|", "Smörgås 24/7", "😀", "𝒜cme",
    ])
    func `hold the names of people and companies`(text: String) throws {
        #expect(try DisplayText(text, .payeeName).text.utf8.elementsEqual(text.utf8))
    }

    @Test(arguments: [
        "\0", "\t", "\n", "\r", "\r\n", "\u{B}", "\u{C}", "\u{1B}", "\u{7F}", "\u{80}", "\u{85}",
        "\u{9F}", "\u{2028}", "\u{2029}",  // control, line ends
        "\u{200E}", "\u{200F}", "\u{061C}", "\u{202A}", "\u{202B}", "\u{202C}", "\u{202D}",
        "\u{202E}", "\u{2066}", "\u{2067}", "\u{2068}", "\u{2069}",  // direction
        "\u{200B}", "\u{200C}", "\u{200D}", "\u{2060}", "\u{2061}", "\u{2064}", "\u{206A}",
        "\u{FEFF}", "\u{00AD}", "\u{180E}", "\u{034F}", "\u{FFF9}",  // no width
        "\u{FE00}", "\u{FE0F}", "\u{E0100}", "\u{180B}", "\u{E0001}", "\u{E0041}", "\u{E007F}",
        "\u{115F}", "\u{1160}", "\u{3164}", "\u{FFA0}", "\u{17B4}", "\u{17B5}", "\u{2800}",
        "\u{13441}", "\u{13442}", "\u{16FE4}", "\u{1D159}", "\u{1D173}",  // drawn as nothing
        "\u{A0}", "\u{1680}", "\u{2000}", "\u{2003}", "\u{2009}", "\u{200A}", "\u{202F}",
        "\u{205F}",  // spaces that look like the space
        "\u{E000}", "\u{F8FF}", "\u{F0000}", "\u{10FFFD}",  // private
        "\u{0378}", "\u{FFFE}", "\u{FFFF}", "\u{1FFFF}", "\u{10FFFF}",  // unassigned
        "\u{FFFC}", "\u{FFFD}",  // lost content
    ])
    func `hold nothing that cannot be seen`(character: String) {
        for text in [character, "Ac\(character)me", "\(character)Acme", "Acme\(character)"] {
            for field in [DisplayText.Field.payeeName, .payeeAlias, .reference, .endToEndID] {
                #expect(code(text, field) == "text_forbidden_character")
            }
        }
    }

    /// Whatever Unicode adds, these classes stay out. Planes 4 to 13 are empty and left out.
    @Test func `hold no scalar of a forbidden class`() {
        for value in UInt32(0)...0x10FFFF where !(0x4_0000..<0xE_0000).contains(value) {
            guard let scalar = Unicode.Scalar(value) else { continue }
            let properties = scalar.properties
            guard
                properties.isBidiControl || properties.isDefaultIgnorableCodePoint
                    || properties.isNoncharacterCodePoint || properties.isVariationSelector
                    || [.control, .format, .privateUse, .unassigned].contains(
                        properties.generalCategory)
            else { continue }
            if code("a\(scalar)b") == nil { Issue.record("U+\(String(value, radix: 16))") }
        }
    }

    @Test(arguments: [" ", "   ", "\u{3000}", " A", "A ", "\u{3000}A", "A\u{3000}"])
    func `neither begin nor end with white space`(text: String) {
        #expect(code(text) == "text_surrounding_space")
        #expect(code(text, .reference) == "text_surrounding_space")
    }

    @Test(arguments: ["\u{301}", "\u{301}\u{301}", "\u{301}A", "\u{20DD}", "\u{0903}", "\u{301} a"])
    func `do not begin with a mark`(text: String) {
        #expect(code(text) == "text_leading_mark")
    }

    @Test(arguments: [
        (DisplayText.Field.payeeName, 1, 140), (.payeeAlias, 0, 140), (.reference, 0, 140),
        (.endToEndID, 0, 35), (.credentialLabel, 0, 64), (.shadowLabel, 1, 64),
    ])
    func `have a length in scalars`(field: DisplayText.Field, least: Int, most: Int) {
        #expect(code("", field) == (least > 0 ? "text_empty" : nil))
        #expect(code("x", field) == nil)
        #expect(code(String(repeating: "😀", count: most), field) == nil)
        #expect(code(String(repeating: "x", count: most + 1), field) == "text_too_long")
        // One Character for Swift, but not for a reader of the message.
        let grapheme = "x" + String(repeating: "\u{301}", count: most)
        #expect(code(grapheme, field) == "text_too_long")
    }

    @Test func `are equal when their bytes are`() throws {
        let composed = try DisplayText("\u{E9}", .payeeName)
        let decomposed = try DisplayText("e\u{301}", .payeeName)
        #expect(composed != decomposed)
        #expect(composed == (try DisplayText("\u{E9}", .payeeAlias)))
        #expect(Set([composed, decomposed]).count == 2)
    }
}
