package import Countersign
package import Crypto

/// The browser's part in a payment, for the demo and the tests: what its dialog would have shown.
extension SoftwareAuthenticator {
    /// The answer to a payment request, as a customer gives it who agrees.
    ///
    /// - Parameters:
    ///   - request: The member `payment` of a challenge; see ``PaymentRequestData``.
    ///   - origin: The page that asks, which is also the page at the top.
    ///   - flags: What the authenticator says of the user.
    ///   - signCount: Its count.
    ///   - userHandle: What it has stored with the credential.
    ///   - browserBoundKey: The browser's own key, when it has one.
    /// - Returns: What the page gets.
    /// - Throws: ``OpenSSLFailure``.
    package func confirm(
        _ request: JSON, origin: String, flags: AuthenticatorFlags, signCount: UInt32,
        userHandle: Bytes?, browserBoundKey: P256PrivateKey?
    ) throws(OpenSSLFailure) -> PaymentAssertion {
        try confirm(
            clientDataJSON: Self.paymentClientData(
                request, origin: origin, browserBoundKey: browserBoundKey?.publicKey
            ).encoded,
            authenticatorData: authenticatorData(flags: flags, signCount: signCount),
            userHandle: userHandle, browserBoundKey: browserBoundKey)
    }

    /// Good signatures over any client data and authenticator data, for tests that need a wrong one.
    package func confirm(
        clientDataJSON: Bytes, authenticatorData: Bytes, userHandle: Bytes?,
        browserBoundKey: P256PrivateKey?
    ) throws(OpenSSLFailure) -> PaymentAssertion {
        PaymentAssertion(
            passkey: try assert(
                clientDataJSON: clientDataJSON, authenticatorData: authenticatorData,
                userHandle: userHandle),
            browserBoundSignature: try browserBoundKey?.sign(clientDataJSON))
    }

    /// Client data with the members that Chromium 156 writes, in its order.
    package static func paymentClientData(
        _ request: JSON, origin: String, browserBoundKey: P256PublicKey?
    ) -> JSON {
        let data = request["data"] ?? .null
        let amount = request["total"]?["amount"]
        let instrument = data["instrument"]
        var payment: [JSON.Member] = [
            .init("rpId", data["rpId"] ?? .null), .init("topOrigin", .string(origin)),
            .init("payeeName", data["payeeName"] ?? .null), .init("paymentEntitiesLogos", []),
            .init(
                "total",
                [
                    "value": amount?["value"] ?? .null, "currency": amount?["currency"] ?? .null,
                ]),
            .init(
                "instrument",
                [
                    "icon": instrument?["icon"] ?? .null,
                    "displayName": instrument?["displayName"] ?? .null,
                ]),
        ]
        if let browserBoundKey {
            let key = COSEKey.encode(browserBoundKey).encoded
            payment.append(.init("browserBoundPublicKey", .string(Base64.encodeURL(key))))
        }
        return [
            "type": "payment.get", "challenge": data["challenge"] ?? .null,
            "origin": .string(origin), "crossOrigin": .bool(false), "payment": .object(payment),
        ]
    }
}
