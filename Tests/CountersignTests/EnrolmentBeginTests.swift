import Countersign
import Crypto
import TestSupport
import Testing

@Suite struct `Beginning an enrolment` {
    private func context(
        lockedUntil: Instant? = nil, passkeys: [ListedPasskey] = [], userHandle: Bytes? = nil,
        at: Instant = Fixtures.at, policy: Policy? = nil
    ) throws -> OpeningContext {
        OpeningContext(
            at: at, policy: try policy ?? Fixtures.policy(),
            standing: CustomerStanding(failures: 0, lockedUntil: lockedUntil),
            customer: CustomerVersion(subject: Fixtures.id(5), version: 1, wrappedKey: []),
            passkeys: passkeys, userHandle: userHandle)
    }

    private func begin(
        _ kind: CredentialKind, _ context: OpeningContext, result: OpeningResult = .opened
    ) async throws -> (EnrolmentOutcome, RecordedEnrolment?) {
        let store = try FinishCase().store {
            $0.opening = context
            $0.openings = [result]
        }
        let outcome = try await FinishCase().service(store).beginEnrolment(
            BeginEnrolmentCommand(
                client: FinishCase.client, customerID: try CustomerID("c-1001"), kind: kind,
                label: try DisplayText("Phone", .credentialLabel)))
        return (outcome, store.now.opened.first)
    }

    @Test func `of a device key offers a message that expires in whole seconds`() async throws {
        let at = Instant(milliseconds: Fixtures.at.milliseconds + 999)
        let (outcome, stored) = try await begin(.deviceKey, try context(at: at))
        guard case .begun(let offer) = outcome else {
            Issue.record("\(outcome)")
            return
        }
        let message = try #require(EnrolmentMessage(decoding: offer.message))
        #expect(message.audience == Fixtures.audience && message.customerID.text == "c-1001")
        #expect(message.enrolmentID == offer.id && message.expiresAt == offer.expiresAt)
        #expect(offer.expiresAt == Fixtures.at + Seconds(300))
        #expect(offer.webauthn == nil && stored?.userHandle == nil)
        #expect(stored?.message == offer.message && stored?.isSpent == false)
    }

    @Test func `of a first passkey offers a random user handle and the digest of the message`()
        async throws
    {
        let (outcome, stored) = try await begin(.passkey, try context())
        let (_, other) = try await begin(.passkey, try context())
        guard case .begun(let offer) = outcome else {
            Issue.record("\(outcome)")
            return
        }
        let handle = try #require(stored?.userHandle)
        #expect(handle.count == 64 && handle != other?.userHandle)
        #expect(offer.webauthn?["challenge"]?.text == sha256(offer.message).hex)
        #expect(offer.webauthn?["user"]?.text == Hex.encode(handle))
        #expect(offer.webauthn?["exclude"] == [])
    }

    @Test func `of another passkey keeps the user handle and excludes what is there`()
        async throws
    {
        let context = try context(passkeys: [.fixture([1]), .fixture([2])], userHandle: [7, 7])
        let (outcome, stored) = try await begin(.passkey, context)
        guard case .begun(let offer) = outcome else {
            Issue.record("\(outcome)")
            return
        }
        #expect(stored?.userHandle == [7, 7])
        #expect(offer.webauthn?["user"] == "0707")
        #expect(offer.webauthn?["exclude"] == ["01", "02"])
        #expect(offer.webauthn?["attestation"] == .bool(false))
    }

    @Test func `of a passkey asks for an attestation when the policy needs one anywhere`()
        async throws
    {
        let policy = try Fixtures.policy(
            setting: "required_attestation", to: ["contact_change": ["fido-trusted"]])
        guard case .begun(let offer) = try await begin(.passkey, try context(policy: policy)).0
        else {
            Issue.record("refused")
            return
        }
        #expect(offer.webauthn?["attestation"] == .bool(true))
    }

    @Test func `of a locked customer, or of one with many open, is refused`() async throws {
        let until = Fixtures.at + Seconds(1)
        guard
            case .refused(let locked) = try await begin(
                .deviceKey, try context(lockedUntil: until)
            ).0,
            case .refused(let many) = try await begin(
                .deviceKey, try context(lockedUntil: Fixtures.at), result: .tooManyOpen
            ).0
        else {
            Issue.record("begun")
            return
        }
        #expect(locked == .customerLocked(until: until))
        #expect(many == .tooManyOpen(retryAfter: Seconds(300)))
    }
}

@Suite struct `Asking who vouches for a key` {
    private func ask(
        _ finish: FinishCase, questions: [Bool] = [true]
    ) async throws -> AuthorizationOutcome {
        let store = try finish.store { $0.questions = questions }
        return try await finish.service(store).beginAuthorization(
            customer: try CustomerID("c-1001"), enrolment: FinishCase.enrolmentID,
            keyDigest: sha256(FinishCase.key))
    }

    @Test func `names the key, and lives no longer than the enrolment`() async throws {
        var finish = FinishCase()
        finish.expiresAt = Fixtures.at + Seconds(30)
        guard case .challenged(let challenge) = try await ask(finish, questions: [false, true])
        else {
            Issue.record("refused")
            return
        }
        let message = try #require(AuthorizationMessage(decoding: challenge.message))
        #expect(message.keyDigest == sha256(FinishCase.key))
        #expect(message.challengeID == challenge.id)
        #expect(message.enrolmentID == FinishCase.enrolmentID)
        #expect(challenge.expiresAt == Fixtures.at + Seconds(30))
        #expect(message.expiresAt == challenge.expiresAt)
        #expect(challenge.webauthn == nil)
    }

    @Test func `needs an open enrolment and somebody who can vouch`() async throws {
        for (change, expected) in [
            ({ $0.isSpent = true }, .consumed),
            ({ $0.at = $0.expiresAt }, .expired),
            (
                { $0.lockedUntil = Fixtures.at + Seconds(1) },
                .customerLocked(until: Fixtures.at + Seconds(1))
            ),
            ({ $0.possession = .former }, .notAuthorized),
        ] as [((inout FinishCase) -> Void, EnrolmentRefusal)] {
            var finish = FinishCase()
            change(&finish)
            guard case .refused(let refusal) = try await ask(finish) else {
                Issue.record("asked")
                continue
            }
            #expect(refusal == expected)
        }
    }
}

@Suite struct `When a new credential is usable` {
    @Test func `is the end of its longest cooling-off, told until it has come`() throws {
        let rules = try Fixtures.policy().rules
        let end = Fixtures.at + Seconds(10_800)
        let before = Instant(milliseconds: end.milliseconds - 1)
        #expect(rules.usableAt(createdAt: Fixtures.at, now: before) == end)
        #expect(rules.usableAt(createdAt: Fixtures.at, now: end) == nil)
    }
}

@Suite struct `Revoking a credential` {
    private func context(isRevoked: Bool = false) throws -> RevocationContext {
        let credential = RecordedCredential(
            id: Fixtures.id(3), customerID: try CustomerID("c-1001"), kind: .deviceKey,
            status: .active, label: "", createdAt: Fixtures.at, usableAt: nil, revokedAt: nil,
            attestation: .init(verdict: .absent, format: nil), signatureFormat: .der,
            backupEligible: false, backupState: false)
        return RevocationContext(
            at: Fixtures.at + Seconds(1),
            credential: isRevoked ? credential.revoked(at: Fixtures.at) : credential,
            customer: CustomerVersion(subject: Fixtures.id(5), version: 1, wrappedKey: []),
            head: .empty, openActions: [], openQuestions: .none)
    }

    private func revoke(_ store: ScriptedCredentialStore) async throws -> RecordedCredential? {
        try await FinishCase().service(store).revoke(
            RevokeCredentialCommand(
                client: FinishCase.client, credential: Fixtures.id(3),
                reason: try DisplayText("lost", .reason)))
    }

    @Test func `again tells the same, after it is durable`() async throws {
        let revoked = try context(isRevoked: true)
        let store = try FinishCase().store { $0.revocation = revoked }
        #expect(try await revoke(store)?.revokedAt == Fixtures.at)
        #expect(store.now.barrierCount == 1)
        let unsure = try FinishCase().store {
            $0.revocation = revoked
            $0.barriers = [.failure(.unavailable)]
        }
        await #expect(throws: StoreFailure.unavailable) { try await revoke(unsure) }
    }

    @Test func `that lost a race, or its answer, is done again`() async throws {
        let active = try context()
        let store = try FinishCase().store {
            $0.revocation = active
            $0.revocations = [.success(false), .failure(.outcomeUnknown), .success(true)]
        }
        #expect(try await revoke(store)?.status == .revoked)
        #expect(store.now.loads == 3 && store.now.barrierCount == 1)
    }

    @Test func `that is not there does nothing`() async throws {
        let revoked = try await revoke(try FinishCase().store())
        #expect(revoked?.id == nil)
    }
}
