import Countersign
import Crypto
import Testing

@Suite struct `P-256 keys and signatures` {
    private let message = Bytes("pay 10.00 EUR".utf8)

    @Test func `a key reads back from every documented form`() throws {
        let key = try P256PrivateKey.generate().publicKey
        let crlf = String(
            decoding: key.pem.utf8.flatMap { $0 == 0x0A ? [0x0D, 0x0A] : [$0] }, as: UTF8.self)
        let forms = [
            key.pem, crlf, String(key.pem.dropLast()), Base64.encode(key.spki),
            Base64.encode(key.x963),
        ]
        for form in forms { #expect(try P256PublicKey(parsing: form) == key) }
        #expect(try P256PublicKey(spki: key.spki).spki == key.spki)
        #expect(key.spki.count == 91)
    }

    @Test func `other spellings of a key are refused`() throws {
        let key = try P256PrivateKey.generate().publicKey
        let base64 = Base64.encode(key.spki)
        let refused = [
            "", " ", "\n" + key.pem, key.pem + "\n", key.pem + key.pem, "\u{FEFF}" + key.pem,
            " " + base64, base64 + "\n", String(base64.dropLast()), base64 + "AA==",
            Base64.encodeURL(key.x963), Hex.encode(key.x963), Base64.encode(key.spki + [0]),
            Base64.encode(key.x963 + [0]), Base64.encode(Bytes(key.x963.dropLast())),
            Base64.encode([0x02] + key.x963[1...32]), Base64.encode([0x06] + key.x963[1...]),
            Base64.encode(Bytes(repeating: 0, count: 65)), Base64.encode([0]),
            key.pem.replacing("PUBLIC KEY", with: "EC PUBLIC KEY"),
            key.pem.replacing("\n", with: "\\n"), key.pem.replacing("\n", with: "\n\n"),
            key.pem.replacing("KEY-----\nM", with: "KEY-----\n\nM"),
            key.pem.replacing("-----\n", with: "----- \n"), key.pem.replacing("\n", with: "\r"),
            String(repeating: "A", count: 8192),
        ]
        for text in refused {
            #expect(throws: KeyError.self, "\(text)") { try P256PublicKey(parsing: text) }
        }
    }

    @Test func `a point beside the curve is refused`() throws {
        var point = try P256PrivateKey.generate().publicKey.x963
        point[64] ^= 1
        #expect(throws: KeyError.notOnCurve) { try P256PublicKey(x963: point) }
        let zero = [0x04] + Bytes(repeating: 0, count: 64)
        #expect(throws: KeyError.notOnCurve) { try P256PublicKey(x963: zero) }
        let ones = [0x04] + Bytes(repeating: 0xFF, count: 64)
        #expect(throws: KeyError.notOnCurve) { try P256PublicKey(x963: ones) }
    }

    @Test func `keys of other kinds are refused`() throws {
        let edwards = try Ed25519PrivateKey.generate()
        #expect(throws: KeyError.unsupported) { try P256PublicKey(parsing: edwards.publicKey.pem) }
        #expect(throws: KeyError.malformed) { try P256PublicKey(parsing: edwards.pem) }
        #expect(throws: KeyError.malformed) {
            try P256PublicKey(parsing: try P256PrivateKey.generate().pem)
        }
        #expect(throws: KeyError.unsupported) { try P256PrivateKey(pem: edwards.pem) }
    }

    @Test func `a signature verifies with its key and message only`() throws {
        let key = try P256PrivateKey.generate()
        let signature = try key.sign(message)
        #expect(key.publicKey.isValid(signature: signature, for: message))
        #expect(!key.publicKey.isValid(signature: signature, for: message + [0]))
        #expect(!key.publicKey.isValid(signature: signature, for: []))
        let other = try P256PrivateKey.generate().publicKey
        #expect(!other.isValid(signature: signature, for: message))
    }

    @Test func `one key verifies for many at once`() async throws {
        let key = try P256PrivateKey.generate()
        let signature = try key.sign(message)
        await withTaskGroup(of: Bool.self) { group in
            for _ in 0..<64 {
                group.addTask { key.publicKey.isValid(signature: signature, for: message) }
            }
            for await isValid in group { #expect(isValid) }
        }
    }

    @Test func `every truncation, extension and flipped bit of a signature is refused`() throws {
        let key = try P256PrivateKey.generate()
        let signature = try key.sign(message)
        for count in 0..<signature.count {
            #expect(!key.publicKey.isValid(signature: Bytes(signature.prefix(count)), for: message))
        }
        #expect(!key.publicKey.isValid(signature: signature + [0], for: message))
        for bit in 0..<signature.count * 8 {
            var changed = signature
            changed[bit / 8] ^= 1 << (bit % 8)
            #expect(!key.publicKey.isValid(signature: changed, for: message), "bit \(bit)")
        }
    }

    @Test func `raw and DER are two spellings of one signature`() throws {
        let key = try P256PrivateKey.generate()
        for _ in 0..<64 {
            let der = try key.sign(message)
            let signature = try #require(P256Signature(der: der))
            #expect(signature.der == der)
            #expect(P256Signature(raw: signature.raw) == signature)
        }
    }

    @Test func `numbers outside 1 to n-1 are no signature`() {
        let order = Hex.decode("ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551")
        let n = order ?? []
        let zero = Bytes(repeating: 0, count: 32)
        let one = Bytes(repeating: 0, count: 31) + [1]
        var last = n
        last[31] -= 1
        #expect(P256Signature(raw: last + one) != nil)
        for raw in [zero + one, one + zero, n + one, one + n, zero + zero, one, []] {
            #expect(P256Signature(raw: raw) == nil)
        }
        #expect(P256Signature(der: [0x30, 6, 2, 1, 1, 2, 1, 1]) != nil)
        #expect(P256Signature(der: [0x30, 6, 2, 1, 0, 2, 1, 1]) == nil)
        #expect(P256Signature(der: [0x30, 6, 2, 1, 0x81, 2, 1, 1]) == nil)
        #expect(P256Signature(der: [0x30, 7, 2, 2, 0, 1, 2, 1, 1]) == nil)
        #expect(P256Signature(der: [0x30, 0x81, 6, 2, 1, 1, 2, 1, 1]) == nil)
        #expect(P256Signature(der: [0x30, 6, 2, 0, 2, 2, 1, 1]) == nil)
        #expect(P256Signature(der: [0x30, 7, 2, 1, 1, 2, 1, 1, 0]) == nil)
        #expect(P256Signature(der: [0x30, 9, 2, 1, 1, 2, 1, 1, 2, 1, 1]) == nil)
    }

    @Test func `a private key survives PEM`() throws {
        let key = try P256PrivateKey.generate()
        let copy = try P256PrivateKey(pem: key.pem)
        #expect(copy.publicKey == key.publicKey)
        #expect(key.publicKey.isValid(signature: try copy.sign(message), for: message))
        #expect(throws: KeyError.malformed) { try P256PrivateKey(pem: key.publicKey.pem) }
    }
}
