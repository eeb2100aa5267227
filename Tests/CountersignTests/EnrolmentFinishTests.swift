import Countersign
import Crypto
import TestSupport
import Testing

@Suite struct `Finishing an enrolment` {
    private static let locked = Fixtures.at + Seconds(60)

    @Test func `with a good answer of an active credential`() async throws {
        let store = try FinishCase().store()
        let credential = try #require(try await FinishCase().finish(store).credential)
        #expect(credential.createdAt == Fixtures.at)
        #expect(credential.usableAt == Fixtures.at + Seconds(10_800))
        #expect(credential.label == "Phone" && credential.status == .active)
        #expect(credential.assurance == .biometricClaimed)
        #expect(!credential.backupEligible && !credential.backupState)
        guard case .credential(let vouching)? = store.now.enrolled.first?.vouching else {
            Issue.record("nobody vouched")
            return
        }
        #expect(vouching.credential.id == FinishCase.voucherID)
        #expect(store.now.spent.isEmpty)
    }

    /// What is decided may be decided again, so what it is decided by is read before.
    @Test func `brings the verifier up to date once, however many races are lost`() async throws {
        let finish = FinishCase()
        let store = try finish.store {
            $0.enrolments = [.success(.lostRace), .success(.lostRace), .success(.enrolled)]
        }
        #expect(try await finish.finish(store).credential != nil)
        #expect(store.now.loads == 3)
        #expect(finish.prepared.withLock { $0 } == 1)
    }

    /// Each step adds one thing that is wrong and is looked at before all that is wrong already.
    @Test func `tells the first of all that is wrong`() async throws {
        var finish = FinishCase()
        finish.answer = [2]
        try await check(finish, .authenticationFailed, spends: true)
        finish.askedKey = [9]
        try await check(finish, .notAuthorized, spends: true)
        finish.signature = [2]
        try await check(finish, .authenticationFailed, spends: true)
        finish.publicKey = "no key"
        let value = InvalidValue("public_key_malformed", "It is no key.")
        try await check(finish, .invalidKey(value), spends: true)
        finish.lockedUntil = Self.locked
        try await check(finish, .customerLocked(until: Self.locked), spends: false)
        finish.at = Fixtures.at + Seconds(300)
        finish.lockedUntil = Fixtures.at + Seconds(900)
        try await check(finish, .expired, spends: false)
        finish.isSpent = true
        try await check(finish, .consumed, spends: false)
    }

    private func check(
        _ finish: FinishCase, _ expected: EnrolmentRefusal, spends: Bool,
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        let store = try finish.store()
        let refusal = try await finish.finish(store).refusal
        #expect(refusal == expected, sourceLocation: sourceLocation)
        #expect(store.now.spent.count == (spends ? 1 : 0), sourceLocation: sourceLocation)
        #expect(store.now.enrolled.isEmpty, sourceLocation: sourceLocation)
    }

    /// Else a record that was damaged would lock its customer out, and end the key.
    @Test func `with the answer of a key whose record is damaged`() async throws {
        var finish = FinishCase()
        finish.answer = TrustingVerifier.damaged
        finish.voucherFailures = RegisteredCredential.failuresMax - 1
        let store = try finish.store()
        await #expect(throws: StoreFailure.internalFailure(code: "stored_key_invalid")) {
            try await finish.finish(store)
        }
        #expect(store.now.spent.isEmpty && store.now.enrolled.isEmpty)
    }

    @Test func `of nobody's enrolment`() async throws {
        let store = try FinishCase().store { $0.context = nil }
        #expect(try await FinishCase().finish(store).refusal == .notFound)
    }

    @Test func `in its last millisecond, and in the one after`() async throws {
        var finish = FinishCase()
        finish.at = Instant(milliseconds: finish.expiresAt.milliseconds - 1)
        #expect(try await finish.finish(try finish.store()).credential != nil)
        finish.at = finish.expiresAt
        #expect(try await finish.finish(try finish.store()).refusal == .expired)
    }

    @Test func `with a key of the other kind`() async throws {
        var finish = FinishCase()
        finish.kind = .passkey
        let store = try finish.store()
        guard case .invalidKey(let value)? = try await finish.finish(store).refusal else {
            Issue.record("taken")
            return
        }
        #expect(value.code == "credential_kind")
        #expect(store.now.spent.count == 1)
    }

    @Test func `with a stored message about somebody else`() async throws {
        var finish = FinishCase()
        finish.messageCustomer = "c-2"
        let store = try finish.store()
        #expect(try await finish.finish(store).refusal == .authenticationFailed)
        #expect(store.now.spent.map(\.fault) == [.tampered])
    }

    @Test func `with a key that the policy lets approve nothing`() async throws {
        let demands = JSON.object(
            ActionKind.allCases.map { .init($0.rawValue, ["app-attest", "fido-trusted"]) })
        var finish = FinishCase()
        finish.policy = try Fixtures.policy(setting: "required_attestation", to: demands)
        finish.attestation = Attestation(
            verdict: .basic, format: "android-key", profiles: [.androidBiometric])
        // Not even a wrong answer is an attempt then: the key was refused for what it is.
        finish.answer = [2]
        let store = try finish.store()
        #expect(try await finish.finish(store).refusal == .attestationRefused)
        #expect(store.now.spent.map(\.fault) == [.attestation(.policyNotMet)])
        #expect(store.now.spent.map(\.fault.code) == ["policy_not_met"])
        #expect(store.now.spent.allSatisfy { $0.countsAgainst == nil })

        finish.answer = TrustingVerifier.good
        finish.attestation = Attestation(
            verdict: .basic, format: "app-attest", profiles: [.appAttest])
        // Nor may a key bring in one that may do more than itself.
        let escalated = try finish.store()
        #expect(try await finish.finish(escalated).refusal == .notAuthorized)
        #expect(escalated.now.spent.map(\.fault) == [.authorization(.voucherNotAllowed)])
        finish.voucherProfiles = [.appAttest]
        let credential = try #require(try await finish.finish(try finish.store()).credential)
        #expect(credential.assurance == .appAttestBound && credential.signatureFormat == .der)
        // One kind of action that needs nothing is enough.
        finish.attestation = .absent
        finish.policy = try Fixtures.policy(
            setting: "required_attestation", to: demands.setting("transfer", to: nil))
        #expect(try await finish.finish(try finish.store()).credential != nil)
    }

    @Test(arguments: [(98, false), (99, true)])
    func `with a wrong answer suspends the key that vouches at its hundredth in a row`(
        failures: Int, suspends: Bool
    ) async throws {
        var finish = FinishCase()
        finish.voucherFailures = failures
        finish.answer = [2]
        let store = try finish.store()
        #expect(try await finish.finish(store).refusal == .authenticationFailed)
        #expect(store.now.spent.map(\.suspends) == [suspends ? FinishCase.open : nil])
    }

    @Test(arguments: [
        ("authorization_missing", EnrolmentAuthorization.none),
        ("sca_token_invalid", .scaToken("no token")),
    ])
    func `with nobody who vouches`(code: String, authorization: EnrolmentAuthorization)
        async throws
    {
        var finish = FinishCase()
        finish.authorization = authorization
        let store = try finish.store()
        #expect(try await finish.finish(store).refusal == .notAuthorized)
        #expect(store.now.spent.map(\.fault.code) == [code])
    }

    @Test func `with a question that is not live`() async throws {
        for (isThere, isSpent) in [(false, false), (true, true)] {
            var finish = FinishCase()
            finish.authorizationIsThere = isThere
            finish.authorizationIsSpent = isSpent
            // Not even a wrong answer is an attempt then.
            finish.answer = [2]
            let store = try finish.store()
            #expect(try await finish.finish(store).refusal == .notAuthorized)
            #expect(store.now.spent.map(\.countsAgainst?.id) == [nil])
        }
    }

    @Test(arguments: [
        (EnrolmentContext.Possession.none, FirstEnrolmentRule.mayBeUnauthorized, true),
        (.none, .needsAuthorization, false), (.former, .mayBeUnauthorized, false),
        (.active, .mayBeUnauthorized, false),
    ])
    func `without anybody only for a first key under the flag`(
        possession: EnrolmentContext.Possession, rule: FirstEnrolmentRule, isTaken: Bool
    ) async throws {
        var finish = FinishCase()
        finish.authorization = EnrolmentAuthorization.none
        finish.possession = possession
        finish.firstEnrolment = rule
        #expect((try await finish.finish(try finish.store()).credential != nil) == isTaken)
    }
}

@Suite struct `Failed enrolments of a customer` {
    @Test func `count only when a live question was answered wrongly`() async throws {
        var finish = FinishCase()
        finish.answer = [2]
        let wrong = try finish.store()
        _ = try await finish.finish(wrong)
        #expect(wrong.now.spent.map(\.countsAgainst?.id) == [FinishCase.challengeID])
        finish.answer = TrustingVerifier.good
        finish.voucherIsActive = false
        let revoked = try finish.store()
        _ = try await finish.finish(revoked)
        #expect(revoked.now.spent.map(\.fault) == [.assertion(.credentialUnknown)])
        #expect(revoked.now.spent.map(\.countsAgainst?.id) == [FinishCase.challengeID])

        finish = FinishCase()
        finish.signature = [2]
        let possession = try finish.store()
        _ = try await finish.finish(possession)
        #expect(possession.now.spent.map(\.fault) == [.possession(.signatureInvalid)])
        #expect(possession.now.spent.map(\.countsAgainst?.id) == [nil])
    }

    @Test(arguments: [(3, false), (4, true)])
    func `lock with the fifth`(before: Int, locks: Bool) async throws {
        var finish = FinishCase()
        finish.failures = before
        finish.answer = [2]
        let store = try finish.store()
        _ = try await finish.finish(store)
        #expect(
            store.now.spent.map(\.locksUntil) == [locks ? Fixtures.at + Seconds(1800) : nil])
    }

    @Test func `never lock by what a stranger can send`() async throws {
        var finish = FinishCase()
        finish.failures = 4
        for authorization in [EnrolmentAuthorization.none, .scaToken("forged")] {
            finish.authorization = authorization
            let store = try finish.store()
            _ = try await finish.finish(store)
            #expect(store.now.spent.map(\.locksUntil) == [nil])
        }
    }
}

@Suite struct `A commit of an enrolment` {
    @Test func `that lost a race is decided again`() async throws {
        let store = try FinishCase().store {
            $0.enrolments = [.success(.lostRace), .success(.lostRace), .success(.enrolled)]
        }
        #expect(try await FinishCase().finish(store).credential != nil)
        #expect(store.now.loads == 3)
    }

    @Test func `that always loses is given up`() async throws {
        let store = try FinishCase().store { $0.enrolments = [.success(.lostRace)] }
        await #expect(throws: StoreFailure.unavailable) {
            try await FinishCase().finish(store)
        }
        #expect(store.now.loads == 100)
    }

    @Test(arguments: [
        (EnrolResult.tokenSpent, EnrolmentRefusal.notAuthorized),
        (.credentialExists, .credentialExists),
    ])
    func `that finds token or key taken spends the enrolment`(
        result: EnrolResult, refusal: EnrolmentRefusal
    ) async throws {
        let store = try FinishCase().store {
            $0.enrolments = [.success(result)]
            $0.spendings = [.success(false), .success(true)]
        }
        #expect(try await FinishCase().finish(store).refusal == refusal)
        #expect(store.now.enrolled.count == 1)
        #expect(store.now.spent.map(\.fault.refusal) == [refusal, refusal])
        #expect(store.now.spent.allSatisfy { $0.countsAgainst == nil })
    }

    @Test func `whose answer was lost is looked for`() async throws {
        let written = try FinishCase().store {
            $0.enrolments = [.failure(.outcomeUnknown)]
            $0.isWritten = true
        }
        let credential = try await FinishCase().finish(written).credential
        #expect(credential?.id == written.now.enrolled.first?.recorded.id)
        #expect(written.now.barrierCount == 1 && written.now.enrolled.count == 1)

        let missing = try FinishCase().store {
            $0.enrolments = [.failure(.outcomeUnknown), .success(.enrolled)]
        }
        #expect(try await FinishCase().finish(missing).credential != nil)
        #expect(missing.now.enrolled.count == 2)
    }

    @Test func `whose answer cannot be found is told as unknown`() async throws {
        let store = try FinishCase().store {
            $0.enrolments = [.failure(.outcomeUnknown)]
            $0.barriers = [.failure(.unavailable)]
        }
        await #expect(throws: StoreFailure.outcomeUnknown) {
            try await FinishCase().finish(store)
        }
    }
}
