import Countersign
import Crypto
import Foundation
import TestSupport
import Testing
import WebAuthn

@testable import CountersignMain

/// Input that no well-meaning caller sends, against the whole service with its database.
@Suite struct `Bad input to the service` {
    @Test func `on every route gets an answer that is no 5xx, and changes nothing it should not`()
        async throws
    {
        try await withBank { bank in
            let instance = try await bank.serve()
            let customers = try await bank.customers(2, at: instance)
            let routes = try await FuzzedRoute.all(instance, customers[0])
            let statuses = try await Array(routes.enumerated()).asyncMapConcurrently {
                number, route in
                // The seed is fixed: what fails once fails again.
                var garbage = Garbage(seed: 0xC0DE + UInt64(number))
                return try await (0..<80).asArray.asyncMap { round in
                    try await expectAnswer(to: route, &garbage, round, instance)
                }
            }
            // Garbage that is all refused at the door would test nothing behind it.
            let seen = Set(statuses.joined())
            #expect(seen.isSuperset(of: [200, 201, 400, 401, 404, 409, 413, 415, 422]), "\(seen)")
            #expect(instance.process.isRunning)
            #expect(!instance.process.hasLogged("request.failed"), "\(instance.process.text)")
            let payment = try await InsistentClient(Shift(instance)).pay(
                from: customers[1], key: "after")
            try await bank.audit([payment])
            #expect(try bank.bookings().count == 1)
        }
    }

    private func expectAnswer(
        to route: FuzzedRoute, _ garbage: inout Garbage, _ round: Int, _ instance: ServiceInstance
    ) async throws -> Int {
        let message = route.message(&garbage)
        let answer = try await message.send(to: instance.port)
        // evhttp itself closes on what is no HTTP; nothing here is that bad.
        #expect(
            (200..<500).contains(answer.status),
            """
            \(message.method) \(message.target) round \(round): answered \(answer.status) to \
            \(String(decoding: message.body.prefix(400), as: UTF8.self))
            """)
        if answer.status >= 400 {
            #expect(answer.problem != nil, "\(message.method) \(message.target) \(answer.status)")
        }
        return answer.status
    }

    /// They are cut off after the read deadline; meanwhile others are served.
    @Test func `that comes slowly keeps nobody else waiting and is cut off`() async throws {
        try await withBank { bank in
            let instance = try await bank.serve("--limits-read-deadline-seconds", "1")
            let customers = try await bank.customers(3, at: instance)
            let question = try #require(
                try await instance.backend().create(customers[0].transfer()).question)
            let body = try customers[0].approval(question).encoded
            let whole = HttpMessage(
                "POST", "/v1/actions/\(question.action)/approve",
                fields: [
                    "Authorization: Bearer \(bank.backendKey)", "Content-Type: application/json",
                ], body: body)
            let bytes = whole.head + body
            async let slow = (1..<40).asArray.asyncMapConcurrently { number in
                // Stopped at many places of the request, and half of them drip on.
                let cut = bytes.count * number / 40
                return try await HttpSocket.run(port: instance.port) { socket in
                    socket.send(Bytes(bytes[..<cut]))
                    if number.isMultiple(of: 2) { socket.drip(bytes[cut..<bytes.count - 1]) }
                    return try socket.everything()
                }
            }
            let progress = Progress()
            try await progress.rush(
                Array(customers[1...]), payments: 4, through: [Shift(instance)])
            for answer in try await slow {
                let text = String(decoding: answer.prefix(12), as: UTF8.self)
                #expect(text.isEmpty || text == "HTTP/1.1 408" || text == "HTTP/1.1 400", "\(text)")
            }
            try await bank.audit(await progress.acknowledged)
            let state = try await instance.backend().action(question.action)
            #expect(state.text("action", "authorization") == "pending")
        }
    }
}

extension HttpSocket {
    /// Sends byte by byte until the server takes no more.
    fileprivate func drip(_ bytes: ArraySlice<UInt8>) {
        for byte in bytes {
            guard send([byte]) else { return }
            usleep(50_000)
        }
    }
}

extension Range<Int> {
    fileprivate var asArray: [Int] { Array(self) }
}

/// One route with a request that it would take.
private struct FuzzedRoute: Sendable {
    let method: String
    let path: String
    let key: String?
    let body: JSON

    init(_ method: String, _ path: String, key: String?, _ body: JSON = .null) {
        self.method = method
        self.path = path
        self.key = key
        self.body = body
    }

    /// Every route of the API, with IDs of things that there are.
    static func all(
        _ instance: ServiceInstance, _ customer: BankCustomer
    ) async throws -> [FuzzedRoute] {
        let bank = instance.bank
        let backend = try instance.backend()
        // Each route that can end an action has one of its own.
        let questions = try await (0..<7).asArray.asyncMap { _ in
            guard let question = try await backend.create(customer.transfer()).question else {
                throw Unexpected("no action")
            }
            return question
        }
        let begun = try await backend.beginEnrolment(of: customer.id, .deviceKey)
        let enrolment = begun.text("enrolment_id") ?? ""
        let actions = "/v1/actions"
        func path(_ number: Int) -> String { "\(actions)/\(questions[number].action)" }
        let credentials = "/v1/customers/\(customer.id)/credentials"
        let answers = try questions.map { try Self.answers($0, customer) }
        let post = bodies(customer).map { FuzzedRoute("POST", actions, key: bank.backendKey, $0) }
        let backendRoutes: [(String, String, JSON)] = [
            ("GET", actions + "?customer_id=\(customer.id)&limit=2&authorization=pending", .null),
            ("GET", path(0), .null), ("POST", path(1) + "/challenges", [:]),
            ("POST", path(2) + "/approve", answers[2].deviceKey),
            ("POST", path(3) + "/approve", answers[3].passkey),
            ("POST", path(4) + "/reject", answers[4].deviceKey),
            ("POST", path(5) + "/reject", answers[5].passkey),
            ("POST", path(6) + "/cancel", ["reason": "changed"]),
            ("GET", "/v1/customers/\(customer.id)/payees", .null), ("GET", credentials, .null),
            ("POST", credentials + "/challenges", ["kind": "passkey", "label": "Phone"]),
            (
                "POST", credentials + "/authorizations",
                [
                    "enrolment_id": .string(enrolment),
                    "key_digest": .string(sha256(customer.phone.publicKey.spki).hex),
                ]
            ),
            ("POST", credentials, finish(enrolment, customer)),
            ("POST", credentials, passkeyFinish(enrolment, customer)),
            ("POST", "/v1/credentials/\(enrolment)/revoke", ["reason": "lost"]),
            ("DELETE", "/v1/customers/\(customer.id)/payees/\(enrolment)", .null),
            ("POST", "/v1/customers/c-unknown/recovery", ["sca_token": "a.b.c"]),
            ("GET", "/v1/events?after=0&limit=2", .null),
        ]
        let from = "2026-01-01T00:00:00Z"
        return post
            + backendRoutes.map { FuzzedRoute($0.0, $0.1, key: bank.backendKey, $0.2) } + [
                FuzzedRoute(
                    "GET", "/v1/evidence?action_id=\(questions[0].action)&from=\(from)&limit=1",
                    key: bank.auditorKey),
                FuzzedRoute("GET", "/v1/evidence/\(questions[0].action)", key: bank.auditorKey),
                FuzzedRoute(
                    "POST", "/v1/executions/lease", key: bank.coreAPIKey,
                    ["limit": .integer(3), "lease_seconds": .integer(30)]),
                FuzzedRoute(
                    "POST", "/v1/executions/\(questions[0].action)/receipt", key: bank.coreAPIKey,
                    [
                        "lease_token": .string(enrolment), "status": "executed",
                        "reference": "B-1",
                    ]),
                FuzzedRoute("GET", "/healthz", key: nil), FuzzedRoute("GET", "/readyz", key: nil),
                FuzzedRoute("GET", "/metrics", key: nil),
            ]
    }

    private static func bodies(_ customer: BankCustomer) -> [JSON] {
        let id = JSON.Member("customer_id", .string(customer.id))
        return [
            customer.transfer(),
            .object([
                id, .init("kind", "new_payee"),
                .init("new_payee", ["payee": Cast.new(), "alias": "Strom"]),
                .init("external_id", "e-1"), .init("risk", ["signals": ["new_device"]]),
            ]),
            .object([
                id, .init("kind", "contact_change"),
                .init(
                    "contact_change",
                    [
                        "channel": "phone", "old_value": "+4915112345678",
                        "new_value": "+4915187654321",
                    ]),
            ]),
        ]
    }

    /// Answers that are well-formed and sign something else.
    private static func answers(
        _ question: Question, _ customer: BankCustomer
    ) throws -> (deviceKey: JSON, passkey: JSON) {
        (
            try customer.phone.answer(
                question.challenge, over: [1, 2, 3], as: customer.credential),
            try customer.phone.passkeyAnswer(question.challenge, over: [1, 2, 3])
        )
    }

    private static func finish(_ enrolment: String, _ customer: BankCustomer) -> JSON {
        [
            "enrolment_id": .string(enrolment),
            "device_key": [
                "public_key": .string(customer.phone.publicKey.pem), "signature": "MEUC",
                "platform": "ios",
                "attestation": ["format": "android-key", "certificates": ["MIIB"]],
            ], "authorization": ["sca_token": "a.b.c"],
        ]
    }

    private static func passkeyFinish(_ enrolment: String, _ customer: BankCustomer) -> JSON {
        [
            "enrolment_id": .string(enrolment),
            "passkey": customer.phone.register(over: [1, 2, 3]).json,
            "authorization": [
                "challenge_id": .string(enrolment), "credential_id": .string(customer.credential),
                "device_key": ["signature": "MEUC"],
            ],
        ]
    }

    /// A request to this route with something wrong somewhere.
    func message(_ garbage: inout Garbage) -> HttpMessage {
        var fields = [
            "Idempotency-Key: \(garbage.next(4) == 0 ? garbage.word() : String(garbage.next(1_000_000)))"
        ]
        if let key { fields.append("Authorization: Bearer \(key)") }
        if method == "POST" {
            fields.append(
                "Content-Type: \(garbage.next(20) == 0 ? "text/plain" : "application/json")")
        }
        let target = garbage.next(6) == 0 ? garbage.target(path) : path
        return HttpMessage(
            method, target, fields: fields, body: method == "POST" ? garbage.body(body) : [])
    }
}
