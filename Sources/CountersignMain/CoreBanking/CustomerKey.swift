import Countersign
import Crypto

/// A customer's key as core banking recorded it when it was announced; never taken from an order.
struct CustomerKey: Equatable, Sendable {
    let credentialID: ID<Credential>
    let customerID: String
    let kind: CredentialKind
    /// Of P-256 for a device key; a passkey may have another algorithm.
    let key: PublicKey
    /// How a device key writes its signatures, fixed when it was announced; unused for a passkey.
    let signatureFormat: SignatureFormat

    /// Reads an announcement; `nil` when a member is missing or not usable.
    init?(_ json: JSON) {
        guard let credentialID = json["credential_id"]?.text.flatMap({ ID<Credential>($0) }),
            let customerID = json["customer_id"]?.text, !customerID.isEmpty,
            let kind = json["kind"]?.text.flatMap(CredentialKind.init(rawValue:)),
            let encoded = json["public_key"]?.text.flatMap({ Base64.decode($0) }),
            let format = Self.format(json["signature_format"])
        else { return nil }
        do throws(KeyError) {
            key = try PublicKey(spki: encoded)
        } catch {
            return nil
        }
        guard kind == .passkey || key.p256 != nil else { return nil }
        self.credentialID = credentialID
        self.customerID = customerID
        self.kind = kind
        signatureFormat = format
    }

    /// A key that was announced before there was a choice signs in DER.
    private static func format(_ json: JSON?) -> SignatureFormat? {
        switch json {
        case nil, .null: .der
        case let word?: word.text.flatMap(SignatureFormat.init(rawValue:))
        }
    }

    /// What the journal keeps; the initialiser reads it back.
    var json: JSON {
        [
            "credential_id": .string(credentialID.text), "customer_id": .string(customerID),
            "kind": .string(kind.rawValue), "public_key": .string(Base64.encode(key.spki)),
            "signature_format": .string(signatureFormat.rawValue),
        ]
    }
}
