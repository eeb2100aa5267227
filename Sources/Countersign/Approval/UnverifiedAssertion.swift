/// The customer's proof as it came, not yet believed.
package enum UnverifiedAssertion: Hashable, Sendable {
    /// A signature over the signed message by the device key of that credential, in the format that it
    /// was enrolled with. With `appAttest`, an assertion of App Attest over the same message: an extra
    /// proof, never instead of the signature.
    case deviceKey(credential: ID<Credential>, signature: Bytes, appAttest: Bytes? = nil)
    case passkey(PasskeyAssertion)
    /// A passkey's answer by way of the browser's own payment dialog: for approving transfers only.
    case payment(PaymentAssertion)
}

/// What an authenticator answered to a WebAuthn request, byte for byte.
///
/// The signature covers these bytes, so they are kept and stored as they came.
/// Source: WebAuthn L3 §5.2.2, `AuthenticatorAssertionResponse`.
package struct PasskeyAssertion: Hashable, Sendable {
    /// The credential's ID, chosen by the authenticator.
    package let rawID: Bytes
    /// What the client says it was asked and by whom; its SHA-256 is signed.
    package let clientDataJSON: Bytes
    /// What the authenticator says about itself and the user; signed.
    package let authenticatorData: Bytes
    /// Over the authenticator data and the client data's hash. Source: WebAuthn L3 §6.5.5.
    package let signature: Bytes
    /// The user handle that the authenticator has stored with the credential, when it sent one.
    package let userHandle: Bytes?

    /// Takes the parts as they came; nothing is checked.
    package init(
        rawID: Bytes, clientDataJSON: Bytes, authenticatorData: Bytes, signature: Bytes,
        userHandle: Bytes?
    ) {
        self.rawID = rawID
        self.clientDataJSON = clientDataJSON
        self.authenticatorData = authenticatorData
        self.signature = signature
        self.userHandle = userHandle
    }

    /// Reads what a browser's `PublicKeyCredential.toJSON()` makes: `AuthenticationResponseJSON`.
    ///
    /// Members that are not needed are ignored. Source: WebAuthn L3 §5.1.8.
    ///
    /// - Throws: ``InvalidValue`` when a needed member is missing, of another type, or not base64url
    ///   without padding; `credential_type` when it is no public-key credential, and
    ///   `credential_id_mismatch` when `id` is not `rawId`.
    package init(json: JSON) throws(InvalidValue) {
        rawID = try PasskeyJSON.credentialID(of: json)
        let response = try PasskeyJSON.response(of: json)
        clientDataJSON = try PasskeyJSON.bytes("clientDataJSON", of: response)
        authenticatorData = try PasskeyJSON.bytes("authenticatorData", of: response)
        signature = try PasskeyJSON.bytes("signature", of: response)
        userHandle = try PasskeyJSON.optionalBytes("userHandle", of: response)
    }
}
