import Countersign

/// An execution order as it came: well-formed, and not yet believed.
struct ReceivedOrder: Sendable {
    let actionID: ID<Action>
    let customerID: String
    let approval: Approval
    /// What the order says the message means: the name of the kind, and its content.
    let readableCopy: (kind: String, content: JSON?)

    /// Who is said to have approved, and what they are said to have signed.
    enum Approval: Sendable {
        case customer(ID<Credential>, message: Bytes, RecordedAssertion.Proof)
        case assisted(ID<Act>, document: Bytes, [OfficerSignature])
    }

    /// The bytes by which the same order is known again.
    var signedBytes: Bytes {
        switch approval {
        case .customer(_, let message, _): message
        case .assisted(_, let document, _): document
        }
    }

    /// Reads the body of an order; `nil` when it is not one. Further members are allowed.
    init?(_ json: JSON) {
        guard let actionID = json["action_id"]?.text.flatMap({ ID<Action>($0) }),
            let customerID = json["customer_id"]?.text, let kind = json["kind"]?.text,
            let approval = Self.approval(json)
        else { return nil }
        self.actionID = actionID
        self.customerID = customerID
        self.approval = approval
        readableCopy = (kind, json[kind])
    }

    private static func approval(_ json: JSON) -> Approval? {
        guard let assisted = json["approval"] else {
            guard let message = json.bytes("message"), let assertion = json["assertion"],
                let credential = assertion["credential_id"]?.text.flatMap({ ID<Credential>($0) }),
                let proof = proof(assertion)
            else { return nil }
            return .customer(credential, message: message, proof)
        }
        // An order with two proofs says two things.
        guard json["message"] == nil, json["assertion"] == nil, assisted["kind"] == "assisted",
            let act = assisted["act_id"]?.text.flatMap({ ID<Act>($0) }),
            let document = assisted.bytes("document"),
            case .array(let list)? = assisted["signatures"]
        else { return nil }
        let signatures = list.compactMap { OfficerSignature($0) }
        guard signatures.count == list.count else { return nil }
        return .assisted(act, document: document, signatures)
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
