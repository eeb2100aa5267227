/// All that was read to judge one signed request.
package struct DeviceRequestContext: Sendable {
    /// The database's time at which this was read.
    package let at: Instant
    /// The credential that the request names; `nil` when there is none.
    package let claimed: ClaimedCredential?
    /// Whether a live device key is set to `enforce`, of the customer whom the backend named or of the one
    /// whose credential the request names.
    package let customerEnforces: Bool

    package init(at: Instant, claimed: ClaimedCredential?, customerEnforces: Bool) {
        self.at = at
        self.claimed = claimed
        self.customerEnforces = customerEnforces
    }

    /// The mode in which a request is judged, whatever comes of it.
    ///
    /// Whoever sends a request chooses the credential that it names. So one key that enforces makes
    /// everything of its customer enforced: a thief must not get past by naming a passkey, another key of
    /// the customer's, or none. And a looser mode counts only for a live credential of the very customer:
    /// he must not get it by naming one of his own, or one that was revoked.
    package func mode(unlessSet general: RequestMode, for customer: CustomerID?) -> RequestMode {
        if customerEnforces || claimed?.choice == .enforce { return .enforce }
        guard let claimed, claimed.status == .active,
            customer == nil || customer == claimed.customerID
        else { return general }
        return claimed.choice.own ?? general
    }
}

/// The credential that a request names, and what is remembered of its requests.
package struct ClaimedCredential: Sendable {
    package let registered: RegisteredCredential
    package let customerID: CustomerID
    package let status: RecordedCredential.Status
    package let choice: RequestModeChoice
    /// The request with the same nonce that was accepted before; `nil` when there was none.
    package let earlier: AcceptedRequest?
    /// How many replays of this credential's requests are on record and still remembered.
    package let replaysRecorded: Int
    package let customer: CustomerVersion
    /// Where the credential's chain of evidence stands.
    package let head: ChainHead

    package init(
        registered: RegisteredCredential, customerID: CustomerID,
        status: RecordedCredential.Status, choice: RequestModeChoice, earlier: AcceptedRequest?,
        replaysRecorded: Int, customer: CustomerVersion, head: ChainHead
    ) {
        self.registered = registered
        self.customerID = customerID
        self.status = status
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
