/// Why a proof, or the making of a credential, was not believed.
///
/// The exact reason goes into evidence and is never told to the payer's side: all of them are one
/// `authentication-failed` there (RTS Art. 4(3)(a)).
package enum VerificationFailure: String, Error, CaseIterable, Sendable {
    // The client's data. WebAuthn L3 §5.8.1.
    case clientDataMalformed = "clientdata_malformed"
    case typeMismatch = "type_mismatch"
    case challengeMismatch = "challenge_mismatch"
    case originMismatch = "origin_mismatch"
    case crossOriginNotAllowed = "crossorigin_not_allowed"
    case topOriginNotAllowed = "toporigin_not_allowed"

    // The authenticator's data. WebAuthn L3 §6.1.
    case authenticatorDataMalformed = "authdata_malformed"
    case authenticatorDataTrailingBytes = "authdata_trailing_bytes"
    case relyingPartyMismatch = "rpid_mismatch"
    case userNotPresent = "up_missing"
    case userNotVerified = "uv_missing"
    case backupFlagsInvalid = "be_bs_invalid"
    case backupEligibilityChanged = "be_changed"
    case signCountRegression = "counter_regression"
    case cborMalformed = "cbor_malformed"

    // The credential and its key. WebAuthn L3 §6.5.
    case credentialType = "credential_type"
    case credentialUnknown = "credential_unknown"
    case credentialNotAllowed = "credential_not_allowed"
    case credentialIDMismatch = "credential_id_mismatch"
    case credentialIDTooLong = "credential_id_too_long"
    case userHandleMismatch = "user_handle_mismatch"
    case coseKeyInvalid = "cose_key_invalid"
    case algorithmNotAllowed = "alg_not_allowed"
    case signatureInvalid = "signature_invalid"

    // What a browser showed before a payment was confirmed. Secure Payment Confirmation, SPC-02 to -13.
    case paymentNotAllowed = "payment_not_allowed"
    case paymentDataMalformed = "payment_data_malformed"
    case paymentMemberUnknown = "payment_member_unknown"
    case paymentRelyingPartyMismatch = "payment_rpid_mismatch"
    case paymentTopOriginMismatch = "payment_toporigin_mismatch"
    case paymentPayeeMismatch = "payment_payee_mismatch"
    case paymentLogosMismatch = "payment_logos_mismatch"
    case paymentTotalMismatch = "payment_total_mismatch"
    case paymentInstrumentMismatch = "payment_instrument_mismatch"
    case paymentExtensionUnexpected = "payment_extension_unexpected"
    case browserBoundKeyInvalid = "browser_bound_key_invalid"
    case browserBoundSignatureInvalid = "browser_bound_signature_invalid"

    // The attestation. WebAuthn L3 §6.5 and §8.
    case attestationObjectTrailingBytes = "attobj_trailing_bytes"
    case attestationFormatUnsupported = "fmt_unsupported"
    case attestationStatementMalformed = "att_stmt_malformed"
    case attestationAlgorithmMismatch = "att_alg_mismatch"
    case attestationSignatureInvalid = "att_signature_invalid"
    case attestationNonceMismatch = "att_nonce_mismatch"
    case attestationPublicKeyMismatch = "att_pubkey_mismatch"
    case attestationModelMismatch = "att_aaguid_mismatch"
    case attestationCertificateInvalid = "att_cert_invalid"
    case attestationCertificateExpired = "att_cert_expired"
    case attestationChainBroken = "att_chain_broken"
    case attestationUntrusted = "att_untrusted"

    // Assertions of App Attest beside a device key's signature.
    case appAttestUnexpected = "app_attest_unexpected"
    case appAttestMalformed = "app_attest_malformed"
    case appAttestAppMismatch = "app_attest_app_mismatch"
    case appAttestSignatureInvalid = "app_attest_signature_invalid"
    case appAttestCounterRegression = "app_attest_counter_regression"

    /// The service's own record of the credential cannot be used: not the customer's fault, so it counts as
    /// no failure and is answered as one of ours.
    case storedKeyInvalid = "stored_key_invalid"

    /// The stable word under which evidence and statistics know the reason.
    package var code: String { rawValue }

    /// Whether it is about what the maker says of a new key, and not about the proof of its possession.
    package var isOfAttestation: Bool { Self.ofAttestation.contains(self) }

    private static let ofAttestation: Set<VerificationFailure> = [
        .attestationFormatUnsupported, .attestationStatementMalformed,
        .attestationAlgorithmMismatch, .attestationSignatureInvalid, .attestationNonceMismatch,
        .attestationPublicKeyMismatch, .attestationModelMismatch, .attestationCertificateInvalid,
        .attestationCertificateExpired, .attestationChainBroken, .attestationUntrusted,
    ]
}
