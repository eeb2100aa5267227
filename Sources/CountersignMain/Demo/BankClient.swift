import Countersign
import Crypto

/// The bank's backend as a client of the service: every call that a backend makes.
struct BankClient: Sendable {
    typealias Answer = APIClient.Answer

    let api: APIClient

    /// - Throws: ``CommandFailure`` when libcurl cannot be started.
    init(base: String, key: String) throws(CommandFailure) {
        api = try APIClient(base: base, key: key)
    }

    // MARK: Actions

    /// Stores an action and gets its first question. Without a key a new one is made.
    func create(
        _ action: JSON, idempotencyKey: String? = nil
    ) async throws(CommandFailure) -> Answer {
        try await api.post(
            "/v1/actions", action,
            idempotencyKey: idempotencyKey ?? Hex.encode(EntropySource.openSSL(16)))
    }

    /// Another challenge for an action; the earlier one is dead.
    func challenge(_ action: String) async throws(CommandFailure) -> Answer {
        try await api.post("/v1/actions/\(action)/challenges", [:])
    }

    /// Approves with the answer that a phone gave.
    func approve(_ action: String, _ answer: JSON) async throws(CommandFailure) -> Answer {
        try await api.post("/v1/actions/\(action)/approve", answer)
    }

    /// Rejects with the answer that a phone gave, or with `{"reason": …}` alone.
    func reject(_ action: String, _ answer: JSON) async throws(CommandFailure) -> Answer {
        try await api.post("/v1/actions/\(action)/reject", answer)
    }

    func cancel(_ action: String, reason: String) async throws(CommandFailure) -> Answer {
        try await api.post("/v1/actions/\(action)/cancel", ["reason": .string(reason)])
    }

    func action(_ id: String) async throws(CommandFailure) -> Answer {
        try await api.get("/v1/actions/\(id)")
    }

    func payees(of customer: String) async throws(CommandFailure) -> Answer {
        try await api.get("/v1/customers/\(customer)/payees")
    }

    // MARK: Credentials

    func credentials(of customer: String) async throws(CommandFailure) -> Answer {
        try await api.get("/v1/customers/\(customer)/credentials")
    }

    /// Opens an enrolment: what the new key is to sign.
    func beginEnrolment(
        of customer: String, _ kind: CredentialKind
    ) async throws(CommandFailure) -> Answer {
        try await api.post(
            "/v1/customers/\(customer)/credentials/challenges", ["kind": .string(kind.rawValue)])
    }

    /// Asks for the question by which an active credential vouches for a new key.
    func beginAuthorization(
        of customer: String, enrolment: String, key: P256PublicKey
    ) async throws(CommandFailure) -> Answer {
        try await api.post(
            "/v1/customers/\(customer)/credentials/authorizations",
            ["enrolment_id": .string(enrolment), "key_digest": .string(sha256(key.spki).hex)])
    }

    /// Registers the new key.
    func finishEnrolment(
        of customer: String, _ body: JSON
    ) async throws(CommandFailure) -> Answer {
        try await api.post("/v1/customers/\(customer)/credentials", body)
    }

    func revoke(_ credential: String, reason: String) async throws(CommandFailure) -> Answer {
        try await api.post("/v1/credentials/\(credential)/revoke", ["reason": .string(reason)])
    }
}
