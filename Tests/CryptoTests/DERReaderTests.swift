import Countersign
import Crypto
import TestSupport
import Testing

@Suite struct `The reader of DER` {
    @Test func `reads what the writer wrote`() throws {
        let der = DER.sequence(
            DER.integer(-129), DER.enumerated(2), DER.octets([1, 2]), DER.boolean(true),
            DER.explicit(1, DER.set([DER.integer(2)])), DER.explicit(704, DER.null()),
            DER.octets(Bytes(repeating: 7, count: 300)))
        var reader = try DERReader.only(der).sequence()
        #expect(try reader.next().integer() == -129)
        #expect(try reader.next().enumerated() == 2)
        #expect(try reader.next().octets() == [1, 2])
        let isTrue = try reader.next().boolean()
        #expect(isTrue)
        var set = try reader.next().explicit(1).set()
        #expect(try set.next().integer() == 2)
        try set.end()
        let tagged = try reader.next()
        #expect(tagged.explicitTag == 704)
        try tagged.explicit(704).null()
        #expect(try reader.next().octets().count == 300)
        #expect(reader.isAtEnd)
        try reader.end()
        #expect(throws: DERError.malformed) { try reader.next() }
    }

    @Test func `reads integers of up to 64 bits`() throws {
        for value in [0, 1, 127, 128, 255, 256, -1, -128, -129, Int64.max, Int64.min] {
            #expect(try DERReader.only(DER.integer(value)).integer() == value)
        }
        let big = DER.element([2], [0, 0x80, 0, 0, 0, 0, 0, 0, 0])
        #expect(throws: DERError.malformed) { try DERReader.only(big).integer() }
    }

    @Test(arguments: [
        [], [0x30], [0x30, 0x80, 0x00, 0x00], [0x04, 0x81, 0x01, 0x00],
        [0x04, 0x82, 0x00, 0x01, 0],
        [0x04, 0x02, 0x00], [0x04, 0x84, 0xFF, 0xFF, 0xFF, 0xFF], [0x04, 0x01, 0x00, 0x00],
        [0x04, 0x88, 0x7F, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF], [0xBF],
        [0xBF, 0x80, 0x01, 0],
        [0xBF, 0x1E, 0x00], [0xBF, 0x80, 0x85, 0x40, 0x00],
        [0xBF, 0xFF, 0xFF, 0xFF, 0xFF, 0x7F, 0],
        [0x04, 0xFF], [0x1F, 0x04, 0x00],
    ])
    func `refuses every other spelling`(bytes: Bytes) {
        #expect(throws: DERError.malformed) { try DERReader.only(bytes) }
    }

    @Test(arguments: [
        [0x02, 0x00], [0x02, 0x02, 0x00, 0x01], [0x02, 0x02, 0xFF, 0xFF],
        [0x0A, 0x02, 0x00, 0x01], [0x01, 0x01, 0x01], [0x01, 0x02, 0xFF, 0xFF], [0x01, 0x00],
        [0x05, 0x01, 0x00],
    ])
    func `refuses other spellings of values`(bytes: Bytes) throws {
        let element = try DERReader.only(bytes)
        #expect(throws: DERError.malformed) {
            switch bytes[0] {
            case 0x02: _ = try element.integer()
            case 0x0A: _ = try element.enumerated()
            case 0x01: _ = try element.boolean()
            default: try element.null()
            }
        }
    }

    @Test func `tells a type from another`() throws {
        let element = try DERReader.only(DER.integer(1))
        #expect(throws: DERError.unexpected) { try element.enumerated() }
        #expect(throws: DERError.unexpected) { try element.boolean() }
        #expect(throws: DERError.unexpected) { try element.octets() }
        #expect(throws: DERError.unexpected) { try element.null() }
        #expect(throws: DERError.unexpected) { try element.sequence() }
        #expect(throws: DERError.unexpected) { try element.set() }
        #expect(throws: DERError.unexpected) { try element.explicit(2) }
        #expect(element.explicitTag == nil)
        // The same numbers in another class or form.
        #expect(throws: DERError.unexpected) { try DERReader.only([0x82, 1, 1]).integer() }
        #expect(throws: DERError.unexpected) { try DERReader.only([0x24, 0]).octets() }
        #expect(throws: DERError.unexpected) { try DERReader.only([0x61, 0]).explicit(1) }
        #expect(throws: DERError.malformed) {
            try DERReader.only(DER.explicit(1, DER.null() + DER.null())).explicit(1)
        }
    }

    @Test func `reads no input of unreasonable length`() {
        #expect(throws: DERError.malformed) {
            try DERReader(Bytes(repeating: 0, count: DERReader.bytesMax + 1))
        }
    }

    @Test func `survives any bytes`() throws {
        var generator = try SeededGenerator()
        for _ in 0..<20_000 {
            let bytes = (0..<Int.random(in: 0...24, using: &generator)).map { _ in
                UInt8(truncatingIfNeeded: generator.next())
            }
            var reader = try DERReader(bytes)
            while let element = try? reader.next() {
                _ = try? element.integer()
                _ = try? element.sequence().isAtEnd
            }
        }
    }
}
