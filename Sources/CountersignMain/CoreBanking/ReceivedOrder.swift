import Countersign

/// An execution order as it came: well-formed, and not yet believed.
struct ReceivedOrder: Sendable {
    let actionID: ID<Action>
    let customerID: String
    let credentialID: ID<Credential>
    /// The bytes that the customer is said to have signed.
    let message: Bytes
    let proof: RecordedAssertion.Proof
    /// What the order says the message means: the name of the kind, and its content.
    let readableCopy: (kind: String, content: JSON?)

    /// Reads the body of an order; `nil` when it is not one. Further members are allowed.
    init?(_ json: JSON) {
        guard let actionID = json["action_id"]?.text.flatMap({ ID<Action>($0) }),
            let customerID = json["customer_id"]?.text, let kind = json["kind"]?.text,
            let message = json.bytes("message"),
            let assertion = json["assertion"],
            let credentialID = assertion["credential_id"]?.text.flatMap({ ID<Credential>($0) }),
            let proof = Self.proof(assertion)
        else { return nil }
        self.actionID = actionID
        self.customerID = customerID
        self.credentialID = credentialID
        self.message = message
        self.proof = proof
        readableCopy = (kind, json[kind])
    }

    private static func proof(_ assertion: JSON) -> RecordedAssertion.Proof? {
        guard let signature = assertion["signature"]?.text else { return nil }
        switch assertion["kind"]?.text.flatMap(CredentialKind.init(rawValue:)) {
        case .deviceKey:
            let word = assertion["signature_format"]?.text ?? SignatureFormat.der.rawValue
            guard let signature = Base64.decode(signature),
                let format = SignatureFormat(rawValue: word)
            else { return nil }
            return .deviceKey(signature: signature, format: format)
        case .passkey:
            guard let signature = Base64.decodeURL(signature),
                let clientData = assertion.bytes("client_data_json"),
                let authenticatorData = assertion.bytes("authenticator_data")
            else { return nil }
            return .passkey(
                signature: signature, clientDataJSON: clientData,
                authenticatorData: authenticatorData)
        case nil: return nil
        }
    }
}
