import Countersign
import Crypto
import TestSupport
import Testing
import WebAuthn

@Suite struct `Published cases of device keys` {
    /// The key as text, the signature in base64, as the API takes them.
    @Test func `device-key signatures`() throws {
        guard let cases = try Cases.read("device.jsonl", where: { $0.id.hasPrefix("dev-") }) else {
            return
        }
        let deviating = cases.run("device.jsonl device-signature") { one in
            let key = try? P256PublicKey(parsing: one.input("publicKey")?.text ?? "")
            let message = Base64.decode(one.input("messageB64")?.text ?? "?") ?? []
            let signature = Base64.decode(one.input("signature")?.text ?? "?")
            let isVerified =
                key.map { key in
                    (try? DeviceKeyVerifier.verify(
                        signature: signature ?? [], in: .der, over: message, key: key.spki)) != nil
                } ?? false
            if let key, let pem = one.json["canonical"]?["spkiPem"]?.text,
                one.expect("enrol")?.text != "accept" || one.expect("verify")?.text == "accept"
            {
                guard key.pem == pem else { return .deviating("became another key") }
            }
            return both(
                judge(one.expect("enrol")?.text, accepted: key != nil),
                judge(one.expect("verify")?.text, accepted: isVerified))
        }
        #expect(deviating.isEmpty)
    }

    /// What the cases say is about keys that sign in DER. For a key that was enrolled with the other
    /// format, only the signature that is of that format is one.
    @Test func `device-key signatures, as of keys that are enrolled as raw`() throws {
        guard let cases = try Cases.read("device.jsonl", where: { $0.id.hasPrefix("dev-") }) else {
            return
        }
        let deviating = cases.run("device.jsonl device-signature raw") { one in
            guard let key = try? P256PublicKey(parsing: one.input("publicKey")?.text ?? "") else {
                return .asExpected
            }
            let message = Base64.decode(one.input("messageB64")?.text ?? "?") ?? []
            let signature = Base64.decode(one.input("signature")?.text ?? "?")
            let isVerified =
                (try? DeviceKeyVerifier.verify(
                    signature: signature ?? [], in: .raw, over: message, key: key.spki)) != nil
            let isRaw = one.input("signatureFormat")?.text == "base64 of raw r||s"
            return judge(isRaw ? "accept" : "reject", accepted: isVerified)
        }
        #expect(deviating.isEmpty)
    }

    private func judge(_ verdict: String?, accepted: Bool) -> Judgement {
        switch verdict {
        case "either": .asExpected
        case "accept": accepted ? .asExpected : .deviating("refused")
        case "reject": accepted ? .deviating("accepted") : .asExpected
        default: .deviating("unknown verdict")
        }
    }

    private func both(_ enrol: Judgement, _ verify: Judgement) -> Judgement {
        if case .asExpected = enrol { verify } else { enrol }
    }
}
