import Countersign
import Crypto
import TestSupport
import Testing

/// Project Wycheproof's cases for P-256; each file prints one line.
@Suite struct `Wycheproof on P-256` {
    @Test func `signatures in DER`() throws {
        let deviating = try run("ecdsa_secp256r1_sha256_test.json") { key, message, signature in
            key.isValid(signature: signature, for: message)
        }
        #expect(deviating.isEmpty)
    }

    @Test func `signatures as r and s`() throws {
        let deviating = try run("ecdsa_secp256r1_sha256_p1363_test.json") { key, message, raw in
            P256Signature(raw: raw).map { key.isValid($0, for: message) } ?? false
        }
        #expect(deviating.isEmpty)
    }

    /// `acceptable` there is a spelling that some parser takes: here all of them are refused.
    @Test func `public keys in PEM`() throws {
        guard let document = try Cases.document("wycheproof/ecdh_secp256r1_pem_test.json") else {
            return
        }
        let cases = groups(of: document).flatMap { group in items(group["tests"]) }.map {
            Case(json: ["id": .string(id(of: $0)), "test": $0])
        }
        let deviating = cases.run("wycheproof ecdh_secp256r1_pem keys") { one in
            let test = one.json["test"] ?? .null
            let key = try? P256PublicKey(parsing: test["public"]?.text ?? "")
            switch test["result"]?.text {
            case "valid": return key == nil ? .deviating("refused") : .asExpected
            case "invalid", "acceptable":
                return key == nil ? .asExpected : .deviating("accepted")
            default: return .deviating("unknown result")
            }
        }
        #expect(deviating.isEmpty)
    }

    private func run(
        _ file: String, _ isValid: (P256PublicKey, Bytes, Bytes) -> Bool
    ) throws -> [String] {
        guard let document = try Cases.document("wycheproof/\(file)") else { return [] }
        let cases = groups(of: document).flatMap { group in
            items(group["tests"]).map {
                Case(json: ["id": .string(id(of: $0)), "group": group, "test": $0])
            }
        }
        return cases.run("wycheproof \(file)") { one in
            let group = one.json["group"] ?? .null
            let test = one.json["test"] ?? .null
            let key = try P256PublicKey(parsing: group["publicKeyPem"]?.text ?? "")
            guard key.spki == Hex.decode(group["publicKeyDer"]?.text ?? ""),
                let message = Hex.decode(test["msg"]?.text ?? "?"),
                let signature = Hex.decode(test["sig"]?.text ?? "?")
            else { return .deviating("cannot be read") }
            let verdict = isValid(key, message, signature) ? "valid" : "invalid"
            return verdict == test["result"]?.text ? .asExpected : .deviating(verdict)
        }
    }

    private func groups(of document: JSON) -> [JSON] { items(document["testGroups"]) }

    private func items(_ json: JSON?) -> [JSON] {
        if case .array(let values)? = json { values } else { [] }
    }

    private func id(of test: JSON) -> String {
        if case .integer(let number)? = test["tcId"] { "tcId \(number)" } else { "?" }
    }
}
