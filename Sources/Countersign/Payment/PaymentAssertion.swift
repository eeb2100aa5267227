/// What a browser returned after it had shown a payment and asked for it, byte for byte.
///
/// An ordinary assertion whose client data is of the type `payment.get`, and what a key of the browser
/// itself may have signed beside it. Source: Secure Payment Confirmation (ED 2 Jul 2026).
package struct PaymentAssertion: Hashable, Sendable {
    /// The passkey's part; without it nothing else counts.
    package let passkey: PasskeyAssertion
    /// Over the client data, by the key that the client data names; `nil` when there is none.
    package let browserBoundSignature: Bytes?

    /// Takes the parts as they came; nothing is checked.
    package init(passkey: PasskeyAssertion, browserBoundSignature: Bytes?) {
        self.passkey = passkey
        self.browserBoundSignature = browserBoundSignature
    }

    /// Reads the `toJSON()` of the credential in `PaymentResponse.details`.
    ///
    /// SPC-13: results of other extensions are refused. None was asked for, so a caller that has some
    /// made a request of its own.
    ///
    /// - Throws: ``InvalidValue`` as ``PasskeyAssertion/init(json:)`` does; `extensions_unexpected`, or
    ///   `browser_bound_signature` when there is one that is not readable.
    package init(json: JSON) throws(InvalidValue) {
        passkey = try PasskeyAssertion(json: json)
        browserBoundSignature = try Self.signature(in: json["clientExtensionResults"])
    }

    private static func signature(in results: JSON?) throws(InvalidValue) -> Bytes? {
        switch results {
        case nil, .null: return nil
        case .object(let members)? where members.allSatisfy({ $0.name == "payment" }):
            guard let payment = members.first?.value, payment != .null else { return nil }
            guard case .object(let outputs) = payment,
                outputs.allSatisfy({ $0.name == "browserBoundSignature" })
            else { throw unexpected }
            guard let signature = outputs.first?.value, signature != .null else { return nil }
            guard let bytes = signature.bytes("signature") else {
                throw InvalidValue(
                    "browser_bound_signature",
                    "The member signature must be base64url without padding.")
            }
            return bytes
        default: throw unexpected
        }
    }

    private static let unexpected = InvalidValue(
        "extensions_unexpected", "A payment is confirmed without extensions but payment.")
}
