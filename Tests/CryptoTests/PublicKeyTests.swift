import Countersign
import Crypto
import TestSupport
import Testing

@Suite struct `Public keys of every kind` {
    private let message = Bytes("pay 10.00 EUR".utf8)

    /// Options of `openssl genpkey`, of `openssl dgst -sign`, and what the key is.
    private static let kinds: [(key: String, digest: String, SignatureAlgorithm)] = [
        ("-algorithm EC -pkeyopt ec_paramgen_curve:P-256", "-sha256", .es256),
        ("-algorithm EC -pkeyopt ec_paramgen_curve:P-384", "-sha384", .es384),
        ("-algorithm RSA -pkeyopt rsa_keygen_bits:2048", "-sha256", .rs256),
        ("-algorithm RSA -pkeyopt rsa_keygen_bits:2056", "-sha256", .rs256),
    ]

    private func spki(_ tool: OpenSSLTool, _ options: String, _ output: String = "") throws -> Bytes
    {
        try tool.run("genpkey \(options) -out key.pem")
        try tool.run("pkey -in key.pem -pubout -outform DER \(output) -out key.der")
        return try tool.read("key.der")
    }

    @Test(arguments: kinds)
    func `a signature of another implementation verifies, and nothing near it`(
        key options: String, digest: String, algorithm: SignatureAlgorithm
    ) throws {
        let tool = try OpenSSLTool()
        let key = try PublicKey(spki: try spki(tool, options))
        try tool.write(message, to: "message")
        try tool.run("dgst \(digest) -sign key.pem -out signature message")
        let signature = try tool.read("signature")
        #expect(key.algorithm == algorithm)
        #expect(key.isValid(signature: signature, for: message))
        #expect(!key.isValid(signature: signature, for: message + [0]))
        #expect(!key.isValid(signature: signature + [0], for: message))
        #expect(!key.isValid(signature: [0] + signature, for: message))
        #expect(!key.isValid(signature: Bytes(signature.dropLast()), for: message))
        #expect(!key.isValid(signature: Bytes(signature.dropFirst()), for: message))
        #expect(!key.isValid(signature: [], for: message))
        for bit in stride(from: 0, to: signature.count * 8, by: 7) {
            var changed = signature
            changed[bit / 8] ^= 1 << (bit % 8)
            #expect(!key.isValid(signature: changed, for: message), "bit \(bit)")
        }
        for other in SignatureAlgorithm.allCases where other != algorithm {
            #expect(!key.isValid(signature: signature, for: message, using: other))
        }
    }

    @Test func `Ed25519 verifies with 64 bytes only`() throws {
        let secret = try Ed25519PrivateKey.generate()
        let key = try PublicKey(spki: secret.publicKey.spki)
        let signature = try secret.sign(message)
        #expect(key.algorithm == .eddsa)
        #expect(key.isValid(signature: signature, for: message))
        #expect(!key.isValid(signature: signature + [0], for: message))
        #expect(!key.isValid(signature: signature, for: message, using: .es256))
    }

    @Test func `SHA-1 is verified only when it is asked for by name`() throws {
        let tool = try OpenSSLTool()
        let key = try PublicKey(
            spki: try spki(tool, "-algorithm RSA -pkeyopt rsa_keygen_bits:2048"))
        try tool.write(message, to: "message")
        try tool.run("dgst -sha1 -sign key.pem -out signature message")
        let signature = try tool.read("signature")
        #expect(key.isValid(signature: signature, for: message, using: .rs1))
        #expect(!key.isValid(signature: signature, for: message))
    }

    @Test func `RSA with another padding is not valid`() throws {
        let tool = try OpenSSLTool()
        let key = try PublicKey(
            spki: try spki(tool, "-algorithm RSA -pkeyopt rsa_keygen_bits:2048"))
        try tool.write(message, to: "message")
        try tool.run(
            "dgst -sha256 -sigopt rsa_padding_mode:pss -sign key.pem -out signature message")
        #expect(!key.isValid(signature: try tool.read("signature"), for: message))
    }

    @Test func `numbers of P-384 outside 1 to n-1 are no signature`() throws {
        let tool = try OpenSSLTool()
        let key = try PublicKey(spki: try spki(tool, Self.kinds[1].key))
        let order = Hex.decode(
            "ffffffffffffffffffffffffffffffffffffffffffffffff"
                + "c7634d81f4372ddf581a0db248b0a77aecec196accc52973")
        let n = DER.element([2], [0] + (order ?? []))
        let one = DER.integer(1)
        for signature in [
            DER.sequence(n, one), DER.sequence(one, n), DER.sequence(DER.integer(0), one),
            DER.sequence(one, DER.integer(0)), DER.sequence(DER.integer(-1), one),
            DER.sequence(one), DER.sequence(one, one, one),
        ] {
            #expect(!key.isValid(signature: signature, for: message))
        }
    }

    @Test(arguments: [
        ("-algorithm RSA -pkeyopt rsa_keygen_bits:2040", ""),
        ("-algorithm RSA-PSS -pkeyopt rsa_keygen_bits:2048", ""),
        ("-algorithm EC -pkeyopt ec_paramgen_curve:P-521", ""),
        ("-algorithm EC -pkeyopt ec_paramgen_curve:secp256k1", ""),
        ("-algorithm EC -pkeyopt ec_paramgen_curve:P-256", "-ec_conv_form compressed"),
        ("-algorithm EC -pkeyopt ec_paramgen_curve:P-256", "-ec_param_enc explicit"),
        ("-algorithm ED448", ""), ("-algorithm X25519", ""),
    ])
    func `other kinds, curves, sizes and forms are refused`(options: String, output: String) throws
    {
        let der = try spki(try OpenSSLTool(), options, output)
        #expect(throws: KeyError.unsupported) { try PublicKey(spki: der) }
    }

    @Test func `a key has one encoding`() throws {
        let tool = try OpenSSLTool()
        for kind in Self.kinds {
            let der = try spki(tool, kind.key)
            #expect(try PublicKey(spki: der).spki == der)
            #expect(throws: KeyError.self) { try PublicKey(spki: der + [0]) }
            #expect(throws: KeyError.self) { try PublicKey(spki: Bytes(der.dropLast())) }
            // The same key with a longer length than needed.
            let header = der[1] == 0x82 ? 4 : 2
            let count = der.count - header
            let longer =
                [0x30, 0x83, 0, UInt8(count >> 8), UInt8(count & 0xFF)] + der.dropFirst(header)
            #expect(throws: KeyError.self) { try PublicKey(spki: longer) }
        }
        #expect(throws: KeyError.malformed) { try PublicKey(spki: []) }
        #expect(throws: KeyError.malformed) { try PublicKey(spki: Bytes("no key".utf8)) }
        #expect(throws: KeyError.malformed) { try PublicKey(spki: [0x30, 0x80, 0, 0]) }
    }

    @Test func `RSA without the NULL of its algorithm is another spelling`() throws {
        let modulus = try RSANumbers.modulus()
        let key = DER.bits(DER.sequence(DER.element([2], [0] + modulus), DER.integer(65_537)))
        let oid = DER.oid("1.2.840.113549.1.1.1")
        _ = try PublicKey(spki: DER.sequence(DER.sequence(oid, DER.null()), key))
        #expect(throws: KeyError.self) { try PublicKey(spki: DER.sequence(DER.sequence(oid), key)) }
        let padded = DER.bits(
            DER.sequence(DER.element([2], [0] + modulus), DER.element([2], [0, 1, 0, 1])))
        #expect(throws: KeyError.self) {
            try PublicKey(spki: DER.sequence(DER.sequence(oid, DER.null()), padded))
        }
    }

    @Test func `keys are made of their parts`() throws {
        let p256 = try P256PrivateKey.generate().publicKey
        #expect(try PublicKey(p256: p256.x963) == PublicKey(p256))
        let edwards = try Ed25519PrivateKey.generate().publicKey
        #expect(try PublicKey(ed25519: edwards.raw) == PublicKey(edwards))
        let tool = try OpenSSLTool()
        let der = try spki(tool, Self.kinds[1].key)
        #expect(try PublicKey(p384: Bytes(der.suffix(97))).spki == der)
        let rsa = try spki(tool, Self.kinds[2].key)
        let modulus = Bytes(rsa[33..<289])
        #expect(try PublicKey(rsaModulus: modulus, exponent: [1, 0, 1]).spki == rsa)
    }

    @Test func `parts that are no key are refused`() throws {
        let modulus = try RSANumbers.modulus()
        var even = modulus
        even[255] &= 0xFE
        for exponent: Bytes in [[1], [2], [4], [0x01, 0x00, 0x00], Bytes(repeating: 3, count: 9)] {
            #expect(throws: KeyError.unsupported) {
                try PublicKey(rsaModulus: modulus, exponent: exponent)
            }
        }
        for (modulus, exponent): (Bytes, Bytes) in [
            ([0] + modulus, [1, 0, 1]), (modulus, [0, 1, 0, 1]), ([], [3]), (modulus, []),
        ] {
            #expect(throws: KeyError.malformed) {
                try PublicKey(rsaModulus: modulus, exponent: exponent)
            }
        }
        for modulus in [
            even, Bytes(modulus.prefix(128)), modulus + Bytes(repeating: 1, count: 769),
        ] {
            #expect(throws: KeyError.unsupported) {
                try PublicKey(rsaModulus: modulus, exponent: [1, 0, 1])
            }
        }
        _ = try PublicKey(rsaModulus: modulus, exponent: [3])
        _ = try PublicKey(
            rsaModulus: modulus + Bytes(repeating: 1, count: 768), exponent: [1, 0, 1])
        let beside = [4] + Bytes(repeating: 1, count: 96)
        #expect(throws: KeyError.notOnCurve) { try PublicKey(p384: beside) }
        #expect(throws: KeyError.unsupported) { try PublicKey(p384: [2] + beside.dropFirst()) }
        #expect(throws: KeyError.unsupported) { try PublicKey(p384: beside + [0]) }
        #expect(throws: KeyError.malformed) { try PublicKey(ed25519: []) }
    }
}

/// A modulus of 2048 bits made for tests.
private enum RSANumbers {
    static func modulus() throws -> Bytes {
        let tool = try OpenSSLTool()
        try tool.run("genpkey -algorithm RSA -pkeyopt rsa_keygen_bits:2048 -out key.pem")
        try tool.run("pkey -in key.pem -pubout -outform DER -out key.der")
        return Bytes(try tool.read("key.der")[33..<289])
    }
}

@Suite struct `The cache of keys` {
    private struct Unmade: Error {}

    @Test func `makes a key once and keeps it while it is used`() throws {
        let cache = KeyCache<String>(keysMax: 4)
        var made = 0
        func get(_ id: UInt8) -> String {
            cache.key(of: [id]) { bytes in
                made += 1
                return "key \(bytes)"
            }
        }
        #expect(get(0) == "key [0]")
        #expect(get(0) == "key [0]")
        #expect(made == 1)
        for id in 1..<100 as Range<UInt8> {
            _ = get(id)
            #expect(get(0) == "key [0]")
            #expect(cache.count <= 4)
        }
        #expect(made == 100)
        // What was not used for long is made again, and is the same.
        #expect(get(1) == "key [1]")
        #expect(made == 101)
    }

    @Test func `remembers no failure`() throws {
        let cache = KeyCache<String>(keysMax: 2)
        #expect(throws: Unmade.self) {
            try cache.key(of: [1]) { (_) throws(Unmade) in throw Unmade() }
        }
        #expect(cache.count == 0)
        #expect(cache.key(of: [1]) { _ in "made" } == "made")
    }

    @Test func `serves many at once`() async throws {
        let cache = KeyCache<PublicKey>(keysMax: 8)
        let keys = try (0..<16).map { _ in try P256PrivateKey.generate().publicKey.spki }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for index in 0..<256 {
                let spki = keys[index % keys.count]
                group.addTask {
                    let key = try cache.key(spki: spki)
                    #expect(key.spki == spki)
                }
            }
            try await group.waitForAll()
        }
        #expect(cache.count <= 8)
        #expect(throws: KeyError.malformed) { try cache.key(spki: [1]) }
    }
}
