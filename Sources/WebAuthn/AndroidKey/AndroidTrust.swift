package import Countersign
package import Crypto

/// What an Android attestation is believed by: roots, and what was revoked below them.
package struct AndroidTrust: Sendable {
    /// The pinned roots; in production ``GoogleAttestationRoots``.
    package let roots: [Certificate]
    /// `nil` when the operator supplied none: then nothing is believed.
    package let revocations: RevocationList?
    /// How old the list may be.
    package let revocationsAgeMax: Seconds

    /// Takes every part; none has a default.
    package init(roots: [Certificate], revocations: RevocationList?, revocationsAgeMax: Seconds) {
        self.roots = roots
        self.revocations = revocations
        self.revocationsAgeMax = revocationsAgeMax
    }

    /// How far the date of the list may be ahead: two clocks differ, and no more.
    static let revocationsSkewMax = Seconds(300)

    /// The last instant at which the list counts; `nil` without one.
    package var revocationsUntil: Instant? { revocations.map { $0.fetchedAt + revocationsAgeMax } }

    /// Whether there is a list that counts now. One from the future is as wrong as one that is too old: it
    /// would be believed for longer than the operator said.
    package func hasFreshRevocations(at now: Instant) -> Bool {
        guard let revocations, let until = revocationsUntil else { return false }
        return now <= until && revocations.fetchedAt <= now + Self.revocationsSkewMax
    }
}

/// Why an attestation proves nothing. Evidence has the raw value after `android_`: the code of the domain's
/// `AttestationFailure`.
package enum AndroidAttestationFailure: String, Error, Hashable, Sendable, CaseIterable {
    /// No certificates, too many, or one that cannot be read.
    case malformed = "malformed"
    /// A certificate was not issued by the next one, or may not issue (AK-01, AK-02).
    case chainBroken = "chain_broken"
    /// Fewer than three certificates from the leaf to the root (AK-01).
    case chainTooShort = "chain_too_short"
    /// SHA-1 or a short key on the way (AK-02).
    case chainWeak = "chain_weak"
    /// No pinned root (AK-02, AK-03).
    case rootUntrusted = "root_untrusted"
    /// The root of software attestation: an emulator or no attested hardware (AK-03).
    case rootSoftware = "root_software"
    /// Source: AK-04.
    case expired = "expired"
    /// Source: AK-04.
    case notYetValid = "not_yet_valid"
    /// Source: AK-06.
    case revoked = "revoked"
    /// Source: AK-06, fail closed.
    case revocationsMissing = "revocations_missing"
    /// Source: AK-06, fail closed.
    case revocationsStale = "revocations_stale"
    /// The leaf has no description of a key (AK-07).
    case extensionMissing = "extension_missing"
    /// It is there twice, or in a certificate above the leaf (AK-05).
    case extensionMisplaced = "extension_misplaced"
    /// The description, or a part such as the root of trust, does not parse (AK-07, AK-18).
    case descriptionMalformed = "description_malformed"
    /// Of a version that this program does not know (AK-07).
    case descriptionUnknown = "description_unknown"
    /// Tags repeated or not ascending (AK-22).
    case tagsDisordered = "tags_disordered"
    /// Not the challenge of this enrolment (AK-08).
    case challengeMismatch = "challenge_mismatch"
    /// The leaf's key is of a kind that this service never enrols.
    case keyUnsupported = "key_unsupported"
    /// Not the key that is being enrolled (AK-21).
    case keyMismatch = "key_mismatch"
}
