package import Countersign
package import Crypto

/// Signs requests to core banking with the service's own key. Source: RFC 9421 §3.1.
package struct MessageSigner: Sendable {
    private let key: Ed25519PrivateKey
    private let keyID: String
    private let entropy: EntropySource

    /// Takes a key and the name by which core banking knows it.
    ///
    /// - Parameters:
    ///   - key: The service's signing key.
    ///   - keyID: 1 to 64 visible ASCII characters; `nil` is returned for any other.
    ///   - entropy: Makes the nonces.
    package init?(key: Ed25519PrivateKey, keyID: String, entropy: EntropySource) {
        guard (1...64).contains(keyID.utf8.count),
            keyID.utf8.allSatisfy({ (0x21...0x7E).contains($0) })
        else { return nil }
        self.key = key
        self.keyID = keyID
        self.entropy = entropy
    }

    /// A signed `POST` of a JSON body.
    ///
    /// - Parameters:
    ///   - body: The body, sent exactly as given.
    ///   - url: Where to; covered by the signature.
    ///   - idempotencyKey: What core banking may do at most once; no quotes or backslashes.
    ///   - instant: `created`; the signature expires ``SignatureProfile/lifetime`` later.
    /// - Returns: The request with its content and signature fields.
    /// - Throws: ``OpenSSLFailure`` when signing fails, which it does not with a sound key.
    package func post(_ body: Bytes, to url: HTTPURL, idempotencyKey: String, at instant: Instant)
        throws(OpenSSLFailure) -> HTTPRequest
    {
        let content = [
            HTTPField("Content-Type", "application/json"),
            HTTPField("Content-Digest", ContentDigest.value(for: body)),
            HTTPField("Idempotency-Key", StructuredFields.Item.string(idempotencyKey).text),
        ]
        let input = parameters(at: instant)
        let parts = SignedParts(.request(method: "POST", url: url), fields: content)
        guard let base = SignatureBase.build(input, over: parts) else {
            preconditionFailure("every component of the profile is in the request")
        }
        let signature = StructuredFields.Item.bytes(try key.sign(base))
        let label = SignatureProfile.label
        return HTTPRequest(
            .post, url,
            fields: content + [
                HTTPField("Signature-Input", "\(label)=\(input.text)"),
                HTTPField("Signature", "\(label)=\(signature.text)"),
            ], body: body)
    }

    private func parameters(at instant: Instant) -> StructuredFields.InnerList {
        let created = instant.wholeSeconds
        let expires = created + SignatureProfile.lifetime
        return StructuredFields.InnerList(
            SignatureProfile.components.map { StructuredFields.ParameterizedItem(.string($0)) },
            [
                .init("created", .integer(created.milliseconds / 1000)),
                .init("expires", .integer(expires.milliseconds / 1000)),
                .init("nonce", .string(Base64.encodeURL(entropy(SignatureProfile.nonceBytes)))),
                .init("keyid", .string(keyID)),
                .init("alg", .string("ed25519")),
                .init("tag", .string(SignatureProfile.tag)),
            ])
    }
}
