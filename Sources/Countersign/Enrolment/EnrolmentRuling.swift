/// What finishing an enrolment comes to, before it is written.
package enum EnrolmentRuling: Sendable {
    /// Nothing is to be written.
    case answer(FinishOutcome)
    case enrol(NewCredential)
    /// The enrolment is spent by an attempt that failed.
    case fail(FailedEnrolment)
}

/// A credential to be registered, with everything that entitles it.
package struct NewCredential: Sendable {
    /// As it will be told.
    package let recorded: RecordedCredential
    package let registration: VerifiedRegistration
    package let command: FinishEnrolmentCommand
    package let vouching: Vouching
}

/// Who vouches for a new key, after it was believed.
package enum Vouching: Sendable {
    /// Nobody: the first key of a customer under the development flag.
    case nobody
    case token(IdentityToken)
    case credential(VouchingAssertion)
}

/// An active credential's answer that was believed.
package struct VouchingAssertion: Sendable {
    package let authorization: RecordedAuthorization
    package let credential: RegisteredCredential
    package let head: ChainHead
    package let assertion: UnverifiedAssertion
    package let verified: VerifiedAssertion
}

/// A finish that failed, and what the counts make of it.
package struct FailedEnrolment: Sendable {
    package let command: FinishEnrolmentCommand
    package let fault: EnrolmentFault
    /// The question that was answered wrongly, when it was live: then the attempt counts.
    package let countsAgainst: RecordedAuthorization?
    /// The customer is locked until then.
    package let locksUntil: Instant?
    /// The credential that was named is suspended, and this ends with it; `nil` when it is not.
    package let suspends: OpenQuestions?
}

/// Exactly why a finish failed. It goes into evidence; the caller is told ``refusal`` only.
package enum EnrolmentFault: Error, Equatable, Sendable {
    /// What is stored is not what was issued.
    case tampered
    case keyForm(InvalidValue)
    /// The new key did not sign the enrolment message.
    case possession(VerificationFailure)
    /// The attestation that came cannot be taken, or the policy needs another.
    case attestation(AttestationFailure)
    /// Nobody entitled vouches for the key.
    case authorization(AuthorizationFault)
    /// The vouching assertion was not believed.
    case assertion(VerificationFailure)
    case credentialExists

    /// The stable word in evidence.
    package var code: String {
        switch self {
        case .tampered: "tampered"
        case .keyForm(let value): value.code
        case .possession(let failure), .assertion(let failure): failure.code
        case .attestation(let failure): failure.code
        case .authorization(let fault): fault.rawValue
        case .credentialExists: "credential_exists"
        }
    }

    /// What was being checked, as evidence tells it beside the code.
    package var stage: String {
        switch self {
        case .tampered: "storage"
        case .keyForm: "key"
        case .possession: "possession"
        case .attestation: "attestation"
        case .authorization, .assertion: "authorization"
        case .credentialExists: "uniqueness"
        }
    }

    /// What the caller is told.
    package var refusal: EnrolmentRefusal {
        switch self {
        case .keyForm(let value): .invalidKey(value)
        case .tampered, .possession, .assertion: .authenticationFailed
        // What is taken of makers is no secret, and tells nothing about the customer's proof.
        case .attestation: .attestationRefused
        case .authorization: .notAuthorized
        case .credentialExists: .credentialExists
        }
    }
}

/// Why nobody entitled vouches for a key; the raw value is the word in evidence.
package enum AuthorizationFault: String, Error, CaseIterable, Sendable {
    /// Nothing came, and something is needed.
    case missing = "authorization_missing"
    /// No such question of this enrolment, or it was answered, replaced or has expired.
    case challengeNotLive = "authorization_challenge_not_live"
    /// The policy lets the new key approve what the vouching one may not.
    case voucherNotAllowed = "authorization_voucher_not_allowed"
    /// The question was about another key.
    case keyMismatch = "authorization_key_mismatch"
    /// There is no key of an identity system to verify a token with.
    case tokenNotConfigured = "sca_token_not_configured"
    /// Not a token that the identity system signed, or one without the claims that are needed.
    case tokenInvalid = "sca_token_invalid"
    case tokenEnrolmentMismatch = "sca_token_enrolment_mismatch"
    case tokenCustomerMismatch = "sca_token_customer_mismatch"
    case tokenKeyMismatch = "sca_token_key_mismatch"
    case tokenExpired = "sca_token_expired"
    /// Its expiry is further ahead than ``IdentityToken/lifetimeMax``.
    case tokenTooLong = "sca_token_lifetime"
    /// Used before, for whatever.
    case tokenSpent = "sca_token_spent"
}
