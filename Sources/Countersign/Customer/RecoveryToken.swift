/// What the bank's identity system says when it authenticated a customer to be recovered.
///
/// It is signed with the same key as an ``IdentityToken`` and spent from the same list. Its purpose is
/// among its claims, so that neither can stand for the other.
package struct RecoveryToken: Hashable, Sendable {
    /// The claim `purpose` of every such token.
    package static let purpose = "recovery"

    /// Its name, to be used once and never again.
    package let id: String
    package let customerID: String
    package let expiresAt: Instant

    /// Takes claims of which one is missing or of a wrong type for no token at all: `nil`.
    package init?(claims: JSON) {
        guard claims["purpose"]?.text == RecoveryToken.purpose,
            let id = IdentityToken.id(of: claims), let customerID = claims["customer_id"]?.text,
            let expiresAt = IdentityToken.expiry(of: claims)
        else { return nil }
        self.id = id
        self.customerID = customerID
        self.expiresAt = expiresAt
    }

    /// Why the token recovers nobody here and now; `nil` when it recovers this customer.
    func fault(of customer: CustomerID, at: Instant) -> AuthorizationFault? {
        guard customerID.utf8.elementsEqual(customer.text.utf8) else {
            return .tokenCustomerMismatch
        }
        guard expiresAt > at else { return .tokenExpired }
        guard expiresAt <= at + IdentityToken.lifetimeMax else { return .tokenTooLong }
        return nil
    }
}
