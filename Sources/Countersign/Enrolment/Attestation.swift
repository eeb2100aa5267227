/// What the maker of a device or of an authenticator says about a new key, as far as it was believed.
package struct Attestation: Hashable, Sendable {
    package let verdict: AttestationVerdict
    /// The form of the statement, such as `packed` or `android-key`; `nil` when none came.
    package let format: String?
    /// The statement's bytes as they came: an attestation object, or the certificates, leaf first.
    package let statement: [Bytes]
    /// What was read off it, and what it cannot prove; an object. Kept whatever the profiles say.
    package let facts: JSON
    /// The profiles that the facts meet.
    package let profiles: [AttestationProfile]
    /// The key that assertions of App Attest are verified with; `nil` for every other form.
    package let appAttestKey: Bytes?

    package init(
        verdict: AttestationVerdict, format: String?, statement: [Bytes] = [], facts: JSON = [:],
        profiles: [AttestationProfile] = [], appAttestKey: Bytes? = nil
    ) {
        self.verdict = verdict
        self.format = format
        self.statement = statement
        self.facts = facts
        self.profiles = profiles
        self.appAttestKey = appAttestKey
    }

    /// That no statement came.
    package static let absent = Attestation(verdict: .absent, format: nil)
}

/// What an attestation proves, in the terms of WebAuthn L3 §6.5.4; the raw value is the word in the API.
package enum AttestationVerdict: String, CaseIterable, Sendable {
    /// Nothing came, or the format `none`.
    case absent = "none"
    /// The new key vouched for itself.
    case selfSigned = "self"
    /// A certificate of the maker, up to a trusted anchor.
    case basic
    /// A certificate of an attestation authority, as a TPM has it, up to a trusted anchor.
    case attestationCA = "attca"
    /// A certificate made for this one key, up to a trusted anchor.
    case anonymizationCA = "anonca"
    /// The statement is in order, and its certificates are a chain; but it leads to no anchor that is
    /// trusted here, or is too old or too weak to.
    case untrusted
    /// A device's statement in a format that this installation is not set up to judge.
    case unverified
}

/// A named set of conditions on an attested key, to which the policy refers.
///
/// The conditions are code, since they are what a profile's name promises; which app and which anchors
/// count is configuration.
package enum AttestationProfile: String, CaseIterable, Sendable {
    /// An Android key of secure hardware that signs only after a biometric on every use, in our app on a
    /// verified and locked system. Source: standards AK-09…AK-20.
    case androidBiometric = "android-biometric"
    /// The same, in a StrongBox.
    case androidBiometricStrongBox = "android-biometric-strongbox"
    /// A key that our app submitted on a genuine Apple device. It says nothing about a biometric.
    case appAttest = "app-attest"
    /// A passkey whose attestation chain reaches an anchor configured for its model.
    case fidoTrusted = "fido-trusted"
}

/// What may be said about who can use a key, and never more; the raw value is the word in the API.
///
/// Source: standards D-08.
package enum Assurance: String, CaseIterable, Sendable {
    /// The device's maker attests that only a biometric unlocks the key, on every use.
    case biometricAttested = "biometric-attested"
    /// Our app on a genuine device submitted the key; that a biometric gates it is the app's word.
    case appAttestBound = "app-attest-bound"
    /// The authenticator verified the user, by what means it does not say.
    case userVerificationUnspecified = "uv-unspecified"
    /// The app's word alone.
    case biometricClaimed = "biometric-claimed"

    /// What the kind of a key and the profiles that it met allow to be said.
    package init(_ kind: CredentialKind, meeting profiles: [AttestationProfile]) {
        switch kind {
        case .passkey: self = .userVerificationUnspecified
        case .deviceKey where profiles.contains(.androidBiometric): self = .biometricAttested
        case .deviceKey where profiles.contains(.appAttest): self = .appAttestBound
        case .deviceKey: self = .biometricClaimed
        }
    }
}
