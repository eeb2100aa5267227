/// Reads the members of a `PublicKeyCredential.toJSON()`. Source: WebAuthn L3 §5.1.8.
enum PasskeyJSON {
    /// The bytes of `rawId`, after `type` and `id` have been compared with what they must be.
    static func credentialID(of json: JSON) throws(InvalidValue) -> Bytes {
        guard case .object = json else {
            throw InvalidValue("credential_malformed", "The credential must be a JSON object.")
        }
        guard let type = json["type"]?.text, type.utf8.elementsEqual("public-key".utf8) else {
            throw InvalidValue("credential_type", "The credential's type must be public-key.")
        }
        let bytes = try Self.bytes("rawId", of: json)
        guard let id = json["id"]?.text, Base64.decodeURL(id) == bytes else {
            throw InvalidValue("credential_id_mismatch", "The members id and rawId must be equal.")
        }
        return bytes
    }

    static func response(of json: JSON) throws(InvalidValue) -> JSON {
        guard let response = json["response"], case .object = response else {
            throw InvalidValue("response_malformed", "The member response must be a JSON object.")
        }
        return response
    }

    static func bytes(_ name: String, of json: JSON) throws(InvalidValue) -> Bytes {
        guard let bytes = json.bytes(name) else {
            throw InvalidValue(
                "base64url_required", "The member \(name) must be base64url without padding.")
        }
        return bytes
    }

    /// `nil` when the member is missing or `null`: browsers write both.
    static func optionalBytes(_ name: String, of json: JSON) throws(InvalidValue) -> Bytes? {
        switch json[name] {
        case nil, .null: nil
        default: try bytes(name, of: json)
        }
    }
}
