/// What came of cancelling.
package enum CancelOutcome: Sendable {
    case cancelled(RecordedAction)
    case refused(DecisionRefusal)
}

/// Takes an action back.
package struct CancelAction<Store: ActionStore>: Sendable {
    private let store: Store

    /// As for ``DecideAction``.
    private static var racesMax: Int { 100 }

    package init(store: Store) { self.store = store }

    /// Cancels an action before it is signed, or after that while nothing was sent to core banking.
    ///
    /// - Throws: ``StoreFailure``; asking again is safe.
    package func callAsFunction(
        _ action: ID<Action>, reason: String
    ) async throws(StoreFailure) -> CancelOutcome {
        for _ in 0..<Self.racesMax {
            guard
                let context = try await store.load(action: action, challenge: nil, credential: nil)
            else { return .refused(.notFound) }
            switch context.action.execution {
            case .held, .ready: break
            case .none:
                if let refusal = DecisionRefusal(closed: context.action, at: context.at)
                    ?? DecisionRefusal(exhausted: context.action)
                {
                    return .refused(refusal)
                }
            case .cancelled: return .refused(.actionCancelled)
            case .inProgress, .executed, .refused, .unknown:
                return .refused(.alreadyDecided(context.action.authorization))
            }
            if let cancelled = try await store.cancel(reason: reason, on: context) {
                return .cancelled(cancelled)
            }
        }
        throw .unavailable
    }
}
