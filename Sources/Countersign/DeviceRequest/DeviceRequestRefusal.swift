/// Why a signed request is refused, in the order in which it is looked at; the first that applies is told.
///
/// The raw value is the stable word in the API and in metrics. The backend learns it, the phone need
/// not. None of them counts as an attempt: a stranger who knows a credential's ID must not be able to
/// lock its customer out.
package enum DeviceRequestRefusal: String, Error, CaseIterable, Sendable {
    // The form of the request.
    /// One of the four fields is not there.
    case headerMissing = "header_missing"
    /// One of the four fields is there twice.
    case headerDuplicate = "header_duplicate"
    case deviceIDMalformed = "device_id_malformed"
    case timestampMalformed = "timestamp_malformed"
    case nonceMalformed = "nonce_malformed"
    /// Not base64. What is base64 and no signature in the credential's format is ``signatureInvalid``.
    case signatureMalformed = "signature_malformed"
    /// Method, target or host is nothing that can stand in the head of a request.
    case targetMalformed = "target_malformed"

    // The credential.
    case credentialUnknown = "credential_unknown"
    /// Not a credential of the customer that the backend named.
    case credentialOfAnother = "credential_of_another"
    /// A passkey: it signs WebAuthn challenges and nothing else.
    case credentialKind = "credential_kind"
    case credentialRevoked = "credential_revoked"
    /// Disabled for ever by its failures.
    case credentialSuspended = "credential_suspended"

    // The signature.
    /// More than 300 s from the database's time, before or after.
    case timestampOutOfWindow = "timestamp_out_of_window"
    case signatureInvalid = "signature_invalid"
    /// The service's own record of the key cannot be used: not the phone's fault.
    case credentialUnusable = "credential_unusable"
    /// A good signature that was accepted before.
    case nonceUsed = "nonce_used"
}
