package import Countersign

/// What is recorded of the service itself and its operator.
package enum ServiceEvidence {
    /// A policy that came into force, with its document byte for byte.
    package static func published(version: Int, digest: Digest, document: Bytes) -> EvidenceDraft {
        EvidenceDraft(
            .policyPublished, policy: digest, outcome: "published",
            body: [
                "version": .integer(Int64(version)),
                "document": .string(Base64.encodeURL(document)),
            ])
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
    package static func imported(
        payee: ID<Payee>, _ identity: PayeeIdentity, under signed: SignedRow?
    ) -> EvidenceDraft {
        EvidenceDraft(
            .payeeImported, outcome: "imported",
            body: .object(
                [.init("payee_id", .string(payee.text)), .init("payee", identity.json)]
                    + (signed.map { signed in
                        [
                            .init("act_id", .string(signed.act.text)),
                            .init("row_digest", .string(signed.digest.hex)),
                        ]
                    } ?? [])))
    }

    /// A row of payees that two people have signed.
    package struct SignedRow: Hashable, Sendable {
        let act: ID<Act>
        let digest: Digest

        /// Takes the act, and the digest of the row that stands in its document.
        package init(act: ID<Act>, digest: Digest) {
            self.act = act
            self.digest = digest
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
}
