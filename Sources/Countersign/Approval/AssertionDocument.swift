/// How an accepted proof is shown. Source: `docs/api.md`.
extension RecordedAssertion {
    /// The member `assertion`: a device key's parts are in standard base64, as devices produce them;
    /// a passkey's in base64url.
    package var json: JSON {
        let kind: CredentialKind
        let parts: [JSON.Member]
        switch proof {
        case .deviceKey(let signature, let format):
            kind = .deviceKey
            parts = [
                .init("signature_format", .string(format.rawValue)),
                .init("signature", .string(Base64.encode(signature))),
            ]
        case .passkey(let signature, let clientDataJSON, let authenticatorData):
            kind = .passkey
            parts = [
                .init("signature", .string(Base64.encodeURL(signature))),
                .init("client_data_json", .string(Base64.encodeURL(clientDataJSON))),
                .init("authenticator_data", .string(Base64.encodeURL(authenticatorData))),
            ]
        }
        return .object(
            [
                .init("credential_id", .string(credentialID.text)),
                .init("kind", .string(kind.rawValue)),
                .init("public_key", .string(Base64.encode(publicKeySPKI))),
            ] + parts)
    }
}
