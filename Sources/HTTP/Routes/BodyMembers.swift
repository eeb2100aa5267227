import Countersign

/// Members that several bodies share.
extension ObjectReader {
    /// An ID that must be there; other text is not readable as a request at all.
    mutating func id<Entity>(_ name: String) throws(BodyRefusal) -> ID<Entity> {
        guard let id = ID<Entity>(try string(name)) else {
            throw ObjectReader.malformed("An ID is needed here.", at: pointer.member(name))
        }
        return id
    }

    /// Bytes in standard base64, as devices write them.
    mutating func base64(_ name: String) throws(BodyRefusal) -> Bytes {
        guard let bytes = Base64.decode(try string(name)) else {
            throw ObjectReader.malformed("Base64 is needed here.", at: pointer.member(name))
        }
        return bytes
    }

    /// Bytes in standard base64, or `nil` when there are none.
    mutating func optionalBase64(_ name: String) throws(BodyRefusal) -> Bytes? {
        has(name) ? try base64(name) : nil
    }

    /// A list of bytes in standard base64.
    mutating func base64List(_ name: String) throws(BodyRefusal) -> [Bytes] {
        var list: [Bytes] = []
        for (index, text) in try strings(name).enumerated() {
            guard let bytes = Base64.decode(text) else {
                throw ObjectReader.malformed(
                    "Base64 is needed here.", at: pointer.member(name).element(index))
            }
            list.append(bytes)
        }
        return list
    }

    /// A SHA-256 in hexadecimal.
    mutating func digest(_ name: String) throws(BodyRefusal) -> Digest {
        guard let digest = Hex.decode(try string(name)).flatMap(Digest.init) else {
            throw ObjectReader.malformed(
                "A SHA-256 in hexadecimal is needed here.", at: pointer.member(name))
        }
        return digest
    }

    /// A policy document that must be there; `PolicyRules` reads it.
    mutating func policyDocument(_ name: String) throws(BodyRefusal) -> JSON? {
        guard let document = try optionalDocument(name) else {
            refuse(name, InvalidValue("required", "A policy document is needed."))
            return nil
        }
        return document
    }

    /// A time that must be there.
    mutating func instant(_ name: String) throws(BodyRefusal) -> Instant? {
        try value(name) { text throws(InvalidValue) in
            guard let instant = Instant(text: text), instant.isWritable else {
                throw InvalidValue(
                    "instant_format",
                    "A time of the years 1970 to 9999 is written like 2026-11-30T12:00:00.000Z.")
            }
            return instant
        }
    }

    /// What a browser made, read by the standard that it follows; others may add members to it.
    mutating func passkey<Value>(
        _ make: (JSON) throws(InvalidValue) -> Value
    ) throws(BodyRefusal) -> Value {
        try browserMade("passkey", "A passkey's answer is missing here.", make)
    }

    private mutating func browserMade<Value>(
        _ name: String, _ whenMissing: String, _ make: (JSON) throws(InvalidValue) -> Value
    ) throws(BodyRefusal) -> Value {
        guard let json = try optionalDocument(name) else {
            throw ObjectReader.malformed(whenMissing, at: pointer.member(name))
        }
        do throws(InvalidValue) { return try make(json) } catch {
            throw ObjectReader.malformed(error.detail, at: pointer.member(name))
        }
    }

    /// An answer to a challenge that may also come from the browser's payment dialog, as `payment`.
    mutating func assertionOrPayment() throws(BodyRefusal) -> (
        ID<Challenge>, UnverifiedAssertion
    )? {
        guard has("payment") else { return try assertion() }
        let challenge: ID<Challenge> = try id("challenge_id")
        let payment = try browserMade("payment", "A payment's confirmation is missing here.") {
            json throws(InvalidValue) in try PaymentAssertion(json: json)
        }
        return (challenge, .payment(payment))
    }

    /// An answer to a challenge: `challenge_id` with a device key's signature or a passkey's answer.
    mutating func assertion() throws(BodyRefusal) -> (ID<Challenge>, UnverifiedAssertion)? {
        let challenge: ID<Challenge> = try id("challenge_id")
        guard !has("passkey") else {
            let assertion = try passkey { json throws(InvalidValue) in
                try PasskeyAssertion(json: json)
            }
            return (challenge, .passkey(assertion))
        }
        let credential: ID<Credential> = try id("credential_id")
        return try object("device_key") { reader throws(BodyRefusal) in
            let signature = try reader.base64("signature")
            let appAttest = try reader.optionalBase64("app_attest")
            return (
                challenge,
                .deviceKey(credential: credential, signature: signature, appAttest: appAttest)
            )
        }
    }

    /// Why somebody takes something back, in words.
    mutating func reason() throws(BodyRefusal) -> DisplayText? {
        try displayText("reason", .reason)
    }
}
