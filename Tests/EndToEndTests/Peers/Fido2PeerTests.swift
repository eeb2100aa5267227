import Countersign
import Crypto
import Foundation
import TestSupport
import Testing
import WebAuthn

@testable import CountersignMain

/// python-fido2, which shares nothing with libfido2 nor with us, at the other end of both ceremonies.
@Suite struct `python-fido2 as` {
    /// COSE algorithms. Source: RFC 9053 §2.1, §2.2.
    private static let es256: Int64 = -7
    private static let edDSA: Int64 = -8
    /// The algorithms that the program can be configured to take.
    private static var algorithms: [Int64] {
        var configuration = Configuration()
        let takesEdDSA = Setting.named("webauthn.algorithms")?
            .assign(&configuration, "ES256,EdDSA")
        return takesEdDSA == true ? [es256, edDSA] : [es256]
    }
    private static let site = BankSite.example

    @Test(arguments: algorithms)
    func `an authenticator approves a transfer and a contact change`(algorithm: Int64)
        async throws
    {
        try await withPeer { peer in
            try await withBank { bank in
                let instance =
                    algorithm == Self.es256
                    ? try await bank.serve()
                    : try await bank.serve("--webauthn-algorithms", "ES256,EdDSA")
                try await approveTwice(with: peer, algorithm, at: instance)
            }
        }
    }

    @Test func `an authenticator with EdDSA is refused where only ES256 is asked for`()
        async throws
    {
        try await withPeer { peer in
            try await withBank { bank in
                let backend = try await bank.serve().backend()
                let begun = try await backend.beginEnrolment(of: "erika", .passkey)
                let enrolment = try #require(begun.text("enrolment_id"))
                let request: JSON = [
                    "algorithm": .integer(Self.edDSA),
                    "options": try #require(begun.json["webauthn"]),
                ]
                await #expect { try await peer.call("make", request) } throws: {
                    ($0 as? Peer.Refusal)?.name == "NotSupportedError"
                }
                let unasked = try await peer.call(
                    "make", request.setting("unasked", to: .bool(true)))
                let answer = try await backend.finishEnrolment(
                    of: "erika", ["enrolment_id": .string(enrolment), "passkey": unasked])
                #expect(answer.status == 401)
                #expect(answer.problem == "authentication-failed")
            }
        }
    }

    @Test func `a server accepts what our software authenticator makes, and nothing near it`()
        async throws
    {
        let phone = try SoftwarePhone(
            relyingPartyID: Self.site.relyingPartyID, origin: Self.site.origin)
        let (made, signed) = (Bytes("made".utf8), Bytes("signed".utf8))
        let registration = phone.register(over: made).json
        let assertion = try phone.assert(over: signed).json
        let forger = SoftwareAuthenticator(
            relyingPartyID: Self.site.relyingPartyID, credentialID: phone.passkey.credentialID,
            key: try .generate())
        let forged = try forger.assert(
            challenge: sha256(signed).bytes, origin: Self.site.origin,
            flags: [.userPresent, .userVerified], signCount: 0, userHandle: nil
        ).json
        try await withPeer { peer in
            func judge(_ command: String, _ answer: JSON, over message: Bytes) async throws {
                try await peer.call(
                    command,
                    [
                        "challenge": .string(Base64.encodeURL(sha256(message).bytes)),
                        "answer": answer,
                    ])
            }
            try await judge("check_registration", registration, over: made)
            try await judge("check_assertion", assertion, over: signed)
            for (command, answer, message, reason) in [
                ("check_registration", registration, signed, "Wrong challenge in response."),
                ("check_assertion", assertion, made, "Wrong challenge in response."),
                ("check_assertion", forged, signed, "Invalid signature."),
            ] {
                await #expect { try await judge(command, answer, over: message) } throws: {
                    ($0 as? Peer.Refusal)?.message == reason
                }
            }
        }
    }

    private func withPeer<Result>(_ body: (Peer) async throws -> Result) async throws -> Result {
        try await Peer.run(
            "fido2_peer.py", [Self.site.relyingPartyID, Self.site.origin],
            packages: try Peer.environment("COUNTERSIGN_TEST_PYTHON_PACKAGES"), body)
    }

    /// Enrols a passkey and approves by it, and asks core banking and the evidence whether they agree.
    private func approveTwice(
        with peer: Peer, _ algorithm: Int64, at instance: ServiceInstance
    ) async throws {
        let backend = try instance.backend()
        try await instance.bank.policy("{new_credential_cooling_off_s,contact_change}", "0")
        try await instance.bank.importPayee(of: "erika")
        let begun = try await backend.beginEnrolment(of: "erika", .passkey)
        let passkey = try await peer.call(
            "make",
            ["algorithm": .integer(algorithm), "options": try #require(begun.json["webauthn"])])
        let enrolled = try await backend.finishEnrolment(
            of: "erika",
            [
                "enrolment_id": .string(try #require(begun.text("enrolment_id"))),
                "passkey": passkey,
            ])
        #expect(enrolled.status == 201, "\(enrolled.problem ?? "")")
        var acknowledged: [Acknowledged] = []
        for action in [
            BankCustomer.transfer("120.00", of: "erika", reference: "Invoice 7"),
            BankCustomer.contactChange(of: "erika"),
        ] {
            let created = try await backend.create(action)
            let question = try #require(created.question)
            let options = try #require(created.value(["challenge", "webauthn", "approve"]))
            let approved = try await backend.approve(
                question.action,
                [
                    "challenge_id": .string(question.challenge),
                    "passkey": try await peer.call("sign", ["options": options]),
                ])
            #expect(approved.status == 200, "\(approved.problem ?? "")")
            acknowledged.append(
                Acknowledged(
                    action: question.action, evidence: try #require(approved.text("evidence_id")),
                    message: question.approve, isReplay: false, wasCreatedBefore: false))
        }
        try await instance.bank.audit(acknowledged)
    }
}
