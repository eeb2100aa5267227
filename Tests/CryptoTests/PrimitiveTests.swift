import Countersign
import Crypto
import Testing

@Suite struct `Digests, randomness and encryption` {
    @Test func `SHA-256 gives the published digests`() {
        // FIPS 180-4 examples: the empty message, and "abc".
        #expect(
            sha256([]).hex == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855")
        #expect(
            Hasher256.openSSL(Bytes("abc".utf8)).hex
                == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")
    }

    @Test func `random bytes have the asked length and do not repeat`() {
        let drawn = (0..<100).map { _ in EntropySource.openSSL(32) }
        #expect(drawn.allSatisfy { $0.count == 32 })
        #expect(Set(drawn).count == 100)
    }

    @Test func `asking for no random bytes is our mistake and stops the process`() async {
        await #expect(processExitsWith: .failure) { _ = EntropySource.openSSL(0) }
    }

    @Test func `constant-time comparison compares`() {
        #expect(constantTimeEqual([], []))
        #expect(constantTimeEqual([1, 2, 3], [1, 2, 3]))
        #expect(!constantTimeEqual([1, 2, 3], [1, 2, 4]))
        #expect(!constantTimeEqual([1, 2, 3], [1, 2]))
    }

    @Test func `AES-256-GCM gives the published ciphertext`() throws {
        // McGrew and Viega, "The Galois/Counter Mode of Operation", test cases 13 and 14.
        let cipher = try #require(AES256GCM(key: Bytes(repeating: 0, count: 32)))
        let nonce = Bytes(repeating: 0, count: 12)
        #expect(
            Hex.encode(cipher.seal([], nonce: nonce, authenticating: []))
                == "530f8afbc74536b9a963b4f1c4cb738b")
        #expect(
            Hex.encode(
                cipher.seal(Bytes(repeating: 0, count: 16), nonce: nonce, authenticating: []))
                == "cea7403d4d606b6e074ec5d3baf39d18d0d1c8a799996bf0265b98b5d48ab919")
    }

    @Test func `only the same bytes, nonce, data and key open what was sealed`() throws {
        let cipher = try #require(AES256GCM(key: EntropySource.openSSL(32)))
        let other = try #require(AES256GCM(key: EntropySource.openSSL(32)))
        let nonce = EntropySource.openSSL(12)
        let data = Bytes("leaf 7".utf8)
        let sealed = cipher.seal(Bytes("body".utf8), nonce: nonce, authenticating: data)
        #expect(cipher.open(sealed, nonce: nonce, authenticating: data) == Bytes("body".utf8))
        #expect(other.open(sealed, nonce: nonce, authenticating: data) == nil)
        #expect(cipher.open(sealed, nonce: nonce, authenticating: []) == nil)
        #expect(
            cipher.open(sealed, nonce: EntropySource.openSSL(12), authenticating: data) == nil)
        for nonce in [[], Bytes(nonce.dropLast()), nonce + [0]] {
            #expect(cipher.open(sealed, nonce: nonce, authenticating: data) == nil)
        }
        for index in sealed.indices {
            var changed = sealed
            changed[index] ^= 0x80
            #expect(cipher.open(changed, nonce: nonce, authenticating: data) == nil)
        }
        for count in 0..<sealed.count {
            #expect(
                cipher.open(Bytes(sealed.prefix(count)), nonce: nonce, authenticating: data) == nil)
        }
    }

    @Test func `a key of another length is refused and none is printed`() throws {
        for count in [0, 16, 31, 33] {
            #expect(AES256GCM(key: Bytes(repeating: 1, count: count)) == nil)
        }
        let cipher = try #require(AES256GCM(key: Bytes(repeating: 0xAB, count: 32)))
        var dumped = ""
        dump(cipher, to: &dumped)
        #expect(!dumped.contains("171"))
    }
}
