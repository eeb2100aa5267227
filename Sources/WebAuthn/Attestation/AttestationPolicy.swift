package import Countersign
package import Crypto

/// Which attestation statements a new credential may come with, and whom to believe about them.
///
/// Source: WebAuthn L3 §7.1 steps 21–24.
package struct AttestationPolicy: Hashable, Sendable {
    /// What becomes of a credential whose maker is not trusted here.
    package enum Trust: Hashable, Sendable {
        /// It is taken, and recorded as what it is. The statement itself must be in order all the same, and
        /// its certificates a chain.
        case recorded
        /// It is refused: also `none` and self attestation, which nobody vouches for.
        case required
    }

    /// The formats that are taken; any other is refused, never treated as `none` (WR-21).
    package let formats: Set<AttestationFormat>
    /// What to do without a trusted maker.
    package let trust: Trust
    /// Who is trusted, and about what.
    package let anchors: [AttestationAnchor]

    /// Takes every demand; none has a default.
    package init(formats: Set<AttestationFormat>, trust: Trust, anchors: [AttestationAnchor]) {
        self.formats = formats
        self.trust = trust
        self.anchors = anchors
    }

    /// Every format, trust in nobody: what a service does that was not told whom to trust.
    package static let untrusting = AttestationPolicy(
        formats: Set(AttestationFormat.allCases), trust: .recorded, anchors: [])

    /// The certificates that may vouch for a statement of that format about that model.
    func certificates(
        for format: AttestationFormat, of model: AAGUID, at instant: Instant
    ) -> [Certificate] {
        anchors.filter { $0.covers(format, model, at: instant) }.map(\.certificate)
    }
}

/// A certificate that is trusted to attest, and how far.
package struct AttestationAnchor: Hashable, Sendable {
    /// A root, an intermediate, or the attestation certificate itself, as metadata may list it.
    package let certificate: Certificate
    /// The only format for which it counts; `nil` for all.
    package let format: AttestationFormat?
    /// The only model for which it counts; `nil` for all.
    package let model: AAGUID?
    /// From when on it counts no more, as when newer metadata is due; `nil` for never.
    package let until: Instant?

    /// Takes a certificate and its limits.
    package init(
        _ certificate: Certificate, format: AttestationFormat?, model: AAGUID?, until: Instant?
    ) {
        self.certificate = certificate
        self.format = format
        self.model = model
        self.until = until
    }

    func covers(_ format: AttestationFormat, _ model: AAGUID, at instant: Instant) -> Bool {
        (self.format ?? format) == format && (self.model ?? model) == model
            && until.map { instant < $0 } ?? true
    }
}
