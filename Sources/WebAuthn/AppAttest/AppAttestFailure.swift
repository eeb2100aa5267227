/// Why a statement of App Attest is not believed. Evidence has the raw value of an attestation's failure
/// after `app_attest_`; of an assertion's it has the `VerificationFailure` that is made of it.
package enum AppAttestFailure: String, Error, CaseIterable, Sendable {
    case cborMalformed = "cbor_malformed"
    /// Not `apple-appattest`.
    case format = "fmt"
    /// A statement or authenticator data without its parts.
    case malformed = "malformed"
    /// Source: AA-01.
    case certificateInvalid = "cert_invalid"
    case chainBroken = "chain_broken"
    case rootUntrusted = "root_untrusted"
    case certificateExpired = "cert_expired"
    /// Another challenge, or another device key. Source: AA-02…AA-04.
    case nonceMismatch = "nonce_mismatch"
    /// Source: AA-05, AA-09.
    case keyIDMismatch = "key_id_mismatch"
    /// Source: AA-06, AA-13.
    case appIDMismatch = "app_id_mismatch"
    /// A new key that has signed before. Source: AA-07.
    case counterNotZero = "counter_not_zero"
    /// Source: AA-08.
    case environment = "environment"
    /// The key in the authenticator's data is not the certified one.
    case keyMismatch = "key_mismatch"
    /// Source: AA-12.
    case signatureInvalid = "signature_invalid"
    /// Source: AA-14.
    case counterRegression = "counter_regression"
}
