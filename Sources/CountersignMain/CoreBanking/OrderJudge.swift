import Countersign
import Crypto
import Delivery

/// Decides about an order without trusting the signing service: only the keys count that core banking has on
/// record, the customer's or those of two officers.
struct OrderJudge: Sendable {
    /// Why core banking will never carry out an order; the raw value is the reason in the answer.
    enum Refusal: String, Error, CaseIterable {
        case credentialNotOfCustomer = "credential_not_of_customer"
        case credentialKindDiffers = "credential_kind_differs"
        case signatureInvalid = "signature_invalid"
        case paymentDiffers = "payment_differs"
        case messageUnreadable = "message_unreadable"
        case messageOfAnotherAction = "message_of_another_action"
        case messageForAnotherBank = "message_for_another_bank"
        case notAnApproval = "not_an_approval"
        case readableCopyDiffers = "readable_copy_differs"
        case officerKeysMissing = "officer_keys_missing"
        case officerKeyUnknown = "officer_key_unknown"
        case notTwoOfficers = "not_two_officers"
        case documentOfAnotherAction = "document_of_another_action"
    }

    /// The relying-party ID that this bank's customers sign for.
    let audience: String

    /// Decodes what the customer signed, once it is certain that the customer signed it.
    ///
    /// - Parameters:
    ///   - order: The order as it came.
    ///   - signed: The bytes that the customer is said to have signed.
    ///   - proof: The customer's proof.
    ///   - key: The key that was recorded for its credential.
    /// - Returns: What to carry out: the content decoded from the message, never the readable copy.
    /// - Throws: ``Refusal``, for good.
    func judge(
        _ order: ReceivedOrder, _ signed: Bytes, _ proof: RecordedAssertion.Proof, key: CustomerKey
    ) throws(Refusal) -> ActionContent {
        guard key.customerID == order.customerID else { throw .credentialNotOfCustomer }
        try checkProof(signed, proof, key)
        guard let message = SignedMessage(decoding: signed) else {
            throw .messageUnreadable
        }
        guard message.decision == .approve else { throw .notAnApproval }
        guard message.actionID == order.actionID, message.customerID.text == key.customerID else {
            throw .messageOfAnotherAction
        }
        guard message.audience == audience else { throw .messageForAnotherBank }
        try checkCopy(order, of: message.content)
        return message.content
    }

    /// The readable copy must say what was signed.
    func checkCopy(_ order: ReceivedOrder, of content: ActionContent) throws(Refusal) {
        let copy = ReadableCopy(content)
        guard order.readableCopy.kind == copy.kind.rawValue,
            let readable = order.readableCopy.content, areEqual(readable, copy.content)
        else { throw .readableCopyDiffers }
    }

    private func checkProof(
        _ message: Bytes, _ proof: RecordedAssertion.Proof, _ key: CustomerKey
    ) throws(Refusal) {
        switch (proof, key.kind) {
        case (.deviceKey(let signature, _), .deviceKey):
            // In the format of the register: the order's own word for it is no more to be believed
            // than its copy of the key.
            guard
                key.key.p256?.isValid(
                    signature: signature, in: key.signatureFormat, for: message) == true
            else { throw .signatureInvalid }
        case (.passkey(let signature, let clientData, let authenticatorData), .passkey):
            guard let client = SignedJSON.decodeClientData(clientData),
                isAssertion(client, authenticatorData, of: message),
                key.key.isValid(
                    signature: signature, for: authenticatorData + sha256(clientData).bytes)
            else { throw .signatureInvalid }
            // A browser's payment dialog may stand in for the page; then what it showed must be what
            // the message says. Source: Secure Payment Confirmation, SPC-02, -05, -07 and -09.
            guard
                client["type"] == "webauthn.get"
                    || SignedMessage(decoding: message)?.isConfirmed(byPayment: client)
                        == true
            else { throw .paymentDiffers }
        case (.deviceKey, .passkey), (.passkey, .deviceKey):
            throw .credentialKindDiffers
        }
    }

    /// Whether the signed parts of a WebAuthn assertion are about this message and this bank.
    ///
    /// Source: WebAuthn L3 §7.2, the steps on type, challenge, rpIdHash, UP and UV.
    func isAssertion(_ client: JSON, _ authenticatorData: Bytes, of message: Bytes) -> Bool {
        let userPresent: UInt8 = 0x01
        let userVerified: UInt8 = 0x04
        guard ["webauthn.get", .string(PaymentClientData.clientDataType)].contains(client["type"]),
            client["challenge"] == .string(Base64.encodeURL(sha256(message).bytes)),
            authenticatorData.count >= 37,
            Bytes(authenticatorData[..<32]) == sha256(Bytes(audience.utf8)).bytes
        else { return false }
        let flags = authenticatorData[32]
        return flags & userPresent != 0 && flags & userVerified != 0
    }

    /// Members in any order, texts byte by byte.
    private func areEqual(_ left: JSON, _ right: JSON) -> Bool {
        guard let normalised = SignedJSON.decode(right.encoded) else { return false }
        return left.encoded == normalised.encoded
    }
}
