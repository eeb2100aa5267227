import Countersign
import TestSupport
import Testing

/// What two officers may approve in the place of a customer who has no key.
@Suite struct `Officers` {
    private let at = Fixtures.at

    private func line(
        _ content: ActionContent, under changes: [(String, JSON?)] = [],
        _ change: (inout RecordedState) -> Void = { _ in }
    ) throws -> String {
        let document = changes.reduce(Fixtures.richDocument) { $0.setting($1.0, to: $1.1) }
        let policy = Policy(
            version: 3, digest: try #require(Digest(Fixtures.bytes32(9))),
            rules: try PolicyRules(document: document))
        var state = Fixtures.state()
        state.credential = nil
        state.isAssisted = true
        change(&state)
        return policy.decide(content, state).line(at: at)
    }

    @Test func `approve up to a limit of their own, and it is always held`() throws {
        let held = "held 172800 assisted_hold"
        #expect(try line(Fixtures.transfer("0.01")) == held)
        #expect(try line(Fixtures.transfer("199.99")) == held)
        #expect(try line(Fixtures.transfer("200.00")) == held)
        #expect(try line(Fixtures.transfer("200.01")) == "refused assisted_max 200.00")
        #expect(
            try line(Fixtures.transfer("1", currency: "JPY")) == "refused assisted_max 0")
        #expect(try line(Fixtures.newPayee()) == held)
        #expect(try line(Fixtures.contactChange()) == held)
    }

    @Test func `approve nothing that the usual limits refuse`() throws {
        let transfer = try Fixtures.transfer("100.01")
        #expect(
            try line(transfer) { $0.payee = Fixtures.newPayee }
                == "refused first_transfer_max 100.00")
        #expect(
            try line(transfer) { $0.used.today = 100_000 } == "refused daily_max 0.00")
        #expect(
            try line(transfer) { $0.ownLimits.singleMax = RecordedState.OwnAmount(100) }
                == "refused single_max 1.00")
        #expect(
            try line(transfer) { $0.used.transfersInWindow = 3 } == "refused velocity")
        #expect(
            try line(Fixtures.newPayee()) { $0.used.newPayeesToday = 2 }
                == "refused new_payees_per_day")
        let signal = RecordedRisk(
            segment: "retail", signals: ["remote_access"], nameCheck: nil)
        #expect(try line(transfer) { $0.risk = signal } == "refused signal:remote_access")
    }

    @Test func `approve nothing without a rule for it, and no limit of a customer`() throws {
        let none = "refused assisted_not_allowed"
        for content in [
            try Fixtures.transfer("1.00"), try Fixtures.newPayee(), try Fixtures.contactChange(),
        ] { #expect(try line(content, under: [("assisted", nil)]) == none) }
        for amount in ["1000.01", "1.00"] {
            #expect(try line(Fixtures.limitChange(amount)) == none)
        }
        #expect(
            try line(Fixtures.transfer("1.00"), under: [("factors.transfer", [])])
                == "refused credential_not_allowed")
    }

    @Test func `are held by the longest of all holds, under its name`() throws {
        let transfer = try Fixtures.transfer("1.00")
        let now = at
        func contact(_ seconds: Int64) -> (inout RecordedState) -> Void {
            { $0.contactHoldUntil = now + Seconds(seconds) }
        }
        #expect(try line(transfer, contact(172_801)) == "held 172801 contact_change_hold")
        #expect(try line(transfer, contact(172_799)) == "held 172800 assisted_hold")
        let doubtful = RecordedRisk(segment: "retail", signals: ["new_device"], nameCheck: nil)
        #expect(
            try line(transfer) { $0.risk = doubtful } == "held 172800 signal cancel")
    }

    @Test func `are one of the things that a segment may have otherwise`() throws {
        let young = RecordedRisk(segment: "young", signals: [], nameCheck: nil)
        let rule: JSON = ["hold_s": .integer(604_800), "max": ["EUR": "5.00"]]
        let changes: [(String, JSON?)] = [("segments.young.assisted", rule)]
        #expect(
            try line(Fixtures.transfer("5.00"), under: changes) { $0.risk = young }
                == "held 604800 assisted_hold")
        #expect(
            try line(Fixtures.transfer("5.01"), under: changes) { $0.risk = young }
                == "refused assisted_max 5.00")
        #expect(
            try line(Fixtures.transfer("5.01"), under: changes) == "held 172800 assisted_hold")
    }

    @Test func `leave what is approved for a contact change and a payee to wait`() throws {
        var state = Fixtures.state()
        state.credential = nil
        state.isAssisted = true
        let policy = try Fixtures.policy(setting: "assisted", to: ["hold_s": .integer(172_800)])
        guard case .allowed(let change) = policy.decide(try Fixtures.contactChange(), state),
            case .allowed(let added) = policy.decide(try Fixtures.newPayee(), state)
        else {
            Issue.record("not allowed")
            return
        }
        #expect(change.contactHoldUntil == at + Seconds(172_800 + 86_400))
        #expect(added.payeeTimes?.usableAt == at + Seconds(172_800))
    }

    @Test func `are remembered in what was looked at, and only where it was so`() throws {
        var state = Fixtures.state()
        #expect(state.members["assisted"] == nil)
        state.isAssisted = true
        #expect(state.members["assisted"] == "true")
        #expect(RecordedState(decoding: state.encoded) == state)
        for word in ["", "false", "yes"] {
            var members = state.members
            members["assisted"] = word
            #expect(RecordedState(members: members) == nil)
        }
    }
}

/// The document that officers sign.
@Suite struct `The document of an approval by officers` {
    private func approval(_ content: ActionContent) throws -> AssistedApproval {
        AssistedApproval(
            AssistedRequest(
                action: Fixtures.id(1), reason: try DisplayText("phone stolen", .actReason),
                identityCheck: IdentityCheck(
                    method: .inPerson, reference: try DisplayText("passport", .reason))),
            of: RecordedAction(
                id: Fixtures.id(1), customerID: try CustomerID("c-1"), content: content,
                externalID: "order-7", risk: .unsaid, policyVersion: 1, authorization: .pending,
                execution: .none, hold: nil, createdAt: Fixtures.at,
                expiresAt: Fixtures.at + Seconds(900)), hold: Seconds(86_400))
    }

    @Test func `says the whole action, and is read back as exactly that`() throws {
        for content in [
            try Fixtures.transfer("1.00"), try Fixtures.newPayee(), try Fixtures.contactChange(),
        ] {
            let approval = try approval(content)
            #expect(AssistedApproval(recorded: approval.document) == approval)
            guard case .object(let members)? = approval.document["members"] else {
                Issue.record("no members")
                return
            }
            #expect(members.count == content.members.count)
            for member in members { #expect(content.members[member.name] == member.value.text) }
        }
    }

    @Test(
        arguments: [
            ("members.amount", JSON.string("1.0")), ("members.more", "x"),
            ("members.currency", nil),
            ("members.amount", .integer(1)), ("kind", "new_payee"), ("customer_id", ""),
            ("customer_id", nil), ("reason", ""), ("identity_check.method", "sms"),
            ("identity_check.more", "x"), ("identity_check", nil), ("assisted.hold_s", "86400"),
            ("assisted.more", "x"), ("more", "x"), ("action_id", "x"), ("external_id", .integer(7)),
        ] as [(String, JSON?)])
    func `is read as nothing with another member`(path: String, value: JSON?) throws {
        let document = try approval(Fixtures.transfer("1.00")).document
        #expect(AssistedApproval(recorded: document.setting(path, to: value)) == nil)
    }

    @Test(
        arguments: [
            ("action_id", "x", "/action_id"), ("reason", "", "/reason"), ("reason", nil, "/reason"),
            ("identity_check", nil, "/identity_check"),
            ("identity_check.method", nil, "/identity_check/method"),
            ("identity_check.reference", "", "/identity_check/reference"),
            ("identity_check.reference", nil, "/identity_check/reference"),
            ("identity_check.code", "123456", "/identity_check/code"), ("seq", "1", "/seq"),
        ] as [(String, JSON?, String)])
    func `is not made of a request that lacks something`(
        path: String, value: JSON?, pointer: String
    ) throws {
        let request = try approval(Fixtures.transfer("1.00")).request
        #expect(try AssistedRequest(request.json) == request)
        #expect { try AssistedRequest(request.json.setting(path, to: value)) } throws: {
            ($0 as? InvalidActMember)?.pointer == pointer
        }
    }

    @Test(arguments: ["sms", "otp", "email_code", "call", "In_person", ""])
    func `takes no code that was sent for an identity check, and says so`(word: String) throws {
        let request = try approval(Fixtures.transfer("1.00")).request
        let sent = request.json.setting("identity_check.method", to: .string(word))
        #expect { try AssistedRequest(sent) } throws: { error in
            guard let member = error as? InvalidActMember else { return false }
            return member.value.code == "identity_check_method"
                && member.value.detail.contains("SMS")
        }
    }
}
