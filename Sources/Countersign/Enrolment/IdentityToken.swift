/// Reads the claims of a token that the bank's identity system signed; `nil` for any other text.
///
/// `Crypto` provides it for the configured key. Only the signature is checked there: what the claims
/// say, and whether they say it about this enrolment, is decided here.
package typealias IdentityTokenReader = @Sendable (_ token: String) -> JSON?

/// What the bank's identity system says when it authenticated a customer for one new key.
///
/// Source: PSD2 RTS Art. 24(2)(b): a key is associated remotely only with strong customer
/// authentication.
package struct IdentityToken: Hashable, Sendable {
    /// Its name, to be used once and never again.
    package let id: String
    package let enrolmentID: ID<Enrolment>
    package let customerID: String
    /// SHA-256 of the new key as DER SubjectPublicKeyInfo.
    package let keyDigest: Digest
    package let expiresAt: Instant

    /// The longest that a token may be good for from the time it is looked at.
    package static let lifetimeMax = Seconds(600)
    /// The longest name, in Unicode scalars.
    package static let idScalarsMax = 255

    /// Takes claims of which one is missing or of a wrong type for no token at all: `nil`.
    ///
    /// Source: RFC 7519 §4.1 for `exp` and `jti`; `exp` is a whole number here.
    package init?(claims: JSON) {
        // A token for a recovery vouches for no key, whatever else it says.
        guard claims["purpose"]?.text != RecoveryToken.purpose,
            let id = IdentityToken.id(of: claims),
            let enrolmentID = claims["enrolment_id"]?.text.flatMap({ ID<Enrolment>($0) }),
            let customerID = claims["customer_id"]?.text,
            let keyDigest = claims["key_digest"]?.text.flatMap({ Hex.decode($0) })
                .flatMap(Digest.init),
            let expiresAt = IdentityToken.expiry(of: claims)
        else { return nil }
        self.id = id
        self.enrolmentID = enrolmentID
        self.customerID = customerID
        self.keyDigest = keyDigest
        self.expiresAt = expiresAt
    }

    /// Why the token does not vouch for this key in this enrolment; `nil` when it does.
    func fault(in context: EnrolmentContext, key: Digest) -> AuthorizationFault? {
        guard enrolmentID == context.enrolment.id else { return .tokenEnrolmentMismatch }
        guard customerID.utf8.elementsEqual(context.enrolment.customerID.text.utf8) else {
            return .tokenCustomerMismatch
        }
        guard keyDigest == key else { return .tokenKeyMismatch }
        guard expiresAt > context.at else { return .tokenExpired }
        guard expiresAt <= context.at + IdentityToken.lifetimeMax else { return .tokenTooLong }
        return nil
    }

    /// The name of a token; `nil` when there is none. A database text cannot hold U+0000.
    static func id(of claims: JSON) -> String? {
        guard let text = claims["jti"]?.text,
            (1...idScalarsMax).contains(text.unicodeScalars.count),
            !text.unicodeScalars.contains("\0")
        else { return nil }
        return text
    }

    /// When a token ends; `nil` when it does not say so.
    static func expiry(of claims: JSON) -> Instant? {
        // Beyond any time that can be told in milliseconds it is not a time.
        guard case .integer(let expiry)? = claims["exp"], (0...Int64.max / 2000).contains(expiry)
        else { return nil }
        return Instant(milliseconds: expiry * 1000)
    }
}
