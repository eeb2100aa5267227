import Delivery
import Testing

@Suite struct `Structured fields` {
    @Test(arguments: [
        "a=()", "a=(\"x\" \"y\");p=1;q=\"t\\\\\\\"u\";r;s=tok/en;t=?0;u=:AQI=:", "a=:AQI=:;p",
        "a=-12, b=\"\", c=*t, d", "a=(\"x\";req 1 tok)",
    ])
    func `are written as they were read`(text: String) throws {
        let members = try #require(StructuredFields.dictionary(text))
        let written = members.map { member in
            switch member.value {
            case .innerList(let list): "\(member.key)=\(list.text)"
            case .item(let item) where item.item == .boolean(true):
                member.key + item.text.dropFirst(2)
            case .item(let item): "\(member.key)=\(item.text)"
            }
        }
        #expect(written.joined(separator: ", ") == text)
    }

    @Test func `may have optional white space`() {
        let members = StructuredFields.dictionary("  a=1 \t,\t b=(  1   2 ); p=3  ")
        #expect(members?.map(\.key) == ["a", "b"])
        #expect(StructuredFields.dictionary("")?.isEmpty == true)
    }

    @Test(
        arguments: [
            "a", "A=1", "a=1,", ",a=1", "a=1 b=2", "a=1;;b", "a=1, a=2", "a=1;p;p=2", "a=(1",
            "a=(1)1",
            "a=(1\t2)", "a=(\"x\"\"y\")", "a=\"x", "a=\"\\x\"", "a=\"é\"", "a=\"\n\"", "a=:AQ:",
            "a=:AQI=",
            "a=:A Q=:", "a=?2", "a=?", "a=1.5", "a=-", "a=1234567890123456", "a=@1", "a= 1", "a =1",
            "é=1",
            "a=(1);", "a=1\n", "a=\0",
        ].dropFirst())
    func `are refused when malformed or ambiguous`(text: String) {
        #expect(StructuredFields.dictionary(text) == nil, "\(text)")
    }
}
