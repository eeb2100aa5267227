/// What kind of key a credential is; the raw value is its word in the API.
package enum CredentialKind: String, CaseIterable, Sendable {
    /// A P-256 key of the customer's device, used only after a biometric check.
    case deviceKey = "device_key"
    /// A WebAuthn credential.
    case passkey
}
