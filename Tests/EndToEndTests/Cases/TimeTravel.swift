import Countersign
import Crypto
import Foundation
import Postgres
import TestSupport

@testable import CountersignMain

extension TestBank {
    /// Changes stored actions as only somebody can who owns the database and switches triggers off.
    func changingActions(_ statement: String) async throws {
        try await script(
            """
            ALTER TABLE countersign.action DISABLE TRIGGER ALL;
            \(statement);
            ALTER TABLE countersign.action ENABLE TRIGGER ALL;
            ALTER TABLE countersign.action ENABLE ALWAYS TRIGGER guard;
            ALTER TABLE countersign.action ENABLE ALWAYS TRIGGER no_delete;
            ALTER TABLE countersign.action ENABLE ALWAYS TRIGGER no_truncate
            """)
    }

    /// Makes a question one that was asked at another time: it expires at the last full second of the
    /// database's clock and some seconds more.
    ///
    /// Its messages say when it expires, so they are made anew, as if they had been so from the start.
    ///
    /// - Returns: The question with the messages that are now to be signed.
    func move(_ question: Question, expiresInSeconds seconds: Int) async throws -> Question {
        let rows = try await sql(
            """
            SELECT date_trunc('second', clock_timestamp()) + interval '\(seconds) seconds' AS value
            """)
        guard let row = rows.first else { throw Unexpected("no time") }
        let expiresAt: Instant = try row["value"]
        let approve = try question.approve.expiring(at: expiresAt)
        let reject = try question.reject.expiring(at: expiresAt)
        try await sql(
            """
            UPDATE countersign.challenge
               SET created_at = created_at - (expires_at - '\(expiresAt.text)'::timestamptz),
                   expires_at = '\(expiresAt.text)',
                   approve_message = '\\x\(Hex.encode(approve))',
                   reject_message = '\\x\(Hex.encode(reject))'
             WHERE id = '\(question.challenge)'
            """)
        // The customer had the key when the question was asked.
        try await sql(
            """
            UPDATE countersign.credential c SET created_at = least(c.created_at, h.created_at)
              FROM countersign.challenge h JOIN countersign.action a ON a.id = h.action_id
             WHERE h.id = '\(question.challenge)' AND c.subject_id = a.subject_id
            """)
        return Question(
            action: question.action, challenge: question.challenge, approve: approve,
            reject: reject)
    }
}

extension Bytes {
    /// The same signed message with another end.
    fileprivate func expiring(at expiresAt: Instant) throws -> Bytes {
        guard let message = SignedMessage(decoding: self) else { throw Unexpected("no message") }
        return SignedMessage(
            actionID: message.actionID, audience: message.audience,
            challengeID: message.challengeID, customerID: message.customerID,
            decision: message.decision, expiresAt: expiresAt, nonce: message.nonce,
            content: message.content
        ).bytes
    }
}

extension Stage {
    /// Enrols another device key of a customer, for which the first one vouches.
    func enrolAnother(for customer: BankCustomer) async throws -> BankCustomer {
        let backend = try instance.backend()
        let phone = try SoftwarePhone(
            relyingPartyID: instance.bank.site.relyingPartyID, origin: instance.bank.site.origin)
        let begun = try await backend.beginEnrolment(of: customer.id, .deviceKey)
        guard let enrolment = begun.text("enrolment_id"), let message = begun.bytes("message")
        else { throw Unexpected("no enrolment: \(begun.status)") }
        let asked = try await backend.beginAuthorization(
            of: customer.id, enrolment: enrolment, key: phone.publicKey)
        guard let challenge = asked.text("challenge", "id"),
            let vouching = asked.bytes("challenge", "message")
        else { throw Unexpected("no authorisation: \(asked.status)") }
        let finished = try await backend.finishEnrolment(
            of: customer.id,
            [
                "enrolment_id": .string(enrolment),
                "device_key": [
                    "public_key": .string(phone.publicKey.pem),
                    "signature": .string(Base64.encode(try phone.sign(message))),
                ],
                "authorization": try customer.phone.answer(
                    challenge, over: vouching, as: customer.credential),
            ])
        guard let credential = finished.text("credential", "id") else {
            throw Unexpected("not enrolled: \(finished.status) \(finished.problem ?? "")")
        }
        return BankCustomer(id: customer.id, phone: phone, credential: credential)
    }
}

extension APIClient.Answer {
    /// Bytes in base64url at the end of a path of members.
    func bytes(_ path: String...) -> Bytes? { value(path)?.text.flatMap { Base64.decodeURL($0) } }
}
