import Countersign
import TestSupport
import Testing

@Suite struct `Verifying a signed request` {
    private let world: RequestWorld

    init() throws { world = try RequestWorld() }

    private func service(
        _ store: ScriptedRequestStore, general: RequestMode = .enforce
    ) -> VerifyDeviceRequest<ScriptedRequestStore, RequestWorld.Verifier> {
        VerifyDeviceRequest(
            store: store, verifier: RequestWorld.Verifier(),
            entropy: EntropySource { Bytes(repeating: 7, count: $0) }, general: general)
    }

    @Test func `a good one is verified, and its customer told`() async throws {
        let store = ScriptedRequestStore([world.context()])
        let answer = try await service(store).verify(world.signed(world.draft))
        #expect(answer.verdict == .verified(world.credential, of: world.customer))
        #expect(
            String(decoding: answer.json.encoded, as: UTF8.self)
                == """
                {"verdict":"verified","reason":null,"mode":"enforce","allow":true,\
                "credential_id":"\(world.credential.text)","customer_id":"c-1001",\
                "profile":"countersign-request/1","at":"2026-01-05T10:00:00Z"}
                """)
        #expect(await store.remembered.count == 1)
    }

    @Test func `a bad one is refused, spends no nonce, and its customer is not told`() async throws
    {
        let store = ScriptedRequestStore([world.context()])
        let answer = try await service(store, general: .logOnly).verify(world.draft.request([1]))
        #expect(answer.verdict == .refused(.signatureInvalid, named: world.credential))
        #expect(
            String(decoding: answer.json.encoded, as: UTF8.self)
                == """
                {"verdict":"refused","reason":"signature_invalid","mode":"log_only","allow":true,\
                "credential_id":"\(world.credential.text)","customer_id":null,\
                "profile":"countersign-request/1","at":"2026-01-05T10:00:00Z"}
                """)
        #expect(await store.remembered.isEmpty)
    }

    @Test func `one that lost the race for its nonce is a replay, and is recorded`() async throws {
        let used = world.context(claimed: world.claimed(earlier: world.earlier()))
        let store = ScriptedRequestStore([world.context(), used], remembers: [.success(false)])
        let answer = try await service(store).verify(world.signed(world.draft))
        #expect(answer.refusal == .nonceUsed)
        #expect(await store.replays == 1)
    }

    @Test func `one that lost the race to be recorded is a replay all the same`() async throws {
        let used = world.context(claimed: world.claimed(earlier: world.earlier()))
        let told = world.context(claimed: world.claimed(earlier: world.earlier(isRecorded: true)))
        let store = ScriptedRequestStore([used, told], records: [false])
        let answer = try await service(store).verify(world.signed(world.draft))
        #expect(answer.refusal == .nonceUsed)
        #expect(await store.replays == 1)
    }

    @Test func `one that lost to something else is recorded in the next round`() async throws {
        let used = world.context(claimed: world.claimed(earlier: world.earlier()))
        let store = ScriptedRequestStore([used], records: [false, true])
        let answer = try await service(store).verify(world.signed(world.draft))
        #expect(answer.refusal == .nonceUsed)
        #expect(await store.replays == 2)
    }

    /// The answer to the commit is lost; what is read behind the barrier says that it was done.
    @Test func `a lost answer is found again and is no replay`() async throws {
        let random = Bytes(repeating: 7, count: 10)
        let own = world.claimed(
            earlier: world.earlier(by: ID(at: Fixtures.at, random: random)))
        let store = ScriptedRequestStore(
            [world.context(), world.context(claimed: own)], remembers: [.failure(.outcomeUnknown)])
        let answer = try await service(store).verify(world.signed(world.draft))
        #expect(answer.refusal == nil)
        #expect(await store.barriers == 1)
        #expect(await store.replays == 0)
    }

    @Test func `when even the barrier is lost, nobody says that it was good`() async throws {
        let store = ScriptedRequestStore(
            [world.context()], remembers: [.failure(.outcomeUnknown)], barrier: .unavailable)
        await #expect(throws: StoreFailure.outcomeUnknown) {
            try await service(store).verify(world.signed(world.draft))
        }
    }

    @Test func `a race that is lost for ever is no verdict`() async throws {
        let store = ScriptedRequestStore(
            [world.context()], remembers: [Result](repeating: .success(false), count: 200))
        await #expect(throws: StoreFailure.unavailable) {
            try await service(store).verify(world.signed(world.draft))
        }
    }

    @Test func `looks up nothing that is not of its form`() async throws {
        let store = ScriptedRequestStore([world.context(claimed: nil)])
        let malformed = world.draft.with { $0.nonce = "x" }
        let answer = try await service(store).verify(world.signed(malformed))
        #expect(answer.refusal == .nonceMalformed)
        #expect(await store.lookups.map(\.nonce) == [nil])
        #expect(await store.lookups.map(\.credential) == [world.credential])
    }

    /// Else a thief could name one whose mode is loose beside the customer's.
    @Test func `looks up no credential when two are named`() async throws {
        let store = ScriptedRequestStore([world.context(claimed: nil)])
        var fields = world.signed(world.draft).fields
        fields.append(.deviceID, [(Fixtures.id(1) as ID<Credential>).text])
        let answer = try await service(store).verify(world.draft.request(fields))
        #expect(answer.verdict == .refused(.headerDuplicate, named: nil))
        #expect(await store.lookups.map(\.credential) == [nil])
    }
}

@Suite struct `Setting how a device key's requests are judged` {
    private let world: RequestWorld

    init() throws { world = try RequestWorld() }

    private func set(
        _ choice: RequestModeChoice, _ store: ScriptedRequestStore
    ) async throws -> RequestSigning? {
        let service = VerifyDeviceRequest(
            store: store, verifier: RequestWorld.Verifier(),
            entropy: EntropySource { Bytes(repeating: 7, count: $0) }, general: .enforce)
        return try await service.setRequestSigning(
            SetRequestSigningCommand(
                client: Fixtures.id(7), credential: world.credential, choice: choice))
    }

    @Test func `writes a change and answers what is read then`() async throws {
        let store = ScriptedRequestStore([
            world.context(), world.context(claimed: world.claimed(choice: .logOnly)),
        ])
        let signing = try #require(try await set(.logOnly, store))
        #expect(signing.choice == .logOnly && signing.effective == .logOnly)
        #expect(await store.settings == [.logOnly])
    }

    @Test func `writes nothing when nothing changes, and waits until that is durable`() async throws
    {
        let store = ScriptedRequestStore([world.context()])
        let signing = try #require(try await set(.inherited, store))
        #expect(signing.effective == .enforce)
        #expect(await store.settings.isEmpty)
        #expect(await store.barriers == 1)
    }

    @Test func `is possible for device keys only`() async throws {
        let passkey = world.context(claimed: world.claimed(kind: .passkey))
        #expect(try await set(.logOnly, ScriptedRequestStore([passkey])) == nil)
        let none = world.context(claimed: nil)
        #expect(try await set(.logOnly, ScriptedRequestStore([none])) == nil)
    }
}

/// Answers one load after another with what a test says; the last one again and again.
private actor ScriptedRequestStore: DeviceRequestStore {
    private var contexts: [DeviceRequestContext]
    private var remembers: [Result<Bool, StoreFailure>]
    private var records: [Bool]
    private let barrierFailure: StoreFailure?

    private(set) var lookups: [DeviceRequestLookup] = []
    private(set) var remembered: [RequestSignature] = []
    private(set) var replays = 0
    private(set) var settings: [RequestModeChoice] = []
    private(set) var barriers = 0

    init(
        _ contexts: [DeviceRequestContext], remembers: [Result<Bool, StoreFailure>] = [],
        records: [Bool] = [], barrier: StoreFailure? = nil
    ) {
        self.contexts = contexts
        self.remembers = remembers
        self.records = records
        barrierFailure = barrier
    }

    func load(_ lookup: DeviceRequestLookup) async throws(StoreFailure) -> DeviceRequestContext {
        lookups.append(lookup)
        return contexts.count > 1 ? contexts.removeFirst() : contexts[0]
    }

    func remember(
        _ signature: RequestSignature, as call: ID<DeviceRequest>
    ) async throws(StoreFailure) -> Bool {
        remembered.append(signature)
        return remembers.isEmpty ? true : try remembers.removeFirst().get()
    }

    func record(
        _ replay: ReplayedRequest, by claimed: ClaimedCredential, at: Instant
    ) async throws(StoreFailure) -> Bool {
        replays += 1
        return records.isEmpty ? true : records.removeFirst()
    }

    func set(
        _ command: SetRequestSigningCommand, on claimed: ClaimedCredential, at: Instant
    ) async throws(StoreFailure) -> Bool {
        settings.append(command.choice)
        return true
    }

    func barrier() async throws(StoreFailure) {
        barriers += 1
        if let barrierFailure { throw barrierFailure }
    }
}
