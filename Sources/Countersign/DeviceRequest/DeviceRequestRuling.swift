/// What is to be done about a signed request. Made without I/O; carried out by the store.
package enum DeviceRequestRuling: Sendable {
    /// The signature is good: accepted if the nonce can be remembered.
    case accept(RequestSignature, by: ClaimedCredential)
    /// This very call accepted it: the answer to its commit had been lost.
    case accepted(by: ClaimedCredential)
    case refuse(DeviceRequestRefusal)
    /// An accepted request came again, and nobody recorded that yet.
    case replayed(ReplayedRequest, by: ClaimedCredential)
}

/// A replay, with what a stranger needs to see that the customer's key signed it.
package struct ReplayedRequest: Sendable {
    package let request: DeviceRequest
    package let signature: RequestSignature
    /// The bytes that were signed.
    package let message: Bytes
    package let earlier: AcceptedRequest

    package init(
        request: DeviceRequest, signature: RequestSignature, message: Bytes,
        earlier: AcceptedRequest
    ) {
        self.request = request
        self.signature = signature
        self.message = message
        self.earlier = earlier
    }
}

/// The numbers by which signed requests are judged.
package enum DeviceRequestRules {
    /// How far a phone's clock may be from the database's, before and after; both edges are inside.
    package static let window = Seconds(300)
    /// Replays of one credential's requests that are recorded while they are remembered. More say
    /// nothing new, and whoever owns a phone could fill the log with them.
    package static let replaysRecordedMax = 32
}

/// Judges signed requests. Pure: the same in every instance and at every try.
package struct DeviceRequestJudge<Verifier: AssertionVerifier>: Sendable {
    let verifier: Verifier

    package init(verifier: Verifier) { self.verifier = verifier }

    /// Decides.
    ///
    /// - Parameters:
    ///   - request: As it came.
    ///   - call: Names this call, so that it knows its own doing again.
    ///   - context: What was read.
    /// - Returns: The ruling; refusals in the order of ``DeviceRequestRefusal``.
    package func decide(
        _ request: DeviceRequest, call: ID<DeviceRequest>, _ context: DeviceRequestContext
    ) -> DeviceRequestRuling {
        do throws(DeviceRequestRefusal) {
            let signature = try RequestSignature(request.fields)
            guard
                let message = CanonicalRequest.bytes(
                    of: request, timestamp: signature.timestamp, nonce: signature.nonce)
            else { throw .targetMalformed }
            let claimed = try credential(request, context)
            // Whole seconds, as the phone's: the last second of the window is all inside.
            let now = context.at.wholeSeconds.milliseconds / 1000
            guard abs(now - signature.timestamp) <= DeviceRequestRules.window.count else {
                throw .timestampOutOfWindow
            }
            try verify(signature, by: claimed, over: message)
            // Only now: a nonce is spent, and a replay recorded, by nobody but the key's holder.
            guard let earlier = claimed.earlier else {
                return .accept(signature, by: claimed)
            }
            if earlier.id == call { return .accepted(by: claimed) }
            guard !earlier.replayIsRecorded,
                claimed.replaysRecorded < DeviceRequestRules.replaysRecordedMax
            else { throw .nonceUsed }
            return .replayed(
                ReplayedRequest(
                    request: request, signature: signature, message: message, earlier: earlier),
                by: claimed)
        } catch {
            return .refuse(error)
        }
    }

    private func credential(
        _ request: DeviceRequest, _ context: DeviceRequestContext
    ) throws(DeviceRequestRefusal) -> ClaimedCredential {
        guard let claimed = context.claimed else { throw .credentialUnknown }
        if let customer = request.customerID, customer != claimed.customerID {
            throw .credentialOfAnother
        }
        guard claimed.registered.kind == .deviceKey else { throw .credentialKind }
        switch claimed.status {
        case .active: return claimed
        case .revoked: throw .credentialRevoked
        case .suspended: throw .credentialSuspended
        }
    }

    private func verify(
        _ signature: RequestSignature, by claimed: ClaimedCredential, over message: Bytes
    ) throws(DeviceRequestRefusal) {
        do throws(VerificationFailure) {
            _ = try verifier.verify(
                .deviceKey(credential: signature.credential, signature: signature.signature),
                by: claimed.registered.stored, over: message)
        } catch {
            throw error == .storedKeyInvalid ? .credentialUnusable : .signatureInvalid
        }
    }
}
