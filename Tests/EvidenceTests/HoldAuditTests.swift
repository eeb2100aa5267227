import Countersign
import Crypto
import TestSupport
import Testing

@testable import Evidence

/// What happened to an approval, compared with what was decided and told before.
@Suite struct `An audit of holds and inputs` {
    private static let action: ID<Action> = Fixtures.id(1)
    private static let until = Fixtures.at + Seconds(3600)
    private let log: TestLog

    init() throws { log = try TestLog() }

    /// One thing that is recorded, so many seconds after the first.
    private struct Told {
        let kind: EvidenceKind
        var body: JSON = [:]
        var after: Int64 = 0
        var action: ID<Action>? = `An audit of holds and inputs`.action
    }

    private func hold(_ end: Hold.End = .release, until: Instant = until) -> JSON {
        Hold(until: until, rule: .contactChangeHold, end: end).json
    }

    private func approved(_ hold: JSON) -> Told {
        Told(kind: .actionApproved, body: ["policy": ["verdict": ["hold": hold]]])
    }

    private func records(_ told: [Told]) throws -> [(StoredEvidence, JSON)] {
        try told.map { told in
            let draft = EvidenceDraft(told.kind, action: told.action, body: told.body)
            let sealed = try #require(
                log.sealer.seal(
                    [draft], subject: TestLog.subject, wrappedKey: log.wrappedKey,
                    at: Fixtures.at + Seconds(told.after), heads: ChainHeads()))
            return (StoredEvidence(sealed[0], wrappedKey: log.wrappedKey), told.body)
        }
    }

    private func holdFault(_ told: [Told]) throws -> EvidenceFault? {
        var audit = HoldAudit()
        let records = try records(told)
        do throws(EvidenceFault) {
            for (record, body) in records { try audit.check(record, body) }
            return nil
        } catch { return error }
    }

    @Test func `nothing is executed that was not approved, or is held or cancelled`() throws {
        let executed = Told(kind: .orderExecuted)
        let refused = Told(kind: .orderRefused)
        let released = Told(kind: .actionReleased, body: ["hold": hold()], after: 3600)
        for answer in [executed, refused, Told(kind: .orderUnknown)] {
            #expect(try holdFault([answer]) == .hold)
            #expect(try holdFault([approved(.null), answer]) == nil)
            #expect(try holdFault([approved(hold()), answer]) == .hold)
            #expect(try holdFault([approved(hold()), released, answer]) == nil)
            let cancelled = Told(kind: .actionCancelled)
            #expect(try holdFault([approved(.null), cancelled, answer]) == .hold)
        }
        #expect(try holdFault([approved(.null), Told(kind: .orderUnknown), executed]) == nil)
        #expect(try holdFault([approved(.null), executed, executed]) == .hold)
    }

    @Test func `a hold ends by itself when and as it was decided, and once`() throws {
        func release(_ hold: JSON, after: Int64, act: JSON? = nil) -> Told {
            Told(
                kind: .actionReleased, body: (["hold": hold] as JSON).setting("act_id", to: act),
                after: after)
        }
        #expect(try holdFault([approved(hold()), release(hold(), after: 3600)]) == nil)
        #expect(try holdFault([approved(hold()), release(hold(), after: 3599)]) == .hold)
        // Two people may end it before its time, but it is the hold that was decided.
        #expect(try holdFault([approved(hold()), release(hold(), after: 60, act: "a")]) == nil)
        let shorter = hold(until: Fixtures.at + Seconds(60))
        for act in [nil, "a"] as [JSON?] {
            #expect(
                try holdFault([approved(hold()), release(shorter, after: 4000, act: act)]) == .hold)
        }
        let cancelling = hold(.cancel)
        #expect(try holdFault([approved(cancelling), release(cancelling, after: 4000)]) == .hold)
        #expect(
            try holdFault([approved(cancelling), release(cancelling, after: 60, act: "a")]) == nil)
        #expect(try holdFault([approved(.null), release(hold(), after: 4000)]) == .hold)
        #expect(try holdFault([release(hold(), after: 4000)]) == .hold)
        let twice = [approved(hold()), release(hold(), after: 4000), release(hold(), after: 4001)]
        #expect(try holdFault(twice) == .hold)
    }

    /// What an audit finds in a decision on `inputs`, after what was told before.
    private func inputFault(
        _ state: RecordedState, _ content: ActionContent, after told: [Told]
    ) throws -> EvidenceFault? {
        let message = try Fixtures.message(content)
        let decision = Told(
            kind: .actionApproved,
            body: [
                "message": .string(Base64.encodeURL(message.bytes)),
                "policy": ["inputs": state.json, "verdict": [:]],
            ])
        var audit = InputAudit()
        let records = try records(told + [decision])
        do throws(EvidenceFault) {
            for (record, body) in records { try audit.check(record, body) }
            return nil
        } catch { return error }
    }

    @Test func `a decision looks at the payee that was confirmed`() throws {
        let transfer = try Fixtures.transfer("1.00")
        let payee = Fixtures.establishedPayee
        func added(_ seconds: Int64, _ kind: EvidenceKind = .payeeAdded) throws -> Told {
            Told(
                kind: kind,
                body: [
                    "payee": try Fixtures.payee().json,
                    "usable_at": .string((payee.usableAt + Seconds(seconds)).text),
                    "new_until": .string((payee.newUntil + Seconds(seconds)).text),
                ])
        }
        let imported = Told(
            kind: .payeeImported, body: ["payee": try Fixtures.payee().json])
        let removed = Told(kind: .payeeRemoved, body: ["payee": try Fixtures.payee().json])
        let sound = Fixtures.state()
        #expect(try inputFault(sound, transfer, after: []) == .inputs)
        #expect(try inputFault(sound, transfer, after: [added(0)]) == nil)
        #expect(try inputFault(sound, transfer, after: [added(-5)]) == nil)
        #expect(try inputFault(sound, transfer, after: [added(1)]) == .inputs)
        #expect(try inputFault(sound, transfer, after: [imported]) == nil)
        #expect(try inputFault(sound, transfer, after: [added(0), removed]) == .inputs)
        #expect(try inputFault(sound, transfer, after: [added(0), removed, added(9)]) == .inputs)
        // Who is a payee already does not begin again.
        #expect(try inputFault(sound, transfer, after: [added(0), added(9)]) == nil)
        #expect(try inputFault(Fixtures.state(payee: nil), transfer, after: []) == nil)
        let other = try Fixtures.transfer("1.00", payee: ("Ada", "NL91ABNA0417164300"))
        #expect(try inputFault(sound, other, after: [added(0)]) == .inputs)
    }

    @Test func `a decision knows of the recovery and of the hold after a contact change`() throws {
        let transfer = try Fixtures.transfer("1.00")
        let recovery = Told(kind: .recovery, action: nil)
        func state(recoveredAt: Instant?, contact: Instant? = nil) -> RecordedState {
            Fixtures.state(
                at: Fixtures.at + Seconds(9), contactHoldUntil: contact, payee: nil,
                recoveredAt: recoveredAt)
        }
        let unaware = state(recoveredAt: nil)
        #expect(try inputFault(unaware, transfer, after: []) == nil)
        #expect(try inputFault(unaware, transfer, after: [recovery]) == .inputs)
        #expect(
            try inputFault(state(recoveredAt: Fixtures.at), transfer, after: [recovery]) == nil)
        let earlier = state(recoveredAt: Fixtures.at - Seconds(1))
        #expect(try inputFault(earlier, transfer, after: [recovery]) == .inputs)
        func change(_ until: Instant) -> Told {
            Told(
                kind: .actionApproved,
                body: ["policy": ["verdict": ["contact_hold_until": .string(until.text)]]])
        }
        #expect(try inputFault(unaware, transfer, after: [change(Self.until)]) == .inputs)
        let aware = state(recoveredAt: nil, contact: Self.until)
        #expect(try inputFault(aware, transfer, after: [change(Self.until)]) == nil)
        // What is over needs no looking at.
        #expect(try inputFault(unaware, transfer, after: [change(Fixtures.at)]) == nil)
    }
}
