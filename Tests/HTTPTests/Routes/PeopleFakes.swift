import Countersign
import HTTP

extension Fixture {
    static let person = Person(id: client(.risk).id, name: "anna", role: .risk)

    static let personKey = RecordedPersonKey(
        id: id(301), person: person, label: "laptop", status: .active,
        stored: StoredPasskey(
            credentialID: [1, 2, 3], key: [4, 5, 6], signCount: 0, backupEligible: false,
            userHandle: [7]),
        transports: ["usb"], backupState: false, registeredAt: now, evidenceID: id(302))

    static let act = RecordedAct(
        id: id(303), kind: .publishPolicy, role: .risk, document: Bytes("{}".utf8), content: [:],
        digest: sha256([1]), state: .open, createdBy: person, createdAt: now,
        expiresAt: now + RecordedAct.lifetime,
        signatures: [
            RecordedActSignature(
                person: person, key: personKey.id, challenge: id(304), stage: .propose,
                signature: [9], signedAt: now, counts: true, evidenceID: id(305))
        ])

    static let policy = PublishedPolicy(
        version: 3, digest: sha256([2]), document: Bytes("{\"a\":1}".utf8),
        content: ["a": .integer(1)], activeFrom: now, publishedAt: now, isActive: true)
}

/// People, their keys, acts and policies that answer what a test says.
struct FakePeople: PersonKeyService, ActService, PolicyService {
    var options = PersonKeyOptionsOutcome.begun(["registration_id": "r"])
    var registration = PersonKeyOutcome.registered(Fixture.personKey)
    var question = ActQuestionOutcome.asked(Fixture.act, challenge: ["id": "c"])
    var outcome = ActOutcome.recorded(Fixture.act)
    var failure: StoreFailure?

    let people = Recorder<ID<Client>>()
    let proposals = Recorder<ProposeActCommand>()
    let signatures = Recorder<SignActCommand>()
    let registrations = Recorder<RegisterPersonKeyCommand>()
    let queries = Recorder<ActQuery>()
    let roles = Recorder<PersonRole>()

    private func fail() throws(StoreFailure) {
        if let failure { throw failure }
    }

    func beginRegistration(
        of person: ID<Client>, label: DisplayText
    ) async throws(StoreFailure) -> PersonKeyOptionsOutcome {
        people.record(person)
        try fail()
        return options
    }

    func register(
        _ command: RegisterPersonKeyCommand
    ) async throws(StoreFailure) -> PersonKeyOutcome {
        registrations.record(command)
        try fail()
        return registration
    }

    func keys(of role: PersonRole) async throws(StoreFailure) -> [RecordedPersonKey] {
        roles.record(role)
        try fail()
        return [Fixture.personKey]
    }

    func revoke(
        _ key: ID<PersonKey>, of owner: ID<Client>
    ) async throws(StoreFailure) -> RecordedPersonKey? {
        people.record(owner)
        try fail()
        return key == Fixture.personKey.id ? Fixture.personKey : nil
    }

    func propose(
        _ command: ProposeActCommand
    ) async throws(StoreFailure) -> ActQuestionOutcome {
        proposals.record(command)
        try fail()
        return question
    }

    func challenge(
        _ act: ID<Act>, for person: ID<Client>
    ) async throws(StoreFailure) -> ActQuestionOutcome {
        people.record(person)
        try fail()
        return question
    }

    func sign(_ command: SignActCommand) async throws(StoreFailure) -> ActOutcome {
        signatures.record(command)
        try fail()
        return outcome
    }

    func withdraw(
        _ act: ID<Act>, by person: ID<Client>, reason: DisplayText
    ) async throws(StoreFailure) -> ActOutcome {
        people.record(person)
        try fail()
        return outcome
    }

    func act(_ id: ID<Act>, of role: PersonRole) async throws(StoreFailure) -> RecordedAct? {
        roles.record(role)
        try fail()
        return id == Fixture.act.id ? Fixture.act : nil
    }

    func acts(_ query: ActQuery) async throws(StoreFailure) -> [RecordedAct] {
        queries.record(query)
        try fail()
        return Array(repeating: Fixture.act, count: query.limit)
    }

    func policies() async throws(StoreFailure) -> [PublishedPolicy] {
        try fail()
        return [Fixture.policy]
    }

    func policy(version: Int) async throws(StoreFailure) -> PublishedPolicy? {
        try fail()
        return version == 3 ? Fixture.policy : nil
    }

    func activePolicy() async throws(StoreFailure) -> PublishedPolicy? {
        try fail()
        return Fixture.policy
    }
}
