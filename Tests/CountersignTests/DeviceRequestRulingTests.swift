import Countersign
import TestSupport
import Testing

@Suite struct `Judging a signed request` {
    private let world: RequestWorld

    init() throws { world = try RequestWorld() }

    private func refusal(
        _ draft: RequestDraft, _ context: DeviceRequestContext? = nil, signature: Bytes? = nil
    ) -> DeviceRequestRefusal? {
        let request = signature.map { draft.request($0) } ?? world.signed(draft)
        guard case .refuse(let refusal) = world.decide(request, context ?? world.context())
        else { return nil }
        return refusal
    }

    @Test func `accepts a good one`() {
        guard
            case .accept(let signature, let claimed) = world.decide(
                world.signed(world.draft), world.context())
        else {
            Issue.record("not accepted")
            return
        }
        #expect(signature.nonce == "nonce-0001")
        #expect(claimed.registered.id == world.credential)
    }

    @Test(arguments: [-300, -299, 0, 299, 300] as [Int64])
    func `takes both edges of the window`(offset: Int64) {
        #expect(refusal(world.draft.with { $0.timestamp += offset }) == nil)
        // The whole of the database's second counts.
        let late = world.context(at: Instant(milliseconds: Fixtures.at.milliseconds + 999))
        #expect(refusal(world.draft.with { $0.timestamp += offset }, late) == nil)
    }

    @Test(
        arguments: [-301, 301, -1_767_607_199, 1_765_839_592_800, 900_000_000_000_000] as [Int64])
    func `refuses what lies outside`(offset: Int64) {
        #expect(refusal(world.draft.with { $0.timestamp += offset }) == .timestampOutOfWindow)
    }

    @Test func `refuses another signature`() {
        #expect(refusal(world.draft, signature: [1]) == .signatureInvalid)
        let other = world.draft.with { $0.body = [] }
        let signature = RequestWorld.signature(over: other.message ?? [])
        #expect(refusal(world.draft, signature: signature) == .signatureInvalid)
    }

    @Test func `tells a damaged record from a bad signature`() {
        #expect(refusal(world.draft, signature: RequestWorld.damaged) == .credentialUnusable)
    }

    @Test func `refuses what cannot be sent`() {
        #expect(refusal(world.draft.with { $0.target = "/a\nb" }) == .targetMalformed)
    }

    @Test func `refuses credentials that are not the customer's to sign with`() throws {
        #expect(refusal(world.draft, world.context(claimed: nil)) == .credentialUnknown)
        let other = try world.draft.with { $0.customerID = try CustomerID("c-2") }
        #expect(refusal(other) == .credentialOfAnother)
        let own = world.draft.with { $0.customerID = world.customer }
        #expect(refusal(own) == nil)
        for (status, expected) in [
            (RecordedCredential.Status.revoked, DeviceRequestRefusal.credentialRevoked),
            (.suspended, .credentialSuspended),
        ] {
            let context = world.context(claimed: world.claimed(status: status))
            #expect(refusal(world.draft, context) == expected)
        }
        let passkey = world.context(claimed: world.claimed(kind: .passkey))
        #expect(refusal(world.draft, passkey) == .credentialKind)
    }

    @Test func `refuses a nonce that was used, and records that once`() {
        let fresh = world.claimed(earlier: world.earlier())
        guard
            case .replayed(let replay, let claimed) = world.decide(
                world.signed(world.draft), world.context(claimed: fresh))
        else {
            Issue.record("no replay")
            return
        }
        #expect(replay.message == world.draft.message)
        #expect(claimed.registered.id == world.credential)
        let told = world.claimed(earlier: world.earlier(isRecorded: true))
        #expect(refusal(world.draft, world.context(claimed: told)) == .nonceUsed)
    }

    @Test func `records no more replays of one credential than it has to`() {
        let max = DeviceRequestRules.replaysRecordedMax
        let many = world.claimed(earlier: world.earlier(), replays: max)
        #expect(refusal(world.draft, world.context(claimed: many)) == .nonceUsed)
        let fewer = world.claimed(earlier: world.earlier(), replays: max - 1)
        #expect(refusal(world.draft, world.context(claimed: fewer)) == nil)
    }

    /// A stranger learns and changes nothing by a nonce without the key.
    @Test func `says of a bad signature that it is one, used nonce or not`() {
        let used = world.context(claimed: world.claimed(earlier: world.earlier()))
        #expect(refusal(world.draft, used, signature: [1]) == .signatureInvalid)
    }

    @Test func `knows its own doing again`() {
        let own = world.claimed(earlier: world.earlier(by: RequestWorld.call))
        guard
            case .accepted = world.decide(
                world.signed(world.draft), world.context(claimed: own))
        else {
            Issue.record("not its own")
            return
        }
    }

    /// Each case is wrong in two ways; the one that comes first in ``DeviceRequestRefusal`` is told.
    @Test func `tells the first of two reasons`() throws {
        let gone = world.context(claimed: world.claimed(status: .revoked))
        let late = world.draft.with { $0.timestamp += 400 }
        #expect(refusal(late.with { $0.nonce = "x" }) == .nonceMalformed)
        #expect(refusal(late.with { $0.target = "" }) == .targetMalformed)
        #expect(refusal(late.with { $0.target = "" }, gone) == .targetMalformed)
        #expect(refusal(late, gone) == .credentialRevoked)
        let others = try late.with { $0.customerID = try CustomerID("c-2") }
        #expect(refusal(others, gone) == .credentialOfAnother)
        #expect(refusal(late, signature: [1]) == .timestampOutOfWindow)
    }
}

@Suite struct `The mode of a signed request` {
    private let world: RequestWorld

    init() throws { world = try RequestWorld() }

    private func mode(
        _ claimed: ClaimedCredential?, general: RequestMode = .enforce,
        customer: CustomerID? = nil, customerEnforces: Bool = false
    ) -> RequestMode {
        world.context(claimed: claimed, customerEnforces: customerEnforces)
            .mode(unlessSet: general, for: customer)
    }

    @Test(arguments: RequestMode.allCases)
    func `is the general one unless the credential has its own`(general: RequestMode) {
        #expect(mode(nil, general: general) == general)
        #expect(mode(world.claimed(), general: general) == general)
        #expect(mode(world.claimed(choice: .enforce), general: general) == .enforce)
        #expect(mode(world.claimed(choice: .logOnly), general: general) == .logOnly)
        let own = world.claimed(choice: .logOnly)
        #expect(mode(own, general: general, customer: world.customer) == .logOnly)
    }

    @Test func `is not loosened by naming a looser credential of another, or a dead one`() throws {
        let loose = world.claimed(choice: .logOnly)
        #expect(mode(loose, customer: try CustomerID("c-2")) == .enforce)
        for status in [RecordedCredential.Status.revoked, .suspended] {
            #expect(mode(world.claimed(status: status, choice: .logOnly)) == .enforce)
        }
    }

    @Test func `is not loosened by naming no credential, or a dead one that was strict`() {
        let none = mode(
            nil, general: .logOnly, customer: world.customer, customerEnforces: true)
        #expect(none == .enforce)
        let dead = world.claimed(status: .revoked, choice: .enforce)
        #expect(mode(dead, general: .logOnly) == .enforce)
    }

    /// One key of the customer enforces, and the request names another one.
    @Test func `is not loosened by naming another key of a customer who enforces`() {
        for named in [
            world.claimed(kind: .passkey), world.claimed(), world.claimed(choice: .logOnly),
        ] {
            for customer in [nil, world.customer] {
                let mode = mode(
                    named, general: .logOnly, customer: customer, customerEnforces: true)
                #expect(mode == .enforce)
            }
        }
    }

    @Test func `allows what is refused only when nothing is enforced`() {
        func allows(_ verdict: DeviceRequestAnswer.Verdict, _ mode: RequestMode) -> Bool {
            DeviceRequestAnswer(verdict: verdict, mode: mode, profile: .target, at: Fixtures.at)
                .isAllowed
        }
        let good = DeviceRequestAnswer.Verdict.verified(world.credential, of: world.customer)
        let bad = DeviceRequestAnswer.Verdict.refused(.nonceUsed, named: nil)
        #expect(allows(good, .enforce) && allows(good, .logOnly))
        #expect(allows(bad, .logOnly))
        #expect(!allows(bad, .enforce))
    }
}
