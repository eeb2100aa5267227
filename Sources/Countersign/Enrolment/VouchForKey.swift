extension EnrolCredential {
    /// Believes whoever vouches for a key, or throws.
    ///
    /// - Parameters:
    ///   - authorization: What came with the request.
    ///   - key: SHA-256 of the new key as DER SubjectPublicKeyInfo.
    ///   - traits: What the policy looks at in the new key.
    ///   - context: What was read.
    /// - Returns: Who vouches.
    /// - Throws: ``EnrolmentFault``; only `assertion` is an attempt that counts.
    func vouch(
        _ authorization: EnrolmentAuthorization, for key: Digest, _ traits: CredentialTraits,
        _ context: EnrolmentContext
    ) throws(EnrolmentFault) -> Vouching {
        switch authorization {
        case .none:
            guard firstEnrolment == .mayBeUnauthorized, context.possession == .none else {
                throw .authorization(.missing)
            }
            return .nobody
        case .scaToken(let text):
            guard let identityToken else { throw .authorization(.tokenNotConfigured) }
            guard let token = identityToken(text).flatMap(IdentityToken.init(claims:)) else {
                throw .authorization(.tokenInvalid)
            }
            if let fault = token.fault(in: context, key: key) { throw .authorization(fault) }
            return .token(token)
        case .assertion(_, let assertion):
            let vouching = try vouch(with: assertion, for: key, context)
            // Only after the proof, so that nobody learns of a policy without a key.
            guard context.policy.rules.mayVouch(vouching.credential.traits, for: traits) else {
                throw .authorization(.voucherNotAllowed)
            }
            return .credential(vouching)
        }
    }

    private func vouch(
        with assertion: UnverifiedAssertion, for key: Digest, _ context: EnrolmentContext
    ) throws(EnrolmentFault) -> VouchingAssertion {
        guard let authorization = context.authorization, !authorization.isSpent,
            authorization.expiresAt > context.at
        else { throw .authorization(.challengeNotLive) }
        guard StoredMessages.agree(authorization, context.enrolment) else { throw .tampered }
        guard authorization.keyDigest == key else { throw .authorization(.keyMismatch) }
        guard let credential = context.voucher, credential.isActive, let head = context.voucherHead
        else { throw .assertion(.credentialUnknown) }
        do throws(VerificationFailure) {
            return VouchingAssertion(
                authorization: authorization, credential: credential, head: head,
                assertion: assertion,
                verified: try verifier.verify(
                    assertion, by: credential.stored, over: authorization.message))
        } catch {
            throw .assertion(error)
        }
    }
}

extension StoredMessages {
    /// Whether the stored enrolment message says what the stored enrolment says.
    static func agree(_ enrolment: RecordedEnrolment) -> Bool {
        guard let message = EnrolmentMessage(decoding: enrolment.message) else { return false }
        return message.enrolmentID == enrolment.id && message.customerID == enrolment.customerID
            && message.expiresAt == enrolment.expiresAt
    }

    /// Whether the stored question says what its row says, about this enrolment.
    static func agree(
        _ authorization: RecordedAuthorization, _ enrolment: RecordedEnrolment
    ) -> Bool {
        guard let message = AuthorizationMessage(decoding: authorization.message) else {
            return false
        }
        return message.challengeID == authorization.id && message.enrolmentID == enrolment.id
            && message.customerID == enrolment.customerID
            && message.expiresAt == authorization.expiresAt
            && message.keyDigest == authorization.keyDigest
    }
}
