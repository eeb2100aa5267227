/// What came of opening an enrolment.
package enum EnrolmentOutcome: Sendable {
    case begun(EnrolmentOffer)
    case refused(EnrolmentRefusal)
}

/// What came of asking for a challenge by which an active credential vouches for a new key.
package enum AuthorizationOutcome: Sendable {
    case challenged(AuthorizationChallenge)
    case refused(EnrolmentRefusal)
}

/// What came of finishing an enrolment.
package enum FinishOutcome: Sendable {
    case enrolled(RecordedCredential)
    case refused(EnrolmentRefusal)
}

/// Why a credential was not enrolled, in the order in which the reasons are looked for.
package enum EnrolmentRefusal: Equatable, Sendable {
    /// No such enrolment of this customer.
    case notFound
    /// The enrolment was finished before, well or badly.
    case consumed
    case expired
    /// More open enrolments than are allowed for one customer.
    case tooManyOpen(retryAfter: Seconds)
    case customerLocked(until: Instant)
    /// The offered public key is no key of the kind that is needed.
    case invalidKey(InvalidValue)
    /// The proof of possession or the vouching assertion, whatever was wrong with it.
    case authenticationFailed
    /// The attestation that came is none that is taken, or the policy lets a key like this approve
    /// nothing.
    case attestationRefused
    /// Nobody entitled vouches for the key: no token, a bad or spent one, or one for another key;
    /// or there is no active credential that could.
    case notAuthorized
    /// The key or the credential ID is registered already, for whomever and in whatever state.
    case credentialExists
}

/// An open enrolment: what the new key is to sign.
package struct EnrolmentOffer: Sendable {
    package let id: ID<Enrolment>
    package let kind: CredentialKind
    package let expiresAt: Instant
    /// The canonical bytes of the enrolment message.
    package let message: Bytes
    /// `PublicKeyCredentialCreationOptionsJSON` for a passkey, else `nil`.
    package let webauthn: JSON?

    package init(
        id: ID<Enrolment>, kind: CredentialKind, expiresAt: Instant, message: Bytes,
        webauthn: JSON?
    ) {
        self.id = id
        self.kind = kind
        self.expiresAt = expiresAt
        self.message = message
        self.webauthn = webauthn
    }
}

/// What an active credential is to sign to vouch for a new key.
package struct AuthorizationChallenge: Sendable {
    package let id: ID<Challenge>
    package let enrolmentID: ID<Enrolment>
    package let expiresAt: Instant
    /// The canonical bytes of the `authorize_enrolment` message.
    package let message: Bytes
    /// `PublicKeyCredentialRequestOptionsJSON` when the customer has an active passkey, else `nil`.
    package let webauthn: JSON?

    package init(
        id: ID<Challenge>, enrolmentID: ID<Enrolment>, expiresAt: Instant, message: Bytes,
        webauthn: JSON?
    ) {
        self.id = id
        self.enrolmentID = enrolmentID
        self.expiresAt = expiresAt
        self.message = message
        self.webauthn = webauthn
    }
}
