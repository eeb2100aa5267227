package import Countersign

/// What is recorded of requests that phones sign. Accepted ones are not: they are the bank's to log.
package enum DeviceRequestEvidence {
    /// The first replay of an accepted request: the bytes that the customer's key signed, which hold
    /// the digest of the body and not the body.
    package static func replayed(
        _ replay: ReplayedRequest, by claimed: ClaimedCredential
    ) -> EvidenceDraft {
        EvidenceDraft(
            .requestReplayed, credential: claimed.registered.id, outcome: "refused",
            body: [
                "client_id": .string(replay.request.client.text),
                "profile": .string(replay.request.profile.name.rawValue),
                "message": .string(Base64.encodeURL(replay.message)),
                "signature": .string(Base64.encodeURL(replay.signature.signature)),
                "public_key": .string(Base64.encodeURL(claimed.registered.publicKey)),
                "signature_format": .optional(claimed.registered.signatureFormat?.rawValue),
                "enrolment_evidence_id": .string(claimed.registered.evidenceID.text),
                "accepted_at": .string(replay.earlier.at.text),
            ])
    }

    /// How strictly a credential's requests are judged from now on.
    package static func configured(
        _ command: SetRequestSigningCommand, from before: RequestModeChoice
    ) -> EvidenceDraft {
        EvidenceDraft(
            .requestConfigured, credential: command.credential, outcome: command.choice.rawValue,
            body: [
                "client_id": .string(command.client.text), "before": .string(before.rawValue),
                "mode": .string(command.choice.rawValue),
            ])
    }
}
