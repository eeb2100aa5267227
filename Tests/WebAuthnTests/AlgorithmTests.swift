import Countersign
import Crypto
import TestSupport
import Testing

@testable import WebAuthn

/// The algorithms beside ES256, each with a key of its own.
@Suite struct `Passkeys of other algorithms` {
    private let all = COSEAlgorithm.allCases

    /// A key that another program holds, and how it signs.
    private struct ForeignKey {
        let publicKey: PublicKey
        let cose: CBOR
        let sign: (Bytes) throws -> Bytes
    }

    private func map(_ pairs: [(Int64, CBOR)]) -> CBOR {
        .map(pairs.map { CBOR.Pair(key: CBOR(integer: $0.0), value: $0.1) })
    }

    private func ed25519() throws -> ForeignKey {
        let key = try Ed25519PrivateKey.generate()
        return ForeignKey(
            publicKey: PublicKey(key.publicKey), cose: COSEKey.encode(key.publicKey),
            sign: { try key.sign($0) })
    }

    private func openSSL(_ algorithm: String, _ option: String, hash: String) throws -> ForeignKey {
        let tool = try OpenSSLTool()
        try tool.run("genpkey -algorithm \(algorithm) -pkeyopt \(option) -out key.pem")
        try tool.run("pkey -in key.pem -pubout -outform DER -out key.der")
        let key = try PublicKey(spki: try tool.read("key.der"))
        let cose: CBOR
        if let (modulus, exponent) = key.rsaNumbers {
            cose = map([
                (1, CBOR(integer: 3)), (3, CBOR(integer: -257)), (-1, .bytes(modulus)),
                (-2, .bytes(exponent)),
            ])
        } else {
            let point = try #require(key.point)
            cose = map([
                (1, CBOR(integer: 2)), (3, CBOR(integer: -35)), (-1, CBOR(integer: 2)),
                (-2, .bytes(Bytes(point.prefix(48)))), (-3, .bytes(Bytes(point.suffix(48)))),
            ])
        }
        return ForeignKey(publicKey: key, cose: cose) { message in
            try tool.write(message, to: "message")
            try tool.run("dgst -\(hash) -sign key.pem -out signature message")
            return try tool.read("signature")
        }
    }

    /// libfido2 verifies 2048 bits, OpenSSL the rest.
    private func keys() throws -> [ForeignKey] {
        [
            try ed25519(), try openSSL("EC", "ec_paramgen_curve:P-384", hash: "sha384"),
            try openSSL("RSA", "rsa_keygen_bits:2048", hash: "sha256"),
            try openSSL("RSA", "rsa_keygen_bits:3072", hash: "sha256"),
        ]
    }

    @Test func `register and sign where they are allowed, and nowhere else`() throws {
        var fixture = try Fixture()
        for key in try keys() {
            let response = fixture.attested(
                "none", .map([]), data: fixture.newData(key: key.cose))
            fixture.policy = .service
            #expect(fixture.refusal(response) == .algorithmNotAllowed)
            fixture.policy = .service(algorithms: all, attestation: .untrusting)
            #expect(fixture.refusal(response) == nil)

            let good = try fixture.assertion()
            let message = good.authenticatorData + sha256(good.clientDataJSON).bytes
            let signature = try key.sign(message)
            let signed = good.with(signature: signature)
            let stored = fixture.stored(key: key.publicKey.spki)
            #expect(fixture.refusal(signed, stored) == nil)
            #expect(fixture.refusal(good, stored) == .signatureInvalid)
            for wrong in [
                signature + [0], Bytes(signature.dropLast()), [], try key.sign(message + [0]),
            ] {
                #expect(fixture.refusal(good.with(signature: wrong), stored) == .signatureInvalid)
            }
            // An algorithm that is taken out of the policy is of no use any more.
            fixture.policy = .service
            #expect(fixture.refusal(signed, stored) == .algorithmNotAllowed)
        }
    }

    @Test func `vouch for themselves`() throws {
        var fixture = try Fixture()
        fixture.policy = .service(algorithms: all, attestation: .untrusting)
        for key in try keys() {
            let data = fixture.newData(key: key.cose)
            let message = data + sha256(fixture.clientData("webauthn.create")).bytes
            let number = try #require(key.cose[3])
            let good = CBOR.map([]).with("alg", number)
                .with("sig", .bytes(try key.sign(message)))
            #expect(fixture.refusal(fixture.attested("packed", good, data: data)) == nil)
            let other = good.replacing("alg", CBOR(integer: -7))
            #expect(
                fixture.refusal(fixture.attested("packed", other, data: data))
                    == .attestationAlgorithmMismatch)
            let wrong = good.replacing("sig", .bytes(try key.sign(message + [0])))
            #expect(
                fixture.refusal(fixture.attested("packed", wrong, data: data))
                    == .attestationSignatureInvalid)
        }
    }

    @Test func `step 20 - the key is a whole, valid key of its algorithm`() throws {
        var fixture = try Fixture()
        fixture.policy = .service(algorithms: all, attestation: .untrusting)
        let ed25519 = try ed25519().cose
        let es384 = try openSSL("EC", "ec_paramgen_curve:P-384", hash: "sha384").cose
        let rsa = try openSSL("RSA", "rsa_keygen_bits:2048", hash: "sha256").cose
        let small = try #require(rsa[-1]?.bytes?.prefix(128))
        let changes: [(CBOR, Int64, CBOR?)] = [
            (ed25519, 1, CBOR(integer: 2)), (ed25519, -1, CBOR(integer: 7)), (ed25519, -1, nil),
            (ed25519, -2, nil), (ed25519, -2, .bytes(Bytes(repeating: 1, count: 31))),
            (es384, 1, CBOR(integer: 1)), (es384, -1, CBOR(integer: 1)), (es384, -3, .bool(true)),
            (es384, -3, .bytes(Bytes(repeating: 1, count: 48))),
            (es384, -2, .bytes(Bytes(repeating: 1, count: 32))),
            (rsa, 1, CBOR(integer: 2)), (rsa, -1, nil), (rsa, -2, nil), (rsa, -2, .bytes([1])),
            (rsa, -1, .bytes(Bytes(small.dropLast()) + [1])), (rsa, -1, .bytes([])),
            (rsa, -1, .bytes(Bytes(repeating: 0xFF, count: 2048))),
            (ed25519, 3, CBOR(integer: -7)), (rsa, 3, CBOR(integer: -35)),
        ]
        for (key, label, value) in changes {
            let changed = key.without(label).with(label, value)
            let response = fixture.attested(
                "none", .map([]), data: fixture.newData(key: changed))
            #expect(fixture.refusal(response) == .coseKeyInvalid, "\(label)")
        }
    }

    @Test func `a stored key is parsed once and kept`() throws {
        let keys = PasskeyKeys(keysMax: 8)
        let fixture = try Fixture()
        for _ in 0..<3 {
            _ = try AssertionCeremony.verify(
                try fixture.assertion(), challenge: fixture.challenge,
                credential: fixture.stored(), relyingParty: fixture.relyingParty,
                policy: .service, keys: keys)
        }
        #expect(keys.count == 1)
        #expect(throws: VerificationFailure.storedKeyInvalid) {
            try keys.key(of: fixture.stored(key: [0x30]))
        }
        #expect(keys.count == 1)
    }
}
