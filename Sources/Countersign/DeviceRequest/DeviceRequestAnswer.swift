/// What the backend is told about a signed request.
package struct DeviceRequestAnswer: Hashable, Sendable {
    /// What was found.
    package enum Verdict: Hashable, Sendable {
        /// Signed by this live device key of this customer, just now, and for the first time.
        case verified(ID<Credential>, of: CustomerID)
        /// The credential is the one that the request names, if there is one; nothing proves that it
        /// is its own, so its customer is not told.
        case refused(DeviceRequestRefusal, named: ID<Credential>?)
    }

    package let verdict: Verdict
    package let mode: RequestMode
    package let profile: RequestProfile.Name
    /// The database's time at which it was judged.
    package let at: Instant

    package init(verdict: Verdict, mode: RequestMode, profile: RequestProfile.Name, at: Instant) {
        self.verdict = verdict
        self.mode = mode
        self.profile = profile
        self.at = at
    }

    /// Why it was refused; `nil` when it was not.
    package var refusal: DeviceRequestRefusal? {
        switch verdict {
        case .verified: nil
        case .refused(let refusal, _): refusal
        }
    }

    /// Whether the backend may carry the request out.
    package var isAllowed: Bool { refusal == nil || mode == .logOnly }

    /// As the API shows it.
    package var json: JSON {
        let (credential, customer): (ID<Credential>?, CustomerID?) =
            switch verdict {
            case .verified(let credential, let customer): (credential, customer)
            case .refused(_, let credential): (credential, nil)
            }
        return [
            "verdict": refusal == nil ? "verified" : "refused",
            "reason": .optional(refusal?.rawValue), "mode": .string(mode.rawValue),
            "allow": .bool(isAllowed), "credential_id": .optional(credential?.text),
            "customer_id": .optional(customer?.text), "profile": .string(profile.rawValue),
            "at": .string(at.text),
        ]
    }
}
