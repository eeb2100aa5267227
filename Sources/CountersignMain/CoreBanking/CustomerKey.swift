import Countersign
import Crypto

/// A customer's key as core banking recorded it when it was announced; never taken from an order.
struct CustomerKey: Equatable, Sendable {
    let credentialID: ID<Credential>
    let customerID: String
    let kind: CredentialKind
    let key: P256PublicKey

    /// Reads an announcement; `nil` when a member is missing or not usable.
    init?(_ json: JSON) {
        guard let credentialID = json["credential_id"]?.text.flatMap({ ID<Credential>($0) }),
            let customerID = json["customer_id"]?.text, !customerID.isEmpty,
            let kind = json["kind"]?.text.flatMap(CredentialKind.init(rawValue:)),
            let encoded = json["public_key"]?.text.flatMap({ Base64.decode($0) })
        else { return nil }
        do throws(KeyError) {
            key = try P256PublicKey(spki: encoded)
        } catch {
            return nil
        }
        self.credentialID = credentialID
        self.customerID = customerID
        self.kind = kind
    }

    /// What the journal keeps; the initialiser reads it back.
    var json: JSON {
        [
            "credential_id": .string(credentialID.text), "customer_id": .string(customerID),
            "kind": .string(kind.rawValue), "public_key": .string(Base64.encode(key.spki)),
        ]
    }
}
