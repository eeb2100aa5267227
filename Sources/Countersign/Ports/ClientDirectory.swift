/// Who calls. Every client has one role.
package struct AuthenticatedClient: Hashable, Sendable {
    /// What a client may do; the raw value is its word everywhere.
    package enum Role: String, CaseIterable, Sendable {
        case backend, core, auditor, risk, officer, privacy
        case `operator`
    }

    package let id: ID<Client>
    package let role: Role

    package init(id: ID<Client>, role: Role) {
        self.id = id
        self.role = role
    }
}

/// Finds out who calls.
package protocol ClientDirectory: Sendable {
    /// The client that owns the key with this SHA-256; `nil` when there is none, or no more.
    func client(keyDigest: Digest) async throws(StoreFailure) -> AuthenticatedClient?

    /// The client that one of these subject alternative names of a verified certificate is bound to.
    func client(
        subjectAlternativeNames: [String]
    ) async throws(StoreFailure) -> AuthenticatedClient?
}
