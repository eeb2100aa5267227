// What an `ID` names, where the thing itself needs no type of its own here. Never instantiated.

/// One action that a customer is asked to sign.
package enum Action {}

/// One record of evidence.
package enum Evidence {}

/// One registered public key of a customer.
package enum Credential {}

/// One claim of one item of work: whoever holds the latest lease may settle it.
package enum Lease {}

/// What kind of key a credential is; the raw value is its word in the API.
package enum CredentialKind: String, CaseIterable, Sendable {
    /// A P-256 key of the customer's device, used only after a biometric check.
    case deviceKey = "device_key"
    /// A WebAuthn credential.
    case passkey
}

/// Somebody whom a customer may pay.
package enum Payee {}

/// One attempt to register a key.
package enum Enrolment {}

/// A system or person that calls the API.
package enum Client {}

/// A customer as evidence knows it: a random stand-in for the bank's ID.
package enum Subject {}
