import Countersign
import Crypto
import Postgres

// What a bank does when a customer has lost control.
extension EnrolmentWorld {
    var customers: PostgresCustomerStore {
        PostgresCustomerStore(database: database, sealer: sealer)
    }

    /// What the bank's identity system says after it authenticated a customer to be recovered.
    func recoveryToken(
        _ customer: CustomerID, expiresIn: Int64 = 300, key: IdentitySigningKey? = nil
    ) async throws -> String {
        let expiry = (try await now() + Seconds(expiresIn)).wholeSeconds
        return try CompactJWS.sign(
            [
                "purpose": "recovery", "customer_id": .string(customer.text),
                "exp": .integer(expiry.milliseconds / 1000),
                "jti": .string(Hex.encode(EntropySource.openSSL(16))),
            ], key: key ?? identity)
    }

    func recover(
        _ customer: CustomerID, _ token: String?, rule: FirstEnrolmentRule = .needsAuthorization
    ) async throws -> RecoveryOutcome {
        let service = Customers(
            store: customers, identityToken: identity.publicKey.tokenReader, rule: rule)
        return try await service.recover(
            RecoverCustomerCommand(client: client, customerID: customer, token: token))
    }

    /// Recovers a customer with a fresh token.
    func recovered(_ customer: CustomerID) async throws -> RecoveredCustomer {
        let outcome = try await recover(customer, recoveryToken(customer))
        guard let recovered = outcome.recovered else { throw Unexpected("\(outcome)") }
        return recovered
    }
}

extension RecoveryOutcome {
    var recovered: RecoveredCustomer? {
        if case .recovered(let recovered) = self { recovered } else { nil }
    }

    var refusal: RecoveryRefusal? {
        if case .refused(let refusal) = self { refusal } else { nil }
    }
}
