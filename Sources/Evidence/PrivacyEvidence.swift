package import Countersign

/// What is recorded of erasures and of the legal holds against them.
package enum PrivacyEvidence {
    /// A customer whose personal data is gone. Nothing here says who that was: the leaf's outcome and the body
    /// name the random subject, whose mapping is erased with it.
    package static func erased(
        _ subject: ID<Subject>, by client: ID<Client>, records: Int64,
        serviceRecords: [ID<Countersign.Evidence>], retentionDays: Int
    ) -> EvidenceDraft {
        EvidenceDraft(
            .subjectErased, outcome: subject.text,
            body: [
                "subject_id": .string(subject.text), "client_id": .string(client.text),
                "records": .integer(records),
                "service_records": .array(serviceRecords.map { .string($0.text) }),
                "retention_days": .integer(Int64(retentionDays)),
            ])
    }

    /// A legal hold, and why; the reason goes with the customer.
    package static func holdSet(_ command: LegalHoldCommand) -> EvidenceDraft {
        draft(.subjectHoldSet, "set", command)
    }

    /// The end of it, and why.
    package static func holdLifted(_ command: LegalHoldCommand) -> EvidenceDraft {
        draft(.subjectHoldLifted, "lifted", command)
    }

    private static func draft(
        _ kind: EvidenceKind, _ outcome: String, _ command: LegalHoldCommand
    ) -> EvidenceDraft {
        EvidenceDraft(
            kind, outcome: outcome,
            body: [
                "client_id": .string(command.client.text), "reason": .string(command.reason.text),
            ])
    }
}
