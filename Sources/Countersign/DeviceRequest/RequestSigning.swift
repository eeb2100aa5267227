/// What a verdict means for the backend.
package enum RequestMode: String, CaseIterable, Sendable {
    /// A refused request must not be carried out.
    case enforce
    /// Nothing is kept from being carried out: the bank looks at verdicts before it relies on them.
    case logOnly = "log_only"
}

/// What is set for one credential.
package enum RequestModeChoice: String, CaseIterable, Sendable {
    /// What holds for all of them.
    case inherited = "default"
    case enforce
    case logOnly = "log_only"

    /// The mode that the credential has of its own; `nil` when it has none.
    package var own: RequestMode? {
        switch self {
        case .inherited: nil
        case .enforce: .enforce
        case .logOnly: .logOnly
        }
    }
}

/// How requests of one device key are signed and judged.
package struct RequestSigning: Hashable, Sendable {
    package let credential: ID<Credential>
    /// What is set for this credential.
    package let choice: RequestModeChoice
    /// What follows from it now.
    package let effective: RequestMode

    package init(
        credential: ID<Credential>, choice: RequestModeChoice, effective: RequestMode
    ) {
        self.credential = credential
        self.choice = choice
        self.effective = effective
    }

    /// As the API shows it.
    package var json: JSON {
        [
            "credential_id": .string(credential.text), "mode": .string(choice.rawValue),
            "effective_mode": .string(effective.rawValue),
        ]
    }
}

/// A request to set the mode of one credential.
package struct SetRequestSigningCommand: Sendable {
    /// Who asks; kept in evidence.
    package let client: ID<Client>
    package let credential: ID<Credential>
    package let choice: RequestModeChoice

    package init(client: ID<Client>, credential: ID<Credential>, choice: RequestModeChoice) {
        self.client = client
        self.credential = credential
        self.choice = choice
    }
}
