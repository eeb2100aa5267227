extension EnrolCredential {
    package func finishEnrolment(
        _ command: FinishEnrolmentCommand
    ) async throws(StoreFailure) -> FinishOutcome {
        // What only the commit can tell, once it has told it.
        var found: EnrolmentFault?
        await verifier.prepare(for: command.offered)
        for _ in 0..<Self.racesMax {
            guard
                let context = try await store.load(
                    enrolment: command.enrolmentID, of: command.customerID,
                    voucher: command.authorization.voucher)
            else { return .refused(.notFound) }
            let ruling = try decide(command, context, found: found)
            do throws(StoreFailure) {
                switch ruling {
                case .answer(let outcome): return outcome
                case .fail(let failed):
                    if try await store.spend(failed, on: context) {
                        return .refused(failed.fault.refusal)
                    }
                case .enrol(let credential):
                    switch try await store.enrol(credential, on: context) {
                    case .enrolled: return .enrolled(credential.recorded)
                    case .lostRace: continue
                    case .tokenSpent: found = .authorization(.tokenSpent)
                    case .credentialExists: found = .credentialExists
                    }
                }
            } catch .outcomeUnknown {
                try await settle()
                if let enrolled = try await written(ruling) { return .enrolled(enrolled) }
            }
        }
        throw .unavailable
    }

    /// The credential of a ruling whose commit gave no answer, when it was written after all.
    private func written(
        _ ruling: EnrolmentRuling
    ) async throws(StoreFailure) -> RecordedCredential? {
        guard case .enrol(let credential) = ruling else { return nil }
        return try await store.credentials(of: credential.recorded.customerID)
            .first { $0.id == credential.recorded.id }
    }

    /// All control flow of a finish, in the order of ``EnrolmentRefusal``. Pure but for a fresh ID.
    ///
    /// - Throws: ``StoreFailure/internalFailure(code:)`` when the record of the vouching key cannot be
    ///   used: then nothing is spent, and nothing counts.
    func decide(
        _ command: FinishEnrolmentCommand, _ context: EnrolmentContext, found: EnrolmentFault?
    ) throws(StoreFailure) -> EnrolmentRuling {
        if let refusal = context.refusal { return .answer(.refused(refusal)) }
        do throws(EnrolmentFault) {
            if let found { throw found }
            guard StoredMessages.agree(context.enrolment) else { throw .tampered }
            let registration = try register(command.offered, context)
            guard context.policy.rules.mayApproveSomething(registration.traits) else {
                throw .attestation(.policyNotMet)
            }
            let vouching = try vouch(
                command.authorization, for: sha256(registration.publicKey), registration.traits,
                context)
            return .enrol(
                NewCredential(
                    recorded: record(registration, context), registration: registration,
                    command: command, vouching: vouching))
        } catch {
            if case .assertion(.storedKeyInvalid) = error {
                throw .unusableRecord(.storedKeyInvalid)
            }
            return .fail(failure(error, command, context))
        }
    }

    private func register(
        _ offered: OfferedCredential, _ context: EnrolmentContext
    ) throws(EnrolmentFault) -> VerifiedRegistration {
        let enrolment = context.enrolment
        guard offered.kind == enrolment.kind else {
            throw .keyForm(
                InvalidValue("credential_kind", "The enrolment is for another kind of credential."))
        }
        do throws(RegistrationFailure) {
            return try verifier.verify(offered, over: enrolment.message, at: context.at)
        } catch {
            switch error {
            case .keyForm(let value): throw .keyForm(value)
            case .proof(let failure): throw .possession(failure)
            case .attestation(let failure): throw .attestation(failure)
            }
        }
    }

    private func record(
        _ registration: VerifiedRegistration, _ context: EnrolmentContext
    ) -> RecordedCredential {
        let enrolment = context.enrolment
        return RecordedCredential(
            id: issuer.makeID(at: context.at), customerID: enrolment.customerID,
            kind: enrolment.kind, status: .active, label: enrolment.label, createdAt: context.at,
            usableAt: context.policy.rules.usableAt(createdAt: context.at, now: context.at),
            revokedAt: nil, attestation: registration.attestation,
            signatureFormat: enrolment.kind == .deviceKey ? registration.signatureFormat : nil,
            backupEligible: registration.passkey?.backupEligible ?? false,
            backupState: registration.passkey?.backupState ?? false)
    }

    /// Only a vouching assertion against a live question is an attempt of the customer: anything else
    /// could be sent by a stranger to lock the customer out.
    private func failure(
        _ fault: EnrolmentFault, _ command: FinishEnrolmentCommand, _ context: EnrolmentContext
    ) -> FailedEnrolment {
        guard case .assertion = fault else {
            return FailedEnrolment(
                command: command, fault: fault, countsAgainst: nil, locksUntil: nil, suspends: nil)
        }
        let attempts = context.policy.rules.attempts
        let locks = context.standing.failures + 1 >= attempts.perCustomer
        return FailedEnrolment(
            command: command, fault: fault, countsAgainst: context.authorization,
            locksUntil: locks ? context.at + attempts.lock : nil,
            suspends: context.voucher?.endingWithOneMoreFailure)
    }
}

extension EnrolmentAuthorization {
    /// What the store reads of whoever vouches; `nil` when that is no credential.
    package var voucher: VoucherReference? {
        guard case .assertion(let challenge, let assertion) = self else { return nil }
        return VoucherReference(challenge: challenge, credential: assertion.reference)
    }
}

extension OfferedCredential {
    package var kind: CredentialKind {
        switch self {
        case .deviceKey: .deviceKey
        case .passkey: .passkey
        }
    }
}

extension PolicyRules {
    /// When the longest cooling-off of a new credential ends; `nil` when it has ended.
    package func usableAt(createdAt: Instant, now: Instant) -> Instant? {
        guard let longest = newCredentialCoolingOff.values.max() else { return nil }
        let end = createdAt + longest
        return end > now ? end : nil
    }
}
