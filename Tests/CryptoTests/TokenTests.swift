import Countersign
import Crypto
import Testing

@Suite struct `Ed25519 keys and signed tokens` {
    private let payload: JSON = ["sub": "customer-1", "exp": .integer(1)]

    private func keys() throws -> [IdentitySigningKey] {
        [.ed25519(try .generate()), .p256(try .generate())]
    }

    /// A token with exactly this header and payload text, signed properly.
    private func token(
        _ header: String, _ payload: String, _ key: Ed25519PrivateKey
    ) throws -> String {
        let message =
            Base64.encodeURL(Bytes(header.utf8)) + "." + Base64.encodeURL(Bytes(payload.utf8))
        return message + "." + Base64.encodeURL(try key.sign(Bytes(message.utf8)))
    }

    @Test func `Ed25519 gives the published signature`() throws {
        // RFC 8032 §7.1, test 2.
        let seed = try #require(
            Hex.decode("4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb"))
        let key = try Ed25519PrivateKey(raw: seed)
        #expect(
            Hex.encode(key.publicKey.raw)
                == "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c")
        #expect(
            Hex.encode(try key.sign([0x72]))
                == "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da"
                + "085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00")
    }

    @Test func `Ed25519 keys survive PEM and raw bytes`() throws {
        let key = try Ed25519PrivateKey.generate()
        #expect(try Ed25519PrivateKey(pem: key.pem).raw == key.raw)
        #expect(try Ed25519PrivateKey(raw: key.raw).publicKey == key.publicKey)
        #expect(try Ed25519PublicKey(pem: key.publicKey.pem) == key.publicKey)
        let signature = try key.sign([1, 2, 3])
        #expect(key.publicKey.isValid(signature: signature, for: [1, 2, 3]))
        #expect(!key.publicKey.isValid(signature: signature, for: [1, 2]))
        #expect(!key.publicKey.isValid(signature: signature + [0], for: [1, 2, 3]))
        #expect(throws: KeyError.malformed) { try Ed25519PublicKey(raw: [1]) }
        #expect(throws: KeyError.malformed) { try Ed25519PrivateKey(raw: [1]) }
        let other = try P256PrivateKey.generate()
        #expect(throws: KeyError.unsupported) { try Ed25519PublicKey(pem: other.publicKey.pem) }
        #expect(throws: KeyError.unsupported) { try Ed25519PrivateKey(pem: other.pem) }
    }

    @Test func `a token verifies with the key that signed it`() throws {
        for key in try keys() {
            let token = try CompactJWS.sign(payload, key: key)
            #expect(try CompactJWS.verify(token, key: key.publicKey) == payload.encoded)
        }
    }

    @Test func `an identity key reads from PEM of either kind`() throws {
        let edwards = try Ed25519PrivateKey.generate().publicKey
        let p256 = try P256PrivateKey.generate().publicKey
        #expect(try IdentityKey(pem: edwards.pem) == .ed25519(edwards))
        #expect(try IdentityKey(pem: p256.pem) == .p256(p256))
        #expect(throws: KeyError.malformed) { try IdentityKey(pem: "none") }
    }

    @Test func `another key, of either kind, refuses the token`() throws {
        let both = try keys()
        let token = try CompactJWS.sign(payload, key: both[0])
        for other in try keys() {
            #expect(throws: CompactJWS.Failure.self) {
                try CompactJWS.verify(token, key: other.publicKey)
            }
        }
        #expect(throws: CompactJWS.Failure.algorithm) {
            try CompactJWS.verify(token, key: both[1].publicKey)
        }
    }

    @Test func `the header cannot choose the algorithm or ask for extensions`() throws {
        let key = try Ed25519PrivateKey.generate()
        let headers: [(String, CompactJWS.Failure)] = [
            (#"{"alg":"none"}"#, .algorithm), (#"{"alg":"ES256"}"#, .algorithm),
            (#"{"alg":"eddsa"}"#, .algorithm), (#"{"alg":1}"#, .algorithm), ("{}", .algorithm),
            (#"{"alg":"EdDSA","crit":["exp"]}"#, .critical),
            (#"{"alg":"EdDSA","crit":null}"#, .critical),
            (#"{"alg":"EdDSA","alg":"EdDSA"}"#, .malformed), (#"["alg"]"#, .malformed),
            (#"{"alg":"EdDSA"}{}"#, .malformed), ("", .malformed),
            ("\u{FEFF}" + #"{"alg":"EdDSA"}"#, .malformed),
        ]
        for (header, failure) in headers {
            #expect(throws: failure, "\(header)") {
                try CompactJWS.verify(
                    try token(header, "{}", key), key: .ed25519(key.publicKey))
            }
        }
    }

    @Test func `a payload that two parsers could read differently is refused`() throws {
        let key = try Ed25519PrivateKey.generate()
        for payload in [
            #"{"sub":"a","sub":"b"}"#, #"{"a":{"b":1,"b":2}}"#, #"{"sub":"a","\u0073ub":"b"}"#,
            "[]", "", "1", "{", #"{"a":1,}"#,
            #"{"a":[1, ]}"#,
        ] {
            #expect(throws: CompactJWS.Failure.malformed, "\(payload)") {
                try CompactJWS.verify(
                    try token(#"{"alg":"EdDSA"}"#, payload, key), key: .ed25519(key.publicKey))
            }
        }
        let nested = #"{"a":{"a":[{"a":":\":,"},{}]},"b":"\\","c":",]"}"#
        let accepted = try CompactJWS.verify(
            try token(#"{"alg":"EdDSA"}"#, nested, key), key: .ed25519(key.publicKey))
        #expect(accepted == Bytes(nested.utf8))
    }

    @Test func `every changed character of a token is refused`() throws {
        for key in try keys() {
            let token = Array(try CompactJWS.sign(payload, key: key).utf8)
            for index in token.indices {
                var changed = token
                changed[index] = changed[index] == 0x41 ? 0x42 : 0x41
                let text = String(decoding: changed, as: UTF8.self)
                #expect(throws: CompactJWS.Failure.self) {
                    try CompactJWS.verify(text, key: key.publicKey)
                }
            }
        }
    }

    @Test func `other shapes and lengths are refused`() throws {
        let key = try Ed25519PrivateKey.generate()
        let token = try CompactJWS.sign(payload, key: .ed25519(key))
        for text in ["", ".", "..", "a.b", token + ".", token + "=", token + "\n", " " + token] {
            #expect(throws: CompactJWS.Failure.malformed) {
                try CompactJWS.verify(text, key: .ed25519(key.publicKey))
            }
        }
        let long = String(repeating: "A", count: CompactJWS.unitsMax + 1)
        #expect(throws: CompactJWS.Failure.tooLong) {
            try CompactJWS.verify(long, key: .ed25519(key.publicKey))
        }
        let raw = Bytes(repeating: 0, count: 64)
        let parts = token.split(separator: ".")
        #expect(throws: CompactJWS.Failure.signature) {
            try CompactJWS.verify(
                "\(parts[0]).\(parts[1]).\(Base64.encodeURL(raw))", key: .ed25519(key.publicKey))
        }
    }
}
