package import Countersign

/// What is recorded of the service itself and its operator.
package enum ServiceEvidence {
    /// A policy that nobody signed: it came with a migration, or into a database for development. Its
    /// document is told byte for byte.
    package static func published(
        version: Int, digest: Digest, document: Bytes, activeFrom: Instant
    ) -> EvidenceDraft {
        EvidenceDraft(
            .policyPublished, policy: digest, outcome: "published",
            body: [
                "version": .integer(Int64(version)),
                "active_from": .string(activeFrom.text),
                "document": .string(Base64.encodeURL(document)),
            ])
    }

    /// A key that signs checkpoints of the log from now on, as a verifier key of C2SP signed-note. The leaf names
    /// it: whoever has the leaves alone knows whose signatures to expect.
    package static func logKey(_ verifierKey: String) -> EvidenceDraft {
        EvidenceDraft(
            .logKey, outcome: verifierKey, body: ["verifier_key": .string(verifierKey)])
    }

    /// A key that signs promises of records from now on; the leaf names it, as with a key of the log.
    package static func promiseKey(_ verifierKey: String) -> EvidenceDraft {
        EvidenceDraft(
            .promiseKey, outcome: verifierKey, body: ["verifier_key": .string(verifierKey)])
    }

    /// Whether this installation is for development: only then anything is believed that nobody signed.
    package static func stated(isDevelopment: Bool) -> EvidenceDraft {
        let installation: RecordedInstallation = isDevelopment ? .development : .production
        return EvidenceDraft(
            .installationStated, outcome: installation.rawValue,
            body: ["installation": .string(installation.rawValue)])
    }

    /// A client that may call from now on.
    package static func added(
        client: ID<Client>, name: String, role: AuthenticatedClient.Role
    ) -> EvidenceDraft {
        EvidenceDraft(
            .clientAdded, outcome: "added",
            body: [
                "client_id": .string(client.text), "name": .string(name),
                "role": .string(role.rawValue),
            ])
    }

    /// An existing payee of the bank, brought in by the operator under an act of two people; in
    /// development there may be none.
    package static func imported(payee: ID<Payee>, _ imported: ImportedPayee) -> EvidenceDraft {
        EvidenceDraft(
            .payeeImported, outcome: "imported",
            body: .object(
                [
                    .init("payee_id", .string(payee.text)),
                    .init("customer_id", .string(imported.customer.text)),
                    .init("payee", imported.identity.json),
                    .init("alias", .string(imported.alias.text)),
                ]
                    + (imported.signed.map { signed in
                        [
                            .init("act_id", .string(signed.act.text)),
                            .init("row_digest", .string(signed.digest.hex)),
                            .init("salt", .string(signed.salt)),
                        ]
                    } ?? [])))
    }

    /// A payee that the operator brings in, and who has signed that.
    package struct ImportedPayee: Hashable, Sendable {
        package let customer: CustomerID
        package let identity: PayeeIdentity
        /// Empty when there is none.
        package let alias: DisplayText
        let signed: SignedRow?

        /// A payee that nobody signed, in development.
        package init(customer: CustomerID, identity: PayeeIdentity, alias: DisplayText) {
            self.customer = customer
            self.identity = identity
            self.alias = alias
            signed = nil
        }

        /// A row that two people have signed.
        ///
        /// - Parameters:
        ///   - row: The row, with its salt: whoever has the record can make the digest again.
        ///   - act: The act whose document holds the digest.
        ///   - digest: Of the row.
        package init(_ row: PayeeRow, under act: ID<Act>, digest: Digest) {
            customer = row.customer
            identity = row.identity
            alias = row.alias
            signed = SignedRow(act: act, digest: digest, salt: row.salt)
        }

        /// What an act says of a row, and what its digest was made with.
        struct SignedRow: Hashable, Sendable {
            let act: ID<Act>
            let digest: Digest
            let salt: String
        }
    }

    /// A look at evidence: who, and which filter.
    package static func read(by client: ID<Client>, filter: JSON, count: Int) -> EvidenceDraft {
        EvidenceDraft(
            .evidenceRead, outcome: "read",
            body: [
                "client_id": .string(client.text), "filter": filter,
                "count": .integer(Int64(count)),
            ])
    }

    /// An export that begins, of everything that matches, or has ended after so many records.
    package static func exported(
        to client: ID<Client>, filter: JSON, format: String, count: Int?
    ) -> EvidenceDraft {
        EvidenceDraft(
            .evidenceRead, outcome: count == nil ? "export_begun" : "export_ended",
            body: [
                "client_id": .string(client.text), "filter": filter, "export": .string(format),
                "count": count.map { .integer(Int64($0)) } ?? .null,
            ])
    }

    /// A look at evidence by a command, which knows no client.
    package static func read(by command: ReadingCommand, filter: JSON) -> EvidenceDraft {
        EvidenceDraft(
            .evidenceRead, outcome: command == .reconcile ? "reconciled" : "read",
            body: [
                "client_id": .null, "command": .string(command.rawValue), "filter": filter,
                "count": .null,
            ])
    }

    /// The commands that show evidence.
    package enum ReadingCommand: String, Sendable {
        case list = "evidence list"
        case show = "evidence show"
        case reconcile = "evidence reconcile"
    }
}
