extension VerifyDeviceRequest {
    package func requestSigning(
        of credential: ID<Credential>
    ) async throws(StoreFailure) -> RequestSigning? {
        let context = try await store.load(DeviceRequestLookup(credential: credential))
        return signing(context)
    }

    package func setRequestSigning(
        _ command: SetRequestSigningCommand
    ) async throws(StoreFailure) -> RequestSigning? {
        let lookup = DeviceRequestLookup(credential: command.credential)
        for _ in 0..<Self.racesMax {
            let context = try await store.load(lookup)
            guard let signing = signing(context), let claimed = context.claimed else { return nil }
            if signing.choice == command.choice {
                // What is answered must be durable: the row may be visible before it is.
                try await store.barrier()
                return signing
            }
            do throws(StoreFailure) {
                // The next round reads what was written and answers that.
                _ = try await store.set(command, on: claimed, at: context.at)
            } catch .outcomeUnknown {
                try await settle()
            }
        }
        throw .unavailable
    }

    /// `nil` without a device key of that ID: nothing else signs requests.
    private func signing(_ context: DeviceRequestContext) -> RequestSigning? {
        guard let claimed = context.claimed, claimed.registered.kind == .deviceKey else {
            return nil
        }
        return RequestSigning(
            credential: claimed.registered.id, choice: claimed.choice,
            effective: context.mode(unlessSet: general, for: nil))
    }
}
