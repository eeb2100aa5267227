import Countersign
import Testing

@Suite struct `Base64 texts` {
    /// RFC 4648 §10.
    @Test(arguments: [
        ("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg=="),
        ("fooba", "Zm9vYmE="), ("foobar", "Zm9vYmFy"),
    ])
    func `has the published vectors`(plain: String, encoded: String) {
        let bytes = Bytes(plain.utf8)
        let bare = encoded.replacing("=", with: "")
        #expect(Base64.encode(bytes) == encoded)
        #expect(Base64.decode(encoded) == bytes)
        #expect(Base64.encodeURL(bytes) == bare)
        #expect(Base64.decodeURL(bare) == bytes)
    }

    @Test func `has two alphabets that are not mixed`() {
        let bytes: Bytes = [0xFB, 0xEF, 0xFF]
        #expect(Base64.encode(bytes) == "++//")
        #expect(Base64.encodeURL(bytes) == "--__")
        #expect(Base64.decode("--__") == nil)
        #expect(Base64.decodeURL("++//") == nil)
        #expect(Base64.decode("+-//") == nil)
    }

    @Test(arguments: [
        // Padding missing, too much, in between, alone.
        "Zg", "Zg=", "Zm8", "Zg===", "Zm9v=", "Zm9v==", "Zm9v====", "=", "==", "====", "=Zg=",
        "Zg==Zg==", "Z=g=", "Zm=8", "Z===", "A===",
        // Bits that nobody needs.
        "Zh==", "Zk==", "Z/==", "Zm9=", "Zm+=", "AB==", "AAB=",
        // Other characters.
        "Zm9v\n", "Zm9v\r\n", " Zm9v", "Zm 9v", "Zm9v ", "Zm9v\0", "Zm9\u{FF56}", "Zm9é", "Zm9.",
        "Zm9-", "Zm9_", "Zm9,", "Z", "Zm9vZ",
    ])
    func `is strict with padding`(text: String) {
        #expect(Base64.decode(text) == nil)
    }

    @Test(arguments: [
        "Zg==", "Zm8=", "Zg=", "=", "Z", "Zm9vZ", "Zh", "Zk", "Z_", "Zm9", "Zm-", "AB", "AAB",
        "Zm9v\n", " Zm9v", "Zm9v ", "Zm+v", "Zm/v", "Zm9\0", "Zmé", "Zm.v", "Zm%3D",
    ])
    func `is strict without padding`(text: String) {
        #expect(Base64.decodeURL(text) == nil)
    }

    /// Every text of three characters that is read is the one that is written: no bytes have two.
    @Test func `has one text for all bytes`() {
        let alphabet = Bytes(
            "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)
        var read = 0
        for first in alphabet {
            for second in alphabet {
                let text = String(decoding: [first, second], as: UTF8.self)
                guard let bytes = Base64.decodeURL(text) else { continue }
                read += 1
                #expect(Base64.encodeURL(bytes) == text)
            }
        }
        #expect(read == 256)
        for length in 0..<70 {
            let bytes = (0..<length).map { UInt8(truncatingIfNeeded: $0 * 37 + length) }
            #expect(Base64.decode(Base64.encode(bytes)) == bytes)
            #expect(Base64.decodeURL(Base64.encodeURL(bytes)) == bytes)
        }
    }
}

@Suite struct `Hexadecimal` {
    @Test func `is written in lower case and read in both`() {
        let all = (0...255).map { UInt8($0) }
        let text = Hex.encode(all)
        #expect(text.hasPrefix("000102"))
        #expect(text.hasSuffix("fdfeff"))
        #expect(Hex.decode(text) == all)
        #expect(Hex.decode(text.uppercased()) == all)
        #expect(Hex.encode([]) == "")
        #expect(Hex.decode("") == [])
    }

    @Test(arguments: [
        "0", "000", "0g", "g0", " 00", "00 ", "0x00", "-1", "+1", "0\0", "０0", "é", "00\n", "@0",
        "G0", "`0", "/0", ":0",
    ])
    func `is refused in any other form`(text: String) {
        #expect(Hex.decode(text) == nil)
    }

    @Test func `of a digest has 64 characters`() {
        for count in [0, 31, 33, 64] { #expect(Digest(Bytes(repeating: 1, count: count)) == nil) }
        #expect(Digest(Bytes(repeating: 1, count: 32))?.hex == String(repeating: "01", count: 32))
    }
}
