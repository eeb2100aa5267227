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
    /// - Returns: What to carry out: the content decoded from the document, never the readable copy; and not
    ///   before when.
    /// - Throws: ``Refusal``, for good.
    func judge(
        _ order: ReceivedOrder, _ act: ID<Act>, _ document: Bytes,
        _ signatures: [OfficerSignature], keys: OfficerKeys?
    ) throws(Refusal) -> (content: ActionContent, notBefore: Instant) {
        guard let keys else { throw .officerKeysMissing }
        var signedAt: Int64 = 0
        var people: Set<String> = []
        var spki: Set<Bytes> = []
        for signature in signatures {
            let (entry, message) = try check(signature, of: act, document, keys)
            signedAt = max(
                signedAt, message.expiresAt.milliseconds - PersonAsker.lifetime.count * 1000)
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
        // Both have signed that it is held for so long. A hold of more than any time ends never.
        let (hold, isTooLong) = approval.hold.count.multipliedReportingOverflow(by: 1000)
        let (end, isTooLate) = signedAt.addingReportingOverflow(hold)
        return (
            approval.content, Instant(milliseconds: isTooLong || isTooLate ? .max : end)
        )
    }

    /// Checks that an officer whose key is on record signed the approval of this document.
    ///
    /// When that was, nobody can prove. It was not before the officer was asked, which is ``PersonAsker/lifetime``
    /// before the signed message expires, or earlier where the act ended first.
    private func check(
        _ signature: OfficerSignature, of act: ID<Act>, _ document: Bytes, _ keys: OfficerKeys
    ) throws(Refusal) -> (OfficerKeys.Entry, ActMessage) {
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
        return (entry, message)
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
