/// How acts and policies are shown. Source: `docs/api.md`.
extension RecordedAct {
    /// The member `act`.
    package var json: JSON {
        [
            "id": .string(id.text), "kind": .string(kind.rawValue),
            "role": .string(role.rawValue), "state": .string(state.rawValue),
            "document": content,
            "document_bytes": .string(Base64.encodeURL(document)),
            "document_digest": .string(digest.hex),
            "signatures_needed": .integer(Int64(kind.signaturesNeeded)),
            "signatures": .array(signatures.map(\.json)),
            "created_by": .string(createdBy.name), "created_at": .string(createdAt.text),
            "expires_at": .string(expiresAt.text), "closed_at": .optional(closedAt?.text),
        ]
    }
}

extension RecordedActSignature {
    /// One element of `signatures`.
    fileprivate var json: JSON {
        [
            "person": .string(person.name), "stage": .string(stage.rawValue),
            "key_id": .string(key.text), "signed_at": .string(signedAt.text),
            "counts": .bool(counts), "evidence_id": .string(evidenceID.text),
        ]
    }
}

extension PublishedPolicy {
    /// The members of a version, without its document.
    package var members: [JSON.Member] {
        [
            .init("version", .integer(Int64(version))), .init("digest", .string(digest.hex)),
            .init("active_from", .string(activeFrom.text)),
            .init("published_at", .string(publishedAt.text)),
            .init("active", .bool(isActive)),
        ]
    }
}
