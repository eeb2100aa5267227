/// A request to open an enrolment.
package struct BeginEnrolmentCommand: Sendable {
    /// Who asks; kept in evidence.
    package let client: ID<Client>
    package let customerID: CustomerID
    package let kind: CredentialKind
    /// What the customer calls the new credential; empty when there is no name.
    package let label: DisplayText

    package init(
        client: ID<Client>, customerID: CustomerID, kind: CredentialKind, label: DisplayText
    ) {
        self.client = client
        self.customerID = customerID
        self.kind = kind
        self.label = label
    }
}

/// A request to register a key.
package struct FinishEnrolmentCommand: Sendable {
    /// Who asks; kept in evidence.
    package let client: ID<Client>
    package let customerID: CustomerID
    package let enrolmentID: ID<Enrolment>
    package let offered: OfferedCredential
    package let authorization: EnrolmentAuthorization

    package init(
        client: ID<Client>, customerID: CustomerID, enrolmentID: ID<Enrolment>,
        offered: OfferedCredential, authorization: EnrolmentAuthorization
    ) {
        self.client = client
        self.customerID = customerID
        self.enrolmentID = enrolmentID
        self.offered = offered
        self.authorization = authorization
    }
}

/// A request to revoke a credential.
package struct RevokeCredentialCommand: Sendable {
    /// Who asks; kept in evidence.
    package let client: ID<Client>
    /// Any customer's.
    package let credential: ID<Credential>
    /// The caller's words; kept in evidence.
    package let reason: DisplayText

    package init(client: ID<Client>, credential: ID<Credential>, reason: DisplayText) {
        self.client = client
        self.credential = credential
        self.reason = reason
    }
}

/// Who vouches for a new key. None of it is believed yet.
package enum EnrolmentAuthorization: Hashable, Sendable {
    /// Nobody: enough only for a first key under the development flag.
    case none
    /// A token of the bank's identity system, as it came: a compact JWS.
    case scaToken(String)
    /// An active credential's answer to the challenge of an `authorize_enrolment` message.
    case assertion(challenge: ID<Challenge>, UnverifiedAssertion)
}
