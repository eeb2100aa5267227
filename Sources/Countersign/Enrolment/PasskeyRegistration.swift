/// What an authenticator answered to the request to make a passkey, not yet believed.
///
/// Source: WebAuthn L3 §5.2.1, `AuthenticatorAttestationResponse`.
package struct PasskeyRegistration: Hashable, Sendable {
    /// The new credential's ID as the envelope states it; it must be the one in the attested data.
    package let rawID: Bytes
    /// What the client says it was asked and by whom.
    package let clientDataJSON: Bytes
    /// The authenticator's data with the new key, and a statement about it; CBOR.
    package let attestationObject: Bytes
    /// How the client can reach the authenticator, as it said: hints for later requests, not facts.
    package let transports: [String]

    /// The most transports that are kept; more is a client gone wrong.
    package static let transportsMax = 8
    /// The longest transport, in UTF-8 units.
    package static let transportUnitsMax = 32

    /// Takes the parts as they came; nothing is checked.
    package init(
        rawID: Bytes, clientDataJSON: Bytes, attestationObject: Bytes, transports: [String]
    ) {
        self.rawID = rawID
        self.clientDataJSON = clientDataJSON
        self.attestationObject = attestationObject
        self.transports = transports
    }

    /// Reads what a browser's `PublicKeyCredential.toJSON()` makes: `RegistrationResponseJSON`.
    ///
    /// Members that are not needed are ignored: what they repeat is read from the signed bytes only.
    ///
    /// - Throws: ``InvalidValue`` as ``PasskeyAssertion/init(json:)``, and `transports_malformed`.
    package init(json: JSON) throws(InvalidValue) {
        rawID = try PasskeyJSON.credentialID(of: json)
        let response = try PasskeyJSON.response(of: json)
        clientDataJSON = try PasskeyJSON.bytes("clientDataJSON", of: response)
        attestationObject = try PasskeyJSON.bytes("attestationObject", of: response)
        transports = try Self.transports(of: response)
    }

    private static func transports(of response: JSON) throws(InvalidValue) -> [String] {
        switch response["transports"] {
        case nil, .null: return []
        case .array(let values)?:
            let texts = values.compactMap(\.text)
            guard texts.count == values.count, texts.count <= transportsMax,
                texts.allSatisfy({ $0.utf8.count <= transportUnitsMax })
            else { break }
            return texts
        default: break
        }
        throw InvalidValue(
            "transports_malformed", "The member transports must be a short list of short strings.")
    }
}
