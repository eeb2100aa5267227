import Countersign
import Crypto
import WebAuthn

/// Chapters about a passkey, a change of contact data, and the ways to say no.
extension Story {
    mutating func enrolPasskey() async throws {
        try await step(
            "A passkey is enrolled; the device key vouches for it, so no token is needed")
        asked("POST /v1/customers/\(customer)/credentials/challenges  kind passkey")
        asked("POST /v1/customers/\(customer)/credentials/authorizations  the new key's digest")
        asked("POST /v1/customers/\(customer)/credentials  attestation and the device key's answer")
        let enrolled = try await bank.backend.enrolPasskey(
            of: phone, for: customer, vouchedBy: memory.deviceKey)
        memory.passkey = enrolled.text("credential", "id") ?? ""
        came(enrolled, "credential \(memory.passkey) active")
        check("the passkey is enrolled", enrolled, 201)
        try await checkRegister(
            memory.passkey, phone.passkey.key.publicKey, "core banking has noted it too")
    }

    mutating func changeContact() async throws {
        try await step("The passkey approves another phone number; after that, transfers are held")
        let (created, question) = try await ask(
            "contact_change phone",
            [
                "customer_id": .string(customer), "kind": "contact_change",
                "contact_change": [
                    "channel": "phone", "old_value": "+4915112345678",
                    "new_value": "+4915187654321",
                ],
            ])
        try show(question.approve, says: "Approve: change the phone to +4915187654321")
        check(
            "the browser is asked to sign the message's SHA-256",
            created.text("challenge", "webauthn", "approve", "challenge"),
            is: Base64.encodeURL(sha256(question.approve).bytes))
        let answer = try await approve(
            question, with: try phone.passkeyAnswer(question.challenge, over: question.approve))
        check("approved by the passkey", answer.text("action", "authorization"), is: "approved")
        check(
            "and held itself, because the passkey is new", answer.text("action", "hold", "rule"),
            is: "new_credential_cooling_off")
        let (_, transfer) = try await ask(
            "transfer 60.00 EUR", Cast.transfer("60.00", to: Cast.known(), "Invoice 11"))
        let held = try await approve(transfer)
        check(
            "a transfer to a known payee is held now", held.text("action", "hold", "rule"),
            is: "contact_change_hold")
    }

    mutating func rejectAndCancel() async throws {
        try await step("The customer says no, and the bank takes a held transfer back")
        let (_, question) = try await ask(
            "transfer 900.00 EUR", Cast.transfer("900.00", to: Cast.known(), "Invoice 12"))
        try show(question.reject, says: Cast.screen("Reject", "900.00", "Invoice 12"))
        asked("POST /v1/actions/\(question.action)/reject  challenge and signature")
        let rejected = try await bank.backend.reject(
            question.action,
            try phone.answer(question.challenge, over: question.reject, as: memory.deviceKey))
        came(rejected, rejected.decision)
        check("rejected for ever", rejected.decision, is: "rejected, execution none")
        asked("POST /v1/actions/\(memory.heldTransfer)/cancel  the transfer to the new payee")
        let cancelled = try await bank.backend.cancel(
            memory.heldTransfer, reason: "customer called")
        came(cancelled, cancelled.decision)
        check(
            "cancelled before it was sent", cancelled.text("action", "execution"), is: "cancelled")
        let payee = try await readPayee(Cast.newAccount)
        check(
            "what it had reserved is given back",
            payee?["may_send"]?["left"]?["new_payee_sum_max"]?.text,
            is: "5000.00")
    }
}
