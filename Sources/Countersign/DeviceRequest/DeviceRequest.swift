/// A request that a phone sent to the bank, as the bank's backend passes it on to be judged.
///
/// All of it but ``client``, ``bodyDigest`` and ``customerID`` is the phone's, and may be anything:
/// whatever is wrong with that is a verdict, never an error.
package struct DeviceRequest: Sendable {
    /// Who asks; kept in evidence.
    package let client: ID<Client>
    package let profile: RequestProfile
    /// As on the wire: case matters (RFC 9110 §9.1).
    package let method: String
    /// The request target with its query, as on the wire; never decoded, encoded or put in order.
    package let target: String
    /// SHA-256 of the body's bytes as they came; that of no bytes when there was no body.
    package let bodyDigest: Digest
    package let fields: SignatureFields
    /// Whom the backend believes to be logged in; `nil` when nobody is yet.
    package let customerID: CustomerID?

    package init(
        client: ID<Client>, profile: RequestProfile, method: String, target: String,
        bodyDigest: Digest, fields: SignatureFields, customerID: CustomerID?
    ) {
        self.client = client
        self.profile = profile
        self.method = method
        self.target = target
        self.bodyDigest = bodyDigest
        self.fields = fields
        self.customerID = customerID
    }
}

/// What a request's signature covers. The bank chooses it for its app; a phone has no say in it.
package enum RequestProfile: Hashable, Sendable {
    /// Method, target, time, nonce and body.
    case target
    /// And the host, with path and query on lines of their own.
    case hostAndTarget(host: String)

    /// The name without the host, as it goes in the API and in evidence.
    package enum Name: String, CaseIterable, Sendable {
        case target = "countersign-request/1"
        case hostAndTarget = "countersign-request/2"
    }

    /// Its name.
    package var name: Name {
        switch self {
        case .target: .target
        case .hostAndTarget: .hostAndTarget
        }
    }
}

/// The values of the four header fields, each as often as it came.
package struct SignatureFields: Hashable, Sendable {
    /// Which of the four; the raw value is the field's name in lower case.
    package enum Name: String, CaseIterable, Sendable {
        case deviceID = "x-device-id"
        case timestamp = "x-timestamp"
        case nonce = "x-nonce"
        case signature = "x-signature"
    }

    private var values: [Name: [String]] = [:]

    package init() {}

    /// Adds values in the order in which they came.
    package mutating func append(_ name: Name, _ more: [String]) {
        values[name, default: []] += more
    }

    /// Every value of that name.
    package subscript(name: Name) -> [String] { values[name] ?? [] }
}
