import Countersign
import Crypto
import Foundation
import TestSupport
import Testing

@testable import CountersignMain

/// The published cases of signed requests, each put to the running service as a bank's backend would.
@Suite struct `Published cases of signed requests` {
    @Test func `to the running service`() async throws {
        guard let cases = try Cases.read("device.jsonl", where: { $0.id.hasPrefix("req-") }),
            let keys = try RequestKeys()
        else { return }
        try await Stage.open { stage in
            let second = try await stage.bank.serve()
            let bench = RequestBench(
                stage: stage, other: second, phones: try await keys.enrol(at: stage.instance))
            try await bench.revoke("device-revoked")
            let deviating = await cases.play("device.jsonl request-signing (on the service)") {
                try await bench.play($0)
            }
            #expect(deviating.isEmpty)
        }
    }
}

/// The test keys of the cases.
private struct RequestKeys {
    let keys: [String: P256PrivateKey]

    init?() throws {
        var keys: [String: P256PrivateKey] = [:]
        for name in ["device-a", "device-b", "device-other-user", "device-revoked"] {
            guard let pem = Cases.bytes("device-keys/\(name).pem") else { return nil }
            keys[name] = try P256PrivateKey(pem: String(decoding: pem, as: UTF8.self))
        }
        self.keys = keys
    }

    /// Each is the first key of a customer of its own.
    func enrol(at instance: ServiceInstance) async throws -> [String: RequestSigner] {
        var phones: [String: RequestSigner] = [:]
        for (name, key) in keys {
            phones[name] = try await .enrol(key, for: "c-\(name)", at: instance)
        }
        return phones
    }
}

/// Plays cases between the phones of the cases and two instances.
private struct RequestBench {
    let stage: Stage
    let other: ServiceInstance
    let phones: [String: RequestSigner]

    func revoke(_ name: String) async throws {
        let credential = phones[name]?.credential ?? ""
        let answer = try await stage.instance.backend().revoke(credential, reason: "lost")
        guard answer.status == 200 else { throw Unexpected("not revoked: \(answer.status)") }
    }

    func play(_ one: Case) async throws -> Judgement {
        if case .object(let repeating)? = one.input("repeat") {
            return try await play(one, repeating: .object(repeating))
        }
        if case .array(let steps)? = one.input("steps") {
            return try await one.faultKind == "slow_body"
                ? slowBody(one) : play(one, steps: steps)
        }
        let verdict = try await atTheirTime(one)
        return one.judge(verdict, by: one.verdict, reason: one.expect("reason")?.text)
    }

    /// Asks again, with a fresh nonce, when the database's second was over meanwhile: what is at the
    /// edge of the window would be judged by another one.
    private func atTheirTime(_ one: Case) async throws -> ToldVerdict {
        for attempt in 0..<50 {
            let now = try await stage.bank.second()
            let sent = try SentRequest(one, now: now, suffix: attempt == 0 ? "" : "-\(attempt)")
            let verdict = try await stage.instance.verify(try sent.body(phones))
            if verdict.second == now || !sent.isAtTheEdge { return verdict }
        }
        throw Unexpected("the machine is too slow for a case of one second")
    }

    // MARK: Several sends

    private func play(_ one: Case, steps: [JSON]) async throws -> Judgement {
        let now = try await stage.bank.second()
        for step in steps {
            guard let words = step["expect"]?.text else { throw UnknownStep(step: "\(step)") }
            var sent = try SentRequest(one, now: now)
            if let device = step["dev"]?.text { sent.use(device) }
            if let key = step["signWith"]?.text { sent.signKey = key }
            if let time = step["ts"]?.text { sent.use(time: time) }
            let parts = words.split(separator: ":").map(String.init)
            let verdict = try await stage.instance.verify(try sent.body(phones))
            let judgement = one.judge(
                verdict, by: parts[0], reason: parts.count > 1 ? parts[1] : nil)
            guard case .asExpected = judgement else { return judgement }
        }
        return .asExpected
    }

    private func play(_ one: Case, repeating: JSON) async throws -> Judgement {
        let sent = try SentRequest(one, now: try await stage.bank.second())
        let body = try sent.body(phones)
        guard case .integer(let times)? = repeating["times"] else {
            throw UnknownStep(step: "a repetition without a count")
        }
        switch repeating["mode"]?.text {
        case "parallel": return try await parallel(body, times, through: [stage.instance])
        case "two-instances-parallel":
            return try await parallel(body, times, through: [stage.instance, other])
        case "flood-between":
            guard try await stage.instance.verify(body).isVerified else {
                return .deviating("the first was refused")
            }
            try await flood(sent.device)
            let again = try await stage.instance.verify(body)
            return one.judge(again, by: "reject", reason: "nonce_used")
        case let mode: throw UnknownStep(step: mode ?? "no mode")
        }
    }

    private func parallel(
        _ body: JSON, _ times: Int64, through instances: [ServiceInstance]
    ) async throws -> Judgement {
        let accepted = try await withThrowingTaskGroup(of: ToldVerdict.self) { group in
            for number in 0..<Int(times) {
                group.addTask { try await instances[number % instances.count].verify(body) }
            }
            return try await group.reduce(into: 0) { $0 += $1.isVerified ? 1 : 0 }
        }
        return accepted == 1 ? .asExpected : .deviating("\(accepted) were accepted")
    }

    /// As many accepted requests in between as the case says, written where the service writes them:
    /// what could push a nonce out is their number, not their way.
    private func flood(_ device: String) async throws {
        try await stage.bank.sql(
            """
            INSERT INTO countersign.device_request (credential_id, nonce, id)
            SELECT '\(phones[device]?.credential ?? "")', 'flood-' || n, gen_random_uuid()
              FROM generate_series(100000, 119999) n
            """)
    }

    /// A copy that is held back on its connection until the nonce of the other copy is forgotten.
    ///
    /// That takes longer than any connection lives, so the request is one of the last second of the
    /// window, and the nonce is taken away as housekeeping would later.
    private func slowBody(_ one: Case) async throws -> Judgement {
        let now = try await stage.bank.second()
        var sent = try SentRequest(one, now: now)
        sent.use(time: String(now - 298))
        let body = try sent.body(phones).encoded
        let message = HttpMessage(
            "POST", "/v1/device-requests/verify",
            fields: [
                "Authorization: Bearer \(stage.bank.backendKey)", "Content-Type: application/json",
            ], body: body)
        let (held, go) = AsyncStream<Void>.makeStream()
        let port = stage.instance.port
        async let late = HttpSocket.run(port: port) { socket in
            socket.send(message.head)
            socket.send(Bytes(body.prefix(body.count / 2)))
            go.yield()
            // The read deadline of a request is 10 s.
            Thread.sleep(forTimeInterval: 5)
            socket.send(Bytes(body.dropFirst(body.count / 2)))
            return try socket.answer()
        }
        for await _ in held { break }
        let first = try ToldVerdict(try await message.send(to: port))
        guard first.isVerified else { return .deviating("the first was refused") }
        try await stage.bank.sql("DELETE FROM countersign.device_request")
        let second = try ToldVerdict(try await late)
        return second.isVerified ? .deviating("the copy was accepted") : .asExpected
    }
}

extension Case {
    /// Compares a verdict with one of the case's, and the reasons if the case has one.
    fileprivate func judge(
        _ told: ToldVerdict, by verdict: String, reason: String?
    ) -> Judgement {
        if verdict == "either" { return .asExpected }
        guard told.isVerified == (verdict == "accept") else {
            return .deviating(told.isVerified ? "accepted" : "refused: \(told.reason ?? "")")
        }
        guard verdict == "reject", let reason, let ours = told.reason else { return .asExpected }
        return Self.reasons[reason]?.contains(ours) == true
            ? .asExpected : .deviating("refused as \(ours)")
    }

    /// Our words for those of the cases. What is wrong with the form comes before the signature.
    private static let reasons: [String: Set<String>] = [
        "signature_invalid": ["signature_invalid", "nonce_malformed"],
        "timestamp_out_of_window": ["timestamp_out_of_window"],
        "timestamp_format": ["timestamp_malformed"], "nonce_format": ["nonce_malformed"],
        "nonce_used": ["nonce_used"], "device_revoked": ["credential_revoked"],
        "bad_request": ["header_duplicate"], "unauthenticated": ["header_missing"],
        "not_found": ["credential_of_another"],
    ]
}
