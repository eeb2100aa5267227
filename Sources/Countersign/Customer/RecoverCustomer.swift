/// Ends all that a customer's keys were good for, because the customer lost them or lost control of them.
///
/// As when enrolling a first key, the bank's identity system says that this is the customer; the bank's
/// backend alone could only keep customers from paying, but that at will.
package struct RecoverCustomer<Store: CustomerStore>: Sendable {
    private let store: Store
    private let identityToken: IdentityTokenReader?
    private let rule: FirstEnrolmentRule

    /// As for ``DecideAction``.
    private static var racesMax: Int { 100 }

    /// - Parameters:
    ///   - store: Where customers are kept.
    ///   - identityToken: `nil` when no key of an identity system is configured: then no token counts.
    ///   - rule: As for ``EnrolCredential``: whether development goes without a token.
    package init(store: Store, identityToken: IdentityTokenReader?, rule: FirstEnrolmentRule) {
        self.store = store
        self.identityToken = identityToken
        self.rule = rule
    }

    /// Recovers a customer, also one who is locked: it only stops things.
    ///
    /// - Throws: ``StoreFailure``. The token may be spent when the answer is lost; then the list of
    ///   credentials tells.
    package func callAsFunction(
        _ command: RecoverCustomerCommand
    ) async throws(StoreFailure) -> RecoveryOutcome {
        var attempted: RecoveredCustomer?
        var isSpent = false
        for _ in 0..<Self.racesMax {
            guard let context = try await store.loadForRecovery(of: command.customerID) else {
                return .refused(.notFound)
            }
            if let attempted, attempted.at == context.recoveredAt { return .recovered(attempted) }
            do throws(StoreFailure) {
                let token: RecoveryToken?
                do throws(AuthorizationFault) {
                    token = try authorize(command, context, isSpent: isSpent)
                } catch {
                    try await store.record(error, of: command, on: context)
                    return .refused(.notAuthorized)
                }
                let recovery = Recovery(
                    command: command, token: token,
                    heldApprovals: context.policy.rules.recovery.heldApprovals, on: context)
                let recovered = RecoveredCustomer(recovery, on: context)
                attempted = recovered
                switch try await store.recover(recovery, on: context) {
                case .recovered: return .recovered(recovered)
                case .lostRace: attempted = nil
                case .tokenSpent: (attempted, isSpent) = (nil, true)
                }
            } catch .outcomeUnknown {
                try await store.settle()
            }
        }
        throw .unavailable
    }

    private func authorize(
        _ command: RecoverCustomerCommand, _ context: RecoveryContext, isSpent: Bool
    ) throws(AuthorizationFault) -> RecoveryToken? {
        guard let text = command.token else {
            guard rule == .mayBeUnauthorized else { throw .missing }
            return nil
        }
        guard let identityToken else { throw .tokenNotConfigured }
        guard let token = identityToken(text).flatMap(RecoveryToken.init(claims:)) else {
            throw .tokenInvalid
        }
        if let fault = token.fault(of: command.customerID, at: context.at) { throw fault }
        guard !isSpent else { throw .tokenSpent }
        return token
    }
}
