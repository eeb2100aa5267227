package import Countersign
package import Evidence

/// What the operator does from the command line: clients, existing payees, first evidence.
package struct Administration: Sendable {
    let database: Database
    let sealer: EvidenceSealer
    let subjects: SubjectMaker
    let service: ServiceSubject
    let keyEncryption: KeyEncryptionKey

    /// - Parameters:
    ///   - database: As the role `countersign_operator`, or an administrator.
    ///   - sealer: Makes the evidence of every act.
    ///   - keyEncryption: Wraps the data keys of customers that are not known yet.
    ///   - entropy: Makes IDs and keys.
    package init(
        database: Database, sealer: EvidenceSealer, keyEncryption: KeyEncryptionKey,
        entropy: EntropySource
    ) {
        self.database = database
        self.sealer = sealer
        self.keyEncryption = keyEncryption
        subjects = SubjectMaker(keyEncryption: keyEncryption, entropy: entropy)
        service = ServiceSubject(
            database: database, sealer: sealer, keyEncryption: keyEncryption, entropy: entropy)
    }

    /// Adds a client with its first key, or bound to a certificate.
    ///
    /// - Parameters:
    ///   - id: A fresh ID.
    ///   - name: 1 to 64 of `[A-Za-z0-9._-]`.
    ///   - role: What it may do.
    ///   - keyDigest: SHA-256 of its key; `nil` when it only uses a certificate.
    ///   - subjectAlternativeName: Of its certificate, such as `DNS:core.bank.example`.
    /// - Returns: `false` when the name, or the certificate's, is taken.
    /// - Throws: ``StoreFailure``.
    package func addClient(
        _ id: ID<Client>, name: String, role: AuthenticatedClient.Role, keyDigest: Digest?,
        subjectAlternativeName: String?
    ) async throws(StoreFailure) -> Bool {
        let evidence = try await service.seal([
            ServiceEvidence.added(client: id, name: name, role: role)
        ])
        let status = try await database.status(
            .addClient,
            [
                .id(id), .text(name), .text(role.rawValue), .digest(keyDigest),
                .text(subjectAlternativeName), .json(evidence),
            ])
        return status == "added"
    }

    /// Revokes a key of a person, for somebody who cannot do it any more.
    ///
    /// - Returns: `false` when there is no such key, or it is revoked already.
    /// - Throws: ``StoreFailure``.
    package func revokePersonKey(
        _ key: ID<PersonKey>, reason: DisplayText
    ) async throws(StoreFailure) -> Bool {
        // A signature of that key may be quicker; then the end is told anew, after it.
        for _ in 0..<Self.racesMax {
            let found = try await database.query(.findPersonKey, [.id(key)]) {
                rows throws(PostgresError) -> (Person, Instant)? in
                guard let row = try rows.single(), try row["status"] != "revoked" else {
                    return nil
                }
                return (try Person(row), try row["now"])
            }
            guard let (person, at) = found else { return false }
            let evidence = try await service.seal([
                PersonEvidence.revoked(key, of: person, by: nil, reason: reason.text)
            ])
            let isRevoked = try await database.succeeded(
                "revoked", .revokePersonKey,
                [.id(key), .null, .instant(at), .json(evidence)])
            if isRevoked { return true }
        }
        throw .unavailable
    }

    /// What came of opening the founding of a role again.
    package enum Reopening: Hashable, Sendable {
        /// The next keys are admitted at once, up to two people and up to this time.
        case reopened(until: Instant)
        /// Two people of the role have active keys: they admit.
        case enoughPeople
    }

    /// A founding that was opened again is open for so long; the database has the same number.
    private static let foundingLifetime = Seconds(86_400)

    /// Lets the next keys of a role be admitted by nobody, when fewer than two people are left who could.
    ///
    /// - Throws: ``StoreFailure``.
    package func reopenFounding(
        of role: PersonRole, reason: DisplayText
    ) async throws(StoreFailure) -> Reopening {
        for _ in 0..<Self.racesMax {
            let (people, at) = try await peopleWithKeys(of: role)
            let closesAt = at + Self.foundingLifetime
            let evidence = try await service.seal([
                PersonEvidence.reopened(
                    foundingOf: role, people: people, until: closesAt, reason: reason.text)
            ])
            let status = try await database.status(
                .reopenFounding,
                [.text(role.rawValue), .idArray(people), .instant(at), .json(evidence)])
            switch status {
            case "reopened": return .reopened(until: closesAt)
            case "enough_people": return .enoughPeople
            case "lost_race": continue
            default: throw .internalFailure(code: "status")
            }
        }
        throw .unavailable
    }

    private func peopleWithKeys(
        of role: PersonRole
    ) async throws(StoreFailure) -> (people: [ID<Client>], at: Instant) {
        try await database.query(.peopleWithKeys, [.text(role.rawValue)]) {
            rows throws(PostgresError) in
            var people: [ID<Client>] = []
            var at: Instant?
            for row in rows {
                at = try row["now"]
                if let client: ID<Client> = try row["client_id"] { people.append(client) }
            }
            guard let at else { throw .malformedColumn("now") }
            return (people, at)
        }
    }

    static let racesMax = 100
}
