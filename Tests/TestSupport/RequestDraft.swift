package import Countersign
import Crypto

/// A request of a phone before it is signed. Good by default: a test changes what it is about.
package struct RequestDraft: Sendable {
    package var method = "POST"
    package var target = "/v1/transfers?draft=%2F1"
    package var host: String?
    package var body = Bytes(#"{"amount": "120.00"}"#.utf8)
    package var timestamp = Fixtures.at.milliseconds / 1000
    package var nonce = "nonce-0001"
    package var customerID: CustomerID?
    package let credential: ID<Credential>

    package init(_ credential: ID<Credential>) { self.credential = credential }

    /// The same with other values.
    package func with(_ change: (inout RequestDraft) throws -> Void) rethrows -> RequestDraft {
        var draft = self
        try change(&draft)
        return draft
    }

    /// The bytes to sign; `nil` for a request that has none.
    package var message: Bytes? {
        CanonicalRequest.bytes(of: request([]), timestamp: timestamp, nonce: nonce)
    }

    /// The request with the signature that `sign` makes of its bytes.
    package func signed(_ sign: (Bytes) throws -> Bytes) rethrows -> DeviceRequest {
        request(try sign(message ?? []))
    }

    /// The request with any signature.
    package func request(_ signature: Bytes) -> DeviceRequest {
        var fields = SignatureFields()
        fields.append(.deviceID, [credential.text])
        fields.append(.timestamp, [String(timestamp)])
        fields.append(.nonce, [nonce])
        fields.append(.signature, [Base64.encode(signature)])
        return request(fields)
    }

    /// The request with any fields.
    package func request(_ fields: SignatureFields) -> DeviceRequest {
        DeviceRequest(
            client: Fixtures.id(7), profile: host.map { .hostAndTarget(host: $0) } ?? .target,
            method: method, target: target, bodyDigest: sha256(body), fields: fields,
            customerID: customerID)
    }
}
