import Countersign
import Crypto
import Delivery

extension OrderJudge {
    /// Decodes what officers approved, once it is certain that two of them did.
    ///
    /// - Parameters:
    ///   - order: The order as it came.
    ///   - act: The act by which they are said to have approved.
    ///   - document: The bytes whose digest they are said to have signed.
    ///   - signatures: What they are said to have signed with.
    ///   - keys: The officers' keys that are on record; `nil` when there are none.
    /// - Returns: What to carry out: the content decoded from the document, never the readable copy.
    /// - Throws: ``Refusal``, for good.
    func judge(
        _ order: ReceivedOrder, _ act: ID<Act>, _ document: Bytes,
        _ signatures: [OfficerSignature], keys: OfficerKeys?
    ) throws(Refusal) -> ActionContent {
        guard let keys else { throw .officerKeysMissing }
        var people: Set<String> = []
        var spki: Set<Bytes> = []
        for signature in signatures {
            let entry = try check(signature, of: act, document, keys)
            people.insert(entry.person)
            spki.insert(entry.key.spki)
        }
        // Every one of them counts as another person with another key, or none does.
        guard signatures.count >= 2, people.count == signatures.count,
            spki.count == signatures.count
        else { throw .notTwoOfficers }
        guard let json = SignedJSON.decode(document), json.encoded == document,
            let approval = AssistedApproval(recorded: json)
        else { throw .messageUnreadable }
        guard approval.request.action == order.actionID,
            approval.customerID.text == order.customerID
        else { throw .documentOfAnotherAction }
        try checkCopy(order, of: approval.content)
        return approval.content
    }

    /// Checks that an officer whose key is on record signed the approval of this document.
    private func check(
        _ signature: OfficerSignature, of act: ID<Act>, _ document: Bytes, _ keys: OfficerKeys
    ) throws(Refusal) -> OfficerKeys.Entry {
        guard let entry = keys[signature.key], entry.person == signature.person else {
            throw .officerKeyUnknown
        }
        guard let client = SignedJSON.decodeClientData(signature.clientDataJSON),
            client["type"] == "webauthn.get", isFromBank(client),
            isAssertion(client, signature.authenticatorData, of: signature.message),
            entry.key.isValid(
                signature: signature.signature,
                for: signature.authenticatorData + sha256(signature.clientDataJSON).bytes)
        else { throw .signatureInvalid }
        guard let message = ActMessage(decoding: signature.message) else {
            throw .messageUnreadable
        }
        guard message.kind == .approveAction else { throw .notAnApproval }
        guard message.audience == audience else { throw .messageForAnotherBank }
        guard message.actID == act, message.documentDigest == sha256(document),
            message.role == .officer, message.person.utf8.elementsEqual(entry.person.utf8)
        else { throw .messageOfAnotherAction }
        return entry
    }

    /// Whether the client showed a page of the bank: of its domain or of one under it, by itself.
    ///
    /// Source: WebAuthn L3 §5.1.3, step 8: no other page can ask for this relying party.
    private func isFromBank(_ client: JSON) -> Bool {
        guard let origin = client["origin"]?.text, origin.hasPrefix("https://"),
            client["crossOrigin"] ?? .bool(false) == .bool(false)
        else { return false }
        let host = origin.dropFirst(8).split(separator: ":", omittingEmptySubsequences: false)
        guard let name = host.first, host.count <= 2 else { return false }
        return name == audience || name.hasSuffix("." + audience)
    }
}
