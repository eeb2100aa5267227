import Countersign
import HTTP
import Testing

/// What reaches the service, and the answers member by member.
@Suite struct `Actions over HTTP` {
    private static let path = "/v1/actions/\(Fixture.action.id.text)"

    private func created(_ body: String) async throws -> CreateActionCommand {
        let api = FakeAPI()
        try await api.serve { api async throws in
            #expect(try await api.post("/v1/actions", body).status == 201)
        }
        return try #require(api.actions.creations.values.first)
    }

    @Test func `a transfer`() async throws {
        let command = try await created(Body.transfer)
        #expect(command.client == Fixture.client(.backend).id)
        #expect(command.customerID == Fixture.customerID)
        #expect(command.content == Fixture.transfer)
        #expect(command.externalID == nil)
        #expect(command.risk == nil)
        #expect(command.idempotencyKey == "k1")
    }

    @Test func `optional members may be left out or null, and are empty then`() async throws {
        let left = try await created(
            Body.transfer.replacing(#""reference": "Invoice 7", "#, with: "")
                .replacing(#""INV-7""#, with: "null"))
        #expect(left.content.members["reference"] == "")
        #expect(left.content.members["end_to_end_id"] == "")
        let payee = try await created(
            Body.newPayee.replacing(#""alias": "Erika""#, with: #""alias": null"#))
        #expect(payee.content.members["payee_alias"] == "")
    }

    @Test func `a new payee, by another scheme than IBAN`() async throws {
        let command = try await created(Body.newPayee)
        #expect(
            command.content.members == [
                "payee_name": "Erika Mustermann", "payee_account": "pix:erika@example.com",
                "payee_alias": "Erika",
            ])
    }

    @Test func `texts are normalised to NFC, and IBANs to capitals without spaces`() async throws {
        let command = try await created(
            Body.transfer.replacing("Erika Mustermann", with: #"Zoe\u0308"#)
                .replacing("DE89370400440532013000", with: "de89 3704 0044 0532 0130 00"))
        #expect(
            command.content.members["payee_name"].map { Array($0.unicodeScalars) }
                == ["Z", "o", "\u{EB}"])
        #expect(command.content.members["debtor_account"] == "iban:DE89370400440532013000")
    }

    @Test func `a contact change carries only the digest of the old value`() async throws {
        let command = try await created(Body.contactChange)
        #expect(
            command.content.members == [
                "channel": "phone", "new_value": "+4915187654321",
                "old_value_digest": Fixture.sha256(Bytes("+4915112345678".utf8)).hex,
            ])
        for old in ["", #""old_value": null,"#] {
            let command = try await created(
                Body.contactChange.replacing(#""old_value": "+4915112345678","#, with: old))
            #expect(command.content.members["old_value_digest"] == "")
        }
    }

    @Test func `risk and external ID are handed on`() async throws {
        let risk = #"{"signals": ["new_device", "vpn_1"], "score": 7, "notes": {"a": [null]}}"#
        let command = try await created(
            String(Body.transfer.dropLast())
                + #", "external_id": "T-1", "risk": \#(risk)}"#)
        #expect(command.externalID?.text == "T-1")
        let kept = try StrictJSON.parse(Bytes(risk.utf8))
        #expect(command.risk == kept)
    }

    @Test func `the answer to a creation is the stored one, byte for byte`() async throws {
        try await FakeAPI().serve { api async throws in
            let answer = try await api.post("/v1/actions", Body.transfer)
            #expect(answer.status == 201)
            #expect(answer.body == Fixture.creationAnswer)
            #expect(answer.headers["content-type"] == "application/json")
            #expect(answer.headers["location"] == Self.path)
            #expect(answer.headers["idempotency-replayed"] == nil)
            #expect(APIAnswer.names(answer.json) == ["action", "challenge"])
            #expect(
                APIAnswer.names(answer.json["action"]) == [
                    "authorization", "created_at", "customer_id", "execution", "expires_at",
                    "external_id", "hold", "id", "kind", "policy_version", "transfer",
                ])
            #expect(
                APIAnswer.names(answer.json["action"]?["transfer"]) == [
                    "amount", "currency", "debtor_account", "end_to_end_id", "payee", "reference",
                ])
            #expect(
                APIAnswer.names(answer.json["challenge"]) == [
                    "action_id", "attempts_left", "expires_at", "id", "messages",
                ])
        }
    }

    @Test func `a creation that is answered again says so`() async throws {
        var api = FakeAPI()
        api.actions.creation = .created(answer: Fixture.creationAnswer, replayed: true)
        try await api.serve { api async throws in
            let answer = try await api.post("/v1/actions", Body.transfer)
            #expect(answer.status == 201)
            #expect(answer.headers["idempotency-replayed"] == "true")
            #expect(answer.headers["location"] == Self.path)
        }
    }

    @Test(arguments: ["", "{}", " { } "])
    func `another challenge, with an empty body or object`(body: String) async throws {
        try await FakeAPI().serve { api async throws in
            let answer = try await api.post("\(Self.path)/challenges", body, headers: [])
            #expect(answer.status == 201)
            #expect(answer.json["challenge"]?["id"] == .string(Body.challengeID))
        }
    }

    @Test func `decisions reach the service with their proof`() async throws {
        let api = FakeAPI()
        try await api.serve { api async throws in
            for route in ["approve", "reject"] {
                for body in [Body.deviceKeyProof, Body.passkeyProof] {
                    #expect(try await api.post("\(Self.path)/\(route)", body).status == 200)
                }
            }
            #expect(
                try await api.post("\(Self.path)/reject", #"{"reason": "not_me"}"#).status == 200)
        }
        let commands = api.actions.decisions.values
        #expect(commands.map(\.decision) == [.approve, .approve, .reject, .reject, .reject])
        #expect(commands.allSatisfy { $0.action == Fixture.action.id })
        let deviceKey = UnverifiedAssertion.deviceKey(
            credential: Fixture.credential.id, signature: [0x30, 0x45, 0x02, 0xFB, 0xFF])
        let passkey = UnverifiedAssertion.passkey(
            PasskeyAssertion(
                rawID: [1, 2, 3], clientDataJSON: Bytes("{}".utf8), authenticatorData: [4, 5, 6],
                signature: [7, 8, 9], userHandle: nil))
        for (command, assertion) in zip(commands, [deviceKey, passkey, deviceKey, passkey]) {
            guard case .signed(let challenge, let came) = command.proof else {
                Issue.record("not signed")
                continue
            }
            #expect(challenge.text == Body.challengeID)
            #expect(came == assertion)
        }
        guard case .unsigned(.notMe)? = commands.last?.proof else {
            Issue.record("the reason was lost")
            return
        }
    }

    @Test func `a browser's confirmation of a payment approves, and never rejects`() async throws {
        let api = FakeAPI()
        try await api.serve { api async throws in
            #expect(try await api.post("\(Self.path)/approve", Body.paymentProof).status == 200)
            let refused = [
                Body.paymentProof.replacing("\"payment\": {\"browser", with: "\"prf\": {\"browser"),
                Body.paymentProof.replacing("AQI", with: "AQ=="),
                Body.paymentProof.dropLast() + ", \"passkey\": \(Body.passkey)}",
                Body.paymentProof.dropLast() + ", \"more\": 1}",
                #"{"challenge_id": "\#(Body.challengeID)", "payment": "x"}"#,
                #"{"challenge_id": "\#(Body.challengeID)", "payment": {}}"#,
            ]
            for body in refused {
                let answer = try await api.post("\(Self.path)/approve", String(body))
                #expect(answer.status == 400 && answer.slug == "malformed-request", "\(body)")
            }
            #expect(try await api.post("\(Self.path)/reject", Body.paymentProof).status == 400)
        }
        let commands = api.actions.decisions.values
        #expect(commands.count == 1)
        guard case .signed(let challenge, .payment(let payment))? = commands.first?.proof else {
            Issue.record("no payment came")
            return
        }
        #expect(challenge.text == Body.challengeID)
        #expect(payment.browserBoundSignature == [1, 2])
        #expect(payment.passkey.rawID == [1, 2, 3])
    }

    @Test func `an assertion of App Attest comes with the signature, in base64`() async throws {
        let api = FakeAPI()
        try await api.serve { api async throws in
            for (text, status) in [
                ("\"AQID\"", 200), ("null", 200), ("\"AQ-_\"", 400), ("1", 400), ("{}", 400),
            ] {
                let body = Body.deviceKeyProof.replacing(
                    #""MEUC+/8=""#, with: #""MEUC+/8=", "app_attest": \#(text)"#)
                #expect(try await api.post("\(Self.path)/approve", body).status == status)
            }
        }
        let came = api.actions.decisions.values.map { command -> Bytes? in
            guard case .signed(_, .deviceKey(_, _, let appAttest)) = command.proof else {
                return nil
            }
            return appAttest
        }
        #expect(came == [[1, 2, 3], nil])
    }

    @Test func `the answer to a decision`() async throws {
        var api = FakeAPI()
        try await api.serve { api async throws in
            let answer = try await api.post("\(Self.path)/approve", Body.deviceKeyProof)
            #expect(answer.status == 200)
            #expect(answer.headers["idempotency-replayed"] == nil)
            #expect(
                APIAnswer.names(answer.json) == ["action", "evidence_id", "leaf_hash", "promise"])
            #expect(answer.json["action"]?["authorization"] == "approved")
            #expect(answer.json["action"]?["execution"] == "held")
            #expect(answer.json["action"]?["hold"]?["rule"] == "payee_cooling_off")
            #expect(answer.json["leaf_hash"] == .string(Fixture.leafHash.hex))
            let id = try #require(answer.json["evidence_id"]?.text)
            #expect(answer.json["promise"] == .string("promise of \(id) \(Fixture.leafHash.hex)"))
        }
        api.actions.decision = .decided(Fixture.decision, replayed: true)
        try await api.serve { api async throws in
            let answer = try await api.post("\(Self.path)/approve", Body.deviceKeyProof)
            #expect(answer.headers["idempotency-replayed"] == "true")
        }
    }

    @Test func `cancelling hands the reason on`() async throws {
        let api = FakeAPI()
        try await api.serve { api async throws in
            let answer = try await api.post(
                "\(Self.path)/cancel", #"{"reason": "Customer called"}"#)
            #expect(answer.status == 200)
            #expect(answer.json["action"]?["authorization"] == "cancelled")
        }
        #expect(api.actions.reasons.values == ["Customer called"])
    }

    @Test func `one action, or none`() async throws {
        try await FakeAPI().serve { api async throws in
            let answer = try await api.get(Self.path)
            #expect(answer.status == 200)
            #expect(answer.json["action"]?["id"] == .string(Fixture.action.id.text))
            let other: ID<Action> = Fixture.id(99)
            #expect(try await api.get("/v1/actions/\(other.text)").slug == "not-found")
        }
    }

    @Test func `a list hands its filters on`() async throws {
        let api = FakeAPI()
        try await api.serve { api async throws in
            let filters = "customer_id=c-1001&authorization=approved&execution=in_progress"
            #expect(try await api.get("/v1/actions?\(filters)&limit=7").status == 200)
            #expect(try await api.get("/v1/actions?customer_id=c-1001").status == 200)
        }
        let queries = api.actions.queries.values
        #expect(queries.map(\.customerID) == [Fixture.customerID, Fixture.customerID])
        #expect(queries.map(\.authorization) == [.approved, nil])
        #expect(queries.map(\.execution) == [.inProgress, nil])
        // One more than the page, to see whether there is another.
        #expect(queries.map(\.limit) == [8, 51])
        #expect(queries.allSatisfy { $0.before == nil })
    }

    @Test(arguments: [(2, true), (3, false), (4, false)])
    func `a list ends with a cursor only when more follows`(
        limit: Int, more: Bool
    ) async throws {
        var api = FakeAPI()
        api.actions.found = [3, 2, 1].map { Fixture.action($0) }
        try await api.serve { api async throws in
            let path = "/v1/actions?customer_id=c-1001&limit=\(limit)"
            let answer = try await api.get(path)
            guard case .array(let actions)? = answer.json["actions"] else {
                Issue.record("no actions")
                return
            }
            #expect(actions.count == min(3, limit))
            #expect((answer.json["next_cursor"] != .null) == more)
            guard let cursor = answer.json["next_cursor"]?.text else { return }
            #expect(try await api.get("\(path)&cursor=\(cursor)").status == 200)
        }
        let last = api.actions.queries.values.last?.before
        #expect(last == (more ? Fixture.action(2).id : nil))
    }

    @Test func `payees, with what may be sent to them`() async throws {
        var api = FakeAPI()
        guard case .transfer(let transfer) = Fixture.transfer else { return }
        let euros = { Money(minorUnits: $0, currency: transfer.amount.currency) }
        for state in [PayeeStanding.State.new, .established] {
            api.actions.payees.append(
                PayeeStanding(
                    id: Fixture.id(8), identity: transfer.payee, alias: "Erika", state: state,
                    usableAt: Fixture.now, newUntil: Fixture.now + Seconds(3600),
                    allowance: PayeeAllowance(
                        amount: euros(10_000), rule: "first_transfer_max",
                        until: Fixture.now + Seconds(60),
                        hold: Hold(until: Fixture.now, rule: .payeeCoolingOff, end: .release),
                        left: [(.singleMax, euros(30_050)), (.firstTransferMax, euros(10_000))])))
        }
        try await api.serve { api async throws in
            let answer = try await api.get("/v1/customers/c-1001/payees")
            guard case .array(let payees)? = answer.json["payees"], payees.count == 2 else {
                Issue.record("two payees are needed")
                return
            }
            #expect(
                APIAnswer.names(payees[0]) == [
                    "account", "alias", "id", "may_send", "name", "new_until", "state", "usable_at",
                ])
            #expect(payees[0]["account"] == ["iban": "FR1420041010050500013M02606"])
            #expect(payees[0]["state"] == "new")
            #expect(payees[0]["usable_at"] == .string(Fixture.now.text))
            let allowance: JSON = [
                "amount": "100.00", "currency": "EUR",
                "hold": [
                    "at_end": "release", "rule": "payee_cooling_off",
                    "until": .string(Fixture.now.text),
                ],
                "left": ["first_transfer_max": "100.00", "single_max": "300.50"],
                "rule": "first_transfer_max",
                "until": .string((Fixture.now + Seconds(60)).text),
            ]
            #expect(payees[0]["may_send"] == allowance)
        }
        #expect(api.actions.customers.values == [Fixture.customerID])
    }
}
