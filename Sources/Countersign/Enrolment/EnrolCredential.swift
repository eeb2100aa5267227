/// Whether the first key of a customer may be enrolled without anybody vouching for it.
package enum FirstEnrolmentRule: Sendable {
    /// Somebody always vouches: an active credential, or the bank's identity system.
    case needsAuthorization
    /// Only under the development flag, and only for a customer who never had a key.
    case mayBeUnauthorized
}

/// Enrols, lists and revokes the keys of customers.
///
/// Finishing has the shape of ``DecideAction``: load without locks, decide purely, commit what was
/// decided if all that was read still holds. Source: PSD2 RTS Art. 24(2)(b), NIST SP 800-63B §4.1.
package struct EnrolCredential<Store: CredentialStore, Verifier>: CredentialService
where Verifier: AssertionVerifier & RegistrationVerifier {
    let store: Store
    let verifier: Verifier
    let issuer: EnrolmentIssuer
    let sha256: Hasher256
    let identityToken: IdentityTokenReader?
    let firstEnrolment: FirstEnrolmentRule

    /// More open enrolments at a time are no customer's.
    package static var openMax: Int { 10 }
    /// Lost races that are tried again. Only a customer's own parallel requests compete.
    static var racesMax: Int { 100 }

    /// Wires the use cases together.
    ///
    /// - Parameters:
    ///   - store: Where customers and their keys are kept.
    ///   - verifier: Believes proofs of old keys and of new ones.
    ///   - issuer: Makes the messages to sign.
    ///   - sha256: Digests keys.
    ///   - identityToken: `nil` when no key of an identity system is configured: then no token counts.
    ///   - firstEnrolment: Anything but `needsAuthorization` only under the development flag.
    package init(
        store: Store, verifier: Verifier, issuer: EnrolmentIssuer, sha256: Hasher256,
        identityToken: IdentityTokenReader?, firstEnrolment: FirstEnrolmentRule
    ) {
        self.store = store
        self.verifier = verifier
        self.issuer = issuer
        self.sha256 = sha256
        self.identityToken = identityToken
        self.firstEnrolment = firstEnrolment
    }

    package func beginEnrolment(
        _ command: BeginEnrolmentCommand
    ) async throws(StoreFailure) -> EnrolmentOutcome {
        let context = try await store.loadForOpening(command.customerID)
        if let until = context.standing.lockedUntil, until > context.at {
            return .refused(.customerLocked(until: until))
        }
        let opened = issuer.open(command, context)
        switch try await store.open(opened.enrolment, openMax: Self.openMax, on: context) {
        case .opened: return .begun(opened.offer)
        case .tooManyOpen:
            return .refused(.tooManyOpen(retryAfter: context.policy.rules.challengeLifetime))
        }
    }

    package func beginAuthorization(
        customer: CustomerID, enrolment: ID<Enrolment>, keyDigest: Digest
    ) async throws(StoreFailure) -> AuthorizationOutcome {
        for _ in 0..<Self.racesMax {
            guard
                let context = try await store.load(
                    enrolment: enrolment, of: customer, voucher: nil)
            else { return .refused(.notFound) }
            if let refusal = context.refusal { return .refused(refusal) }
            guard context.possession == .active else { return .refused(.notAuthorized) }
            let questioned = issuer.question(keyDigest, context)
            if try await store.question(questioned.authorization, on: context) {
                return .challenged(questioned.challenge)
            }
        }
        throw .unavailable
    }

    package func credentials(
        of customer: CustomerID
    ) async throws(StoreFailure) -> [RecordedCredential] {
        try await store.credentials(of: customer)
    }

    package func revoke(
        _ command: RevokeCredentialCommand
    ) async throws(StoreFailure) -> RecordedCredential? {
        for _ in 0..<Self.racesMax {
            guard let context = try await store.loadForRevocation(command.credential) else {
                return nil
            }
            if context.credential.status == .revoked {
                // What is answered again must be durable: the row may be visible before it is.
                try await store.barrier()
                return context.credential
            }
            do throws(StoreFailure) {
                if let revoked = try await store.revoke(command, on: context) { return revoked }
            } catch .outcomeUnknown {
                try await settle()
            }
        }
        throw .unavailable
    }

    /// After a lost answer to a commit: waits for what that commit waits for, so that reading again
    /// tells what became of it.
    func settle() async throws(StoreFailure) {
        do throws(StoreFailure) { try await store.barrier() } catch { throw .outcomeUnknown }
    }
}
