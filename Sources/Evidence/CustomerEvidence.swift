package import Countersign

/// What is recorded of a customer's payees and recovery.
package enum CustomerEvidence {
    /// A payee that was taken away.
    package static func removed(
        _ command: RemovePayeeCommand, _ identity: PayeeIdentity
    ) -> EvidenceDraft {
        EvidenceDraft(
            .payeeRemoved, outcome: "removed",
            body: [
                "client_id": .string(command.client.text),
                "payee_id": .string(command.payee.text), "payee": identity.json,
            ])
    }

    /// A recovery: who asked, the whole token, and all that ended with it.
    package static func recovered(
        _ recovery: Recovery, on context: RecoveryContext
    ) -> [EvidenceDraft] {
        let credentials = context.credentials.map(\.id)
        let cancelled = recovery.cancelled.map(\.id)
        let body: [JSON.Member] = [
            .init("client_id", .string(recovery.command.client.text)),
            .init("authorization", claim(recovery.command)),
            .init("held_approvals", .string(recovery.heldApprovals.rawValue)),
            .init("revoked_credentials", .array(credentials.map { .string($0.text) })),
            .init("cancelled_actions", .array(cancelled.map { .string($0.text) })),
            .init("kept_actions", .array(recovery.kept.map { .string($0.id.text) })),
        ]
        return [
            EvidenceDraft(
                .recovery, policy: context.policy.digest, outcome: "recovered",
                body: .object(body + context.openQuestions.members))
        ]
            + credentials.map { credential in
                EvidenceDraft(
                    .credentialRevoked, credential: credential, outcome: "revoked",
                    body: [
                        "client_id": .string(recovery.command.client.text), "reason": "recovery",
                    ])
            } + cancelled.map { ActionEvidence.cancelled($0, reason: "recovery") }
    }

    /// A recovery that nobody entitled asked for.
    package static func refused(
        _ command: RecoverCustomerCommand, _ fault: AuthorizationFault
    ) -> EvidenceDraft {
        EvidenceDraft(
            .attemptFailed, outcome: fault.rawValue,
            body: [
                "client_id": .string(command.client.text), "stage": "recovery",
                "reason": .string(fault.rawValue), "authorization": claim(command),
            ])
    }

    private static func claim(_ command: RecoverCustomerCommand) -> JSON {
        command.token.map { ["kind": "sca_token", "token": .string($0)] } ?? ["kind": "none"]
    }
}
