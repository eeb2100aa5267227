import Countersign
import Crypto
import Delivery
import TestSupport
import Testing

@Suite struct `Published vectors of message signatures` {
    @Test func `RFC 9421 B_2_6 verifies`() throws {
        let key = try Ed25519PublicKey(
            pem: """
                -----BEGIN PUBLIC KEY-----
                MCowBQYDK2VwAyEAJrQLj5P/89iXES9+vFgrIy29clF9CC/oPPsw3c5D0bs=
                -----END PUBLIC KEY-----

                """)
        let url = try #require(HTTPURL("https://example.com/foo?param=Value&Pet=dog"))
        let parts = SignedParts(
            .request(method: "POST", url: url),
            fields: [
                HTTPField("Date", "Tue, 20 Apr 2021 02:07:55 GMT"),
                HTTPField("Content-Type", "application/json"), HTTPField("Content-Length", "18"),
            ])
        let input = try list(
            "sig-b26=(\"date\" \"@method\" \"@path\" \"@authority\" \"content-type\" \"content-length\")"
                + ";created=1618884473;keyid=\"test-key-ed25519\"")
        let signature = try #require(
            Base64.decode(
                "wqcAqbmYJ2ji2glfAMaRy4gruYYnx2nEFN2HN6jrnDnQCK1u02Gb04v9EDgwUPiu4A0w6vuQv5lIp5WPpBKRCw=="
            ))
        let base = try #require(SignatureBase.build(input, over: parts))
        #expect(VerificationKey.ed25519(key).isValid(signature: signature, for: base))
        #expect(!VerificationKey.ed25519(key).isValid(signature: signature, for: base + [10]))
    }

    @Test func `every case of rfc9421 gives its base and its verdict`() throws {
        guard let file = try Cases.vectors("rfc9421.json") else { return }
        var deviating: [String] = []
        var unsupported: [String] = []
        let cases = file["vectors"]?.elements ?? []
        for vector in cases {
            let name = try text(vector, "name")
            let input = try list(text(vector, "signature_input"))
            let base = SignatureBase.build(input, over: try parts(vector))
            if let expected = vector["signature_base"]?.text, base != Bytes(expected.utf8) {
                deviating.append(name)
                continue
            }
            guard let key = try key(file["keys"]?[text(vector, "key")] ?? .null) else {
                unsupported.append(name)
                continue
            }
            let encoded = try text(vector, "signature_b64")
            let signature = try #require(Base64.decode(encoded))
            let isValid = base.map { key.isValid(signature: signature, for: $0) } ?? false
            if isValid != (vector["expect"]?.text == "valid") { deviating.append(name) }
        }
        print(
            "rfc9421.json: \(cases.count) ran, unsupported algorithm \(unsupported),",
            "deviating \(deviating)")
        #expect(cases.count == 10)
        #expect(deviating.isEmpty)
        #expect(unsupported == ["request-hmac"])
    }

    @Test func `every case of rfc9530 gives its digest`() throws {
        guard let file = try Cases.vectors("rfc9530-content-digest.json") else { return }
        let cases = file["vectors"]?.elements ?? []
        for vector in cases {
            let hex = try text(vector, "content_hex")
            let body = try #require(Hex.decode(hex))
            let sha256 = try text(vector, "sha-256")
            let sha512 = try text(vector, "sha-512")
            #expect(ContentDigest.value(for: body) == sha256)
            #expect(ContentDigest.matches(sha256, body: body))
            #expect(ContentDigest.matches("\(sha512), \(sha256)", body: body))
            #expect(!ContentDigest.matches(sha512, body: body))
            #expect(!ContentDigest.matches(sha256, body: body + [0]))
        }
        print("rfc9530-content-digest.json: \(cases.count) ran")
        #expect(cases.count == 4)
    }

    private func parts(_ vector: JSON) throws -> SignedParts {
        let message = try #require(vector["message"])
        let fields = (message["headers"]?.elements ?? []).map {
            HTTPField($0.elements[0].text ?? "", $0.elements[1].text ?? "")
        }
        let line = try text(message, "start_line").split(separator: " ").map(String.init)
        if line[0].hasPrefix("HTTP/") {
            return SignedParts(.response(status: try #require(Int(line[1]))), fields: fields)
        }
        let host = try #require(fields.first { $0.name == "Host" }).value
        let url = try #require(HTTPURL(scheme: .https, authority: host, target: line[1]))
        return SignedParts(.request(method: line[0], url: url), fields: fields)
    }

    private func key(_ json: JSON) throws -> VerificationKey? {
        switch try text(json, "alg") {
        case "ed25519": .ed25519(try Ed25519PublicKey(pem: text(json, "public_pem")))
        case "ecdsa-p256-sha256":
            .ecdsaP256(try P256PublicKey(parsing: text(json, "public_pem")))
        default: nil
        }
    }

    private func text(_ json: JSON, _ name: String) throws -> String {
        try #require(json[name]?.text)
    }

    private func list(_ field: String) throws -> StructuredFields.InnerList {
        guard case .innerList(let list) = StructuredFields.dictionary(field)?.first?.value else {
            throw InvalidValue("not_a_list", field)
        }
        return list
    }
}
