import Countersign
import Testing

@Suite struct `IDs` {
    private let at = Instant(milliseconds: 0x0123_4567_89AB)

    @Test func `are UUIDv7: time, version, variant and 74 random bits`() {
        let ones = ID<Action>(at: at, random: Bytes(repeating: 0xFF, count: 10))
        #expect(ones.text == "01234567-89ab-7fff-bfff-ffffffffffff")
        let zeros = ID<Action>(at: at, random: Bytes(repeating: 0, count: 10))
        #expect(zeros.text == "01234567-89ab-7000-8000-000000000000")
        #expect(ones.instant == at)
        #expect(zeros.instant == at)
    }

    /// RFC 9562 appendix A.6.
    @Test func `are those of the standard's example`() throws {
        let id = try #require(ID<Action>("017F22E2-79B0-7CC3-98C4-DC0C0C07398F"))
        #expect(id.text == "017f22e2-79b0-7cc3-98c4-dc0c0c07398f")
        #expect(id.instant.text == "2022-02-22T19:22:22Z")
    }

    @Test func `use all the randomness that they have room for`() {
        let base = Bytes(repeating: 0, count: 10)
        var ids: Set<ID<Action>> = []
        for index in 0..<10 {
            for bit in 0..<8 {
                var random = base
                random[index] ^= 1 << UInt8(bit)
                ids.insert(ID(at: at, random: random))
            }
        }
        // 80 bits are given and 74 are used: six of them change nothing.
        #expect(ids.count == 74 + 1)
    }

    @Test func `are in the order of their times, and then of their randomness`() {
        let later = Instant(milliseconds: at.milliseconds + 1)
        let most = ID<Action>(at: at, random: Bytes(repeating: 0xFF, count: 10))
        let least = ID<Action>(at: later, random: Bytes(repeating: 0, count: 10))
        #expect(most < least)
        #expect(most.text < least.text)
        let counted = (0..<256).map {
            ID<Action>(at: at, random: [0, UInt8($0)] + Bytes(repeating: 0xFF, count: 8))
        }
        #expect(counted == counted.sorted())
        #expect(counted.map(\.text) == counted.map(\.text).sorted())
    }

    @Test func `are read from their text, whatever they are`() {
        var value: UInt128 = 1
        for _ in 0..<200 {
            value = value &* 0x2545_F491_4F6C_DD1D_9E37_79B9_7F4A_7C15 &+ 0xB
            let id = ID<Action>(rawValue: value)
            #expect(ID<Action>(id.text) == id)
            #expect(ID<Action>(id.text.uppercased()) == id)
            #expect(id.text.utf8.count == 36)
        }
    }

    @Test(arguments: [
        "", "0", "017f22e2-79b0-7cc3-98c4-dc0c0c07398", "017f22e2-79b0-7cc3-98c4-dc0c0c07398f0",
        "017f22e279b07cc398c4dc0c0c07398f", "017f22e2-79b0-7cc3-98c4dc0c0c07398f-",
        "{17f22e2-79b0-7cc3-98c4-dc0c0c07398}", "urn:uuid:017f22e2-79b0-7cc3-98c4-dc0c",
        "017f22e2_79b0_7cc3_98c4_dc0c0c07398f", "017f22e2-79b0-7cc3-98c4-dc0c0c07398g",
        "017f22e2-79b0-7cc3-98c4-dc0c0c07398 ", " 17f22e2-79b0-7cc3-98c4-dc0c0c07398f",
        "0x7f22e2-79b0-7cc3-98c4-dc0c0c07398f", "+17f22e2-79b0-7cc3-98c4-dc0c0c07398f",
        "017f22e2-79b0-7cc3-98c4-dc0c0c0739\u{664}", "017f22e-279b0-7cc3-98c4-dc0c0c07398f",
        "017f22e2-79b0-7cc3-98c4-dc0c0c07398\0",
    ])
    func `are refused in any other form`(text: String) {
        #expect(ID<Action>(text) == nil)
    }
}
