import Countersign
import Crypto
import Foundation
import TestSupport

@testable import CountersignMain

/// A phone that signs requests, and the backend that asks what they are worth.
struct RequestSigner: Sendable {
    let customer: String
    let credential: String
    let key: P256PrivateKey

    /// Enrols a key of one's own as the first of a customer.
    static func enrol(
        _ key: P256PrivateKey, for customer: String, at instance: ServiceInstance
    ) async throws -> RequestSigner {
        let backend = try instance.backend()
        let begun = try await backend.beginEnrolment(of: customer, .deviceKey)
        guard let enrolment = begun.text("enrolment_id"), let message = begun.bytes("message")
        else { throw Unexpected("no enrolment: \(begun.status)") }
        let finished = try await backend.finishEnrolment(
            of: customer,
            [
                "enrolment_id": .string(enrolment),
                "device_key": [
                    "public_key": .string(key.publicKey.pem),
                    "signature": .string(Base64.encode(try key.sign(message))),
                ],
            ])
        guard let credential = finished.text("credential", "id") else {
            throw Unexpected("not enrolled: \(finished.status) \(finished.problem ?? "")")
        }
        return RequestSigner(customer: customer, credential: credential, key: key)
    }

    /// The body for `/v1/device-requests/verify` about a request of that time, which this phone signed.
    func body(
        timestamp: Int64, nonce: String, target: String = "/v1/transfers?draft=%2F1"
    ) throws -> JSON {
        let digest = sha256(Bytes("{}".utf8)).hex
        let message = ["POST", target, String(timestamp), nonce, digest].joined(separator: "\n")
        return [
            "method": "POST", "target": .string(target), "body_sha256": .string(digest),
            "headers": [
                "X-Device-ID": .string(credential), "X-Timestamp": .string(String(timestamp)),
                "X-Nonce": .string(nonce),
                "X-Signature": .string(Base64.encode(try key.sign(Bytes(message.utf8)))),
            ],
            "customer_id": .string(customer),
        ]
    }
}

/// What the service said of a signed request.
struct ToldVerdict: Hashable, Sendable {
    let isVerified: Bool
    let isAllowed: Bool
    let reason: String?
    /// The database's time, in whole seconds.
    let second: Int64

    init(_ answer: HttpSocket.Answer) throws {
        guard answer.status == 200, let json = answer.json,
            let at = json["at"]?.text.flatMap({ Instant(text: $0) }), let verdict = json["verdict"]
        else { throw Unexpected("no verdict: \(answer.status) \(answer.problem ?? "")") }
        isVerified = verdict == "verified"
        isAllowed = json["allow"] == .bool(true)
        reason = json["reason"]?.text
        second = at.wholeSeconds.milliseconds / 1000
    }
}

extension ServiceInstance {
    /// Asks what a signed request is worth.
    func verify(_ body: JSON) async throws -> ToldVerdict {
        try ToldVerdict(
            try await send(
                "POST", "/v1/device-requests/verify", fields: ["Content-Type: application/json"],
                body: body.encoded))
    }
}

extension TestBank {
    /// The database's time in whole seconds.
    func second() async throws -> Int64 {
        Int64(try await count("SELECT floor(extract(epoch FROM clock_timestamp()))"))
    }
}
