/// All that was read to judge one signed request.
package struct DeviceRequestContext: Sendable {
    /// The database's time at which this was read.
    package let at: Instant
    /// The credential that the request names; `nil` when there is none.
    package let claimed: ClaimedCredential?
    /// Whether a live device key of the customer whom the backend named is set to `enforce`.
    package let customerEnforces: Bool

    package init(at: Instant, claimed: ClaimedCredential?, customerEnforces: Bool) {
        self.at = at
        self.claimed = claimed
        self.customerEnforces = customerEnforces
    }

    /// The mode in which a request is judged, whatever comes of it.
    ///
    /// Whoever sends a request chooses the credential that it names. So a looser mode counts only for a
    /// live credential of the very customer: a thief must not get it by naming one of his own, or one
    /// that was revoked. A request that names no such credential is judged as strictly as any of the
    /// customer's: he must not get past by naming none.
    package func mode(unlessSet general: RequestMode, for customer: CustomerID?) -> RequestMode {
        if let claimed, claimed.standing == .active,
            customer == nil || customer == claimed.customerID
        {
            return claimed.choice.own ?? general
        }
        return customerEnforces || claimed?.choice == .enforce ? .enforce : general
    }
}

/// The credential that a request names, and what is remembered of its requests.
package struct ClaimedCredential: Sendable {
    /// Whether it may sign.
    package enum Standing: Sendable {
        case active
        /// Dead for ever.
        case revoked
        /// Neither active nor dead.
        case suspended
    }

    package let registered: RegisteredCredential
    package let customerID: CustomerID
    package let standing: Standing
    package let choice: RequestModeChoice
    /// The request with the same nonce that was accepted before; `nil` when there was none.
    package let earlier: AcceptedRequest?
    /// How many replays of this credential's requests are on record and still remembered.
    package let replaysRecorded: Int
    package let customer: CustomerVersion
    /// Where the credential's chain of evidence stands.
    package let head: ChainHead

    package init(
        registered: RegisteredCredential, customerID: CustomerID, standing: Standing,
        choice: RequestModeChoice, earlier: AcceptedRequest?, replaysRecorded: Int,
        customer: CustomerVersion, head: ChainHead
    ) {
        self.registered = registered
        self.customerID = customerID
        self.standing = standing
        self.choice = choice
        self.earlier = earlier
        self.replaysRecorded = replaysRecorded
        self.customer = customer
        self.head = head
    }
}

/// A request that was accepted, as far as it is remembered.
package struct AcceptedRequest: Sendable {
    /// Which call accepted it.
    package let id: ID<DeviceRequest>
    package let at: Instant
    /// Whether a replay of it is on record.
    package let replayIsRecorded: Bool

    package init(id: ID<DeviceRequest>, at: Instant, replayIsRecorded: Bool) {
        self.id = id
        self.at = at
        self.replayIsRecorded = replayIsRecorded
    }
}
