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

    /// An existing payee of the bank, brought in by the operator.
    package static func imported(payee: ID<Payee>, _ identity: PayeeIdentity) -> EvidenceDraft {
        EvidenceDraft(
            .payeeImported, outcome: "imported",
            body: ["payee_id": .string(payee.text), "payee": identity.json])
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
