package import Countersign
import Evidence

/// Keeps the keys of people in Postgres.
///
/// Every write is one call of a function in `sql/migrations/V0014_people_and_acts.sql`, which is one
/// transaction; its evidence is of the service itself. Whose key is admitted at once is settled in
/// `V0019_one_founding.sql`.
package struct PostgresPersonKeyStore: PersonKeyStore {
    private let database: Database
    private let service: ServiceSubject

    /// - Parameters:
    ///   - database: As the role `countersign_service`.
    ///   - service: Seals the evidence.
    package init(database: Database, service: ServiceSubject) {
        self.database = database
        self.service = service
    }

    package func load(
        _ person: ID<Client>, registration: ID<PersonKeyRegistration>?
    ) async throws(StoreFailure) -> PersonKeyContext? {
        try await database.run { connection throws(PostgresError) in
            guard
                let row = try connection.execute(.loadPerson, [.id(person), .id(registration)])
                    .single()
            else { return nil }
            let found = try Person(row, id: "id")
            return PersonKeyContext(
                at: try row["now"], person: found, userHandle: try row["user_handle"],
                isFounding: try row["is_founding"],
                keys: try connection.personKeys(of: found.role),
                registration: try OpenedPersonKeyRegistration(row))
        }
    }

    package func begin(
        _ registration: OpenedPersonKeyRegistration, userHandle: Bytes, openMax: Int,
        on context: PersonKeyContext
    ) async throws(StoreFailure) -> PersonKeyBeginning {
        let status = try await database.status(
            .beginPersonKey,
            [
                .id(context.person.id), .bytes(userHandle), .int(openMax), .id(registration.id),
                .text(registration.label), .bytes(registration.message),
                .instant(registration.createdAt), .instant(registration.expiresAt),
            ])
        switch status {
        case "begun": return .begun
        case "too_many_open": return .tooManyOpen
        case "lost_race": return .lostRace
        default: throw .internalFailure(code: "status")
        }
    }

    package func register(
        _ key: NewPersonKey, on context: PersonKeyContext
    ) async throws(StoreFailure) -> PersonKeyWriting {
        guard let registration = context.registration else {
            throw .internalFailure(code: "registration")
        }
        let evidence = try await service.seal([
            PersonEvidence.registered(key, by: context.person, in: registration)
        ])
        let status = try await database.status(
            .registerPersonKey,
            [
                .id(context.person.id), .id(registration.id), .bytes(registration.message),
                .json(key.columns(at: context.at).encoded), .json(evidence),
            ])
        switch status {
        case "registered": return .registered
        case "key_exists": return .keyExists
        case "lost_race": return .lostRace
        default: throw .internalFailure(code: "status")
        }
    }

    package func spend(
        _ command: RegisterPersonKeyCommand, because code: String, on context: PersonKeyContext
    ) async throws(StoreFailure) -> Bool {
        guard let registration = context.registration else {
            throw .internalFailure(code: "registration")
        }
        let evidence = try await service.seal([
            PersonEvidence.failed(
                command, by: context.person, in: registration, because: code)
        ])
        return try await database.succeeded(
            "spent", .spendPersonKeyRegistration,
            [.id(context.person.id), .id(registration.id), .json(evidence)])
    }

    package func keys(of role: PersonRole) async throws(StoreFailure) -> [RecordedPersonKey] {
        try await database.run { connection throws(PostgresError) in
            try connection.personKeys(of: role)
        }
    }

    package func revoke(
        _ key: RecordedPersonKey, at: Instant
    ) async throws(StoreFailure) -> Bool {
        let evidence = try await service.seal([
            PersonEvidence.revoked(
                key.id, of: key.person, by: key.person.id, reason: "by the person")
        ])
        return try await database.succeeded(
            "revoked", .revokePersonKey,
            [.id(key.id), .id(key.person.id), .instant(at), .json(evidence)])
    }

    package func barrier() async throws(StoreFailure) { try await database.barrier() }
}

extension Connection {
    /// All keys of the people of a role, oldest first.
    borrowing func personKeys(of role: PersonRole) throws(PostgresError) -> [RecordedPersonKey] {
        try execute(.listPersonKeys, [.text(role.rawValue)])
            .map { row throws(PostgresError) in try RecordedPersonKey(row) }
    }
}

extension NewPersonKey {
    /// The new row's columns by name; what the registration says is taken from its own row.
    fileprivate func columns(at: Instant) -> JSON {
        let attestation: JSON = [
            "verdict": .string(registration.attestation.verdict.rawValue),
            "format": .optional(registration.attestation.format),
        ]
        return [
            "id": .string(id.text), "status": .string(status.rawValue),
            "public_key": .bytea(registration.publicKey),
            "passkey_id": .bytea(passkey.credentialID),
            "sign_count": .integer(Int64(passkey.signCount)),
            "backup_eligible": .bool(passkey.backupEligible),
            "backup_state": .bool(passkey.backupState),
            "transports": .array(passkey.transports.map { .string($0) }),
            "attestation": .string(String(decoding: attestation.encoded, as: UTF8.self)),
            "registered_at": .string(at.text),
        ]
    }
}
