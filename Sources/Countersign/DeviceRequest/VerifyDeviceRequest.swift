/// Judges signed requests of customers' phones, and keeps how strictly.
///
/// The shape of ``DecideAction``: load without locks, decide purely, commit what was decided if all
/// that was read still holds. A nonce is remembered in the commit that accepts its request, so of any
/// number of copies, through any number of instances, one is accepted.
package struct VerifyDeviceRequest<Store: DeviceRequestStore, Verifier: AssertionVerifier>:
    DeviceRequestService
{
    let store: Store
    let judge: DeviceRequestJudge<Verifier>
    let entropy: EntropySource
    let general: RequestMode

    /// Lost races that are tried again. Copies of one request compete, and changes of its credential.
    static var racesMax: Int { 100 }

    /// Wires the use cases together.
    ///
    /// - Parameters:
    ///   - store: Where credentials and nonces are kept.
    ///   - verifier: Believes signatures.
    ///   - entropy: Names each call.
    ///   - general: The mode of credentials that have none of their own.
    package init(store: Store, verifier: Verifier, entropy: EntropySource, general: RequestMode) {
        self.store = store
        self.entropy = entropy
        self.general = general
        judge = DeviceRequestJudge(verifier: verifier)
    }

    package func verify(
        _ request: DeviceRequest
    ) async throws(StoreFailure) -> DeviceRequestAnswer {
        let lookup = DeviceRequestLookup(request)
        let random = entropy(10)
        var call: ID<DeviceRequest>?
        for _ in 0..<Self.racesMax {
            let context = try await store.load(lookup)
            let own = call ?? ID(at: context.at, random: random)
            call = own
            let ruling = judge.decide(request, call: own, context)
            do throws(StoreFailure) {
                if let verdict = try await carryOut(ruling, as: own, on: context) {
                    return answer(verdict, to: request, context)
                }
            } catch .outcomeUnknown {
                try await settle()
            }
        }
        throw .unavailable
    }

    /// Commits a ruling; `nil` for a lost race.
    private func carryOut(
        _ ruling: DeviceRequestRuling, as call: ID<DeviceRequest>,
        on context: DeviceRequestContext
    ) async throws(StoreFailure) -> DeviceRequestAnswer.Verdict? {
        switch ruling {
        case .refuse(let refusal):
            return .refused(refusal, named: context.claimed?.registered.id)
        case .accepted(let claimed): return claimed.verified
        case .accept(let signature, let claimed):
            return try await store.remember(signature, as: call) ? claimed.verified : nil
        case .replayed(let replay, let claimed):
            let isRecorded = try await store.record(replay, by: claimed, at: context.at)
            return isRecorded ? .refused(.nonceUsed, named: claimed.registered.id) : nil
        }
    }

    private func answer(
        _ verdict: DeviceRequestAnswer.Verdict, to request: DeviceRequest,
        _ context: DeviceRequestContext
    ) -> DeviceRequestAnswer {
        DeviceRequestAnswer(
            verdict: verdict, mode: context.mode(unlessSet: general, for: request.customerID),
            profile: request.profile.name, at: context.at)
    }

    /// After a lost answer to a commit: waits for what that commit waits for, so that reading again
    /// tells what became of it.
    func settle() async throws(StoreFailure) {
        do throws(StoreFailure) { try await store.barrier() } catch { throw .outcomeUnknown }
    }
}

extension ClaimedCredential {
    /// What is told of a request that this credential signed.
    fileprivate var verified: DeviceRequestAnswer.Verdict {
        .verified(registered.id, of: customerID)
    }
}
