package import Countersign

/// The public part of a record: what is hashed and chained. It holds no personal data.
///
/// Source: `docs/evidence-format.md`; leaf hash: RFC 6962 §2.1.
package struct EvidenceLeaf: Hashable, Sendable {
    /// Changes with any change of meaning of a member.
    package static let version = "countersign/leaf/1"

    /// A place in a chain of leaves: of one action, or of one credential.
    package struct Link: Hashable, Sendable {
        package let of: String
        /// 1 for the first.
        package let sequence: Int
        /// The leaf hash of the one before; empty for the first.
        package let previous: String
    }

    package let log: String
    package let id: ID<Countersign.Evidence>
    package let kind: String
    package let subject: ID<Subject>
    package let at: Instant
    /// Commitment to the body: `hex SHA-256("countersign/body/1\n" ‖ salt ‖ body)`.
    package let bodyCommitment: Digest
    package let action: Link?
    package let credential: Link?
    /// SHA-256 of the policy document, where a policy decided.
    package let policy: Digest?
    package let outcome: String?

    /// The canonical bytes: JCS, strings only.
    package var bytes: Bytes {
        var members = [
            "v": EvidenceLeaf.version,
            "log": log,
            "id": id.text,
            "kind": kind,
            "subject": subject.text,
            "at": at.text,
            "body": bodyCommitment.hex,
        ]
        if let action {
            members["action"] = action.of
            members["aseq"] = String(action.sequence)
            members["aprev"] = action.previous
        }
        if let credential {
            members["credential"] = credential.of
            members["cseq"] = String(credential.sequence)
            members["cprev"] = credential.previous
        }
        members["policy"] = policy?.hex
        members["outcome"] = outcome
        return CanonicalJSON.encode(members)
    }

    /// Reads bytes that are exactly a leaf of this version; `nil` for everything else, also when a
    /// member is spelled in another way or is one too many.
    package init?(decoding bytes: Bytes) {
        guard let members = CanonicalJSON.decode(bytes), members["v"] == EvidenceLeaf.version,
            let log = members["log"], let kind = members["kind"],
            let id = members["id"].flatMap({ ID<Countersign.Evidence>($0) }),
            let subject = members["subject"].flatMap({ ID<Subject>($0) }),
            let at = members["at"].flatMap(Instant.init(text:)),
            let commitment = members["body"].flatMap({ Hex.decode($0) }).flatMap(Digest.init)
        else { return nil }
        func link(_ of: String, _ sequence: String, _ previous: String) -> Link? {
            guard let name = members[of], let number = members[sequence].flatMap({ Int($0) }),
                let before = members[previous]
            else { return nil }
            return Link(of: name, sequence: number, previous: before)
        }
        self.init(
            log: log, id: id, kind: kind, subject: subject, at: at, bodyCommitment: commitment,
            action: link("action", "aseq", "aprev"),
            credential: link("credential", "cseq", "cprev"),
            policy: members["policy"].flatMap({ Hex.decode($0) }).flatMap(Digest.init),
            outcome: members["outcome"])
        guard self.bytes == bytes else { return nil }
    }

    package init(
        log: String, id: ID<Countersign.Evidence>, kind: String, subject: ID<Subject>, at: Instant,
        bodyCommitment: Digest, action: Link?, credential: Link?, policy: Digest?, outcome: String?
    ) {
        self.log = log
        self.id = id
        self.kind = kind
        self.subject = subject
        self.at = at
        self.bodyCommitment = bodyCommitment
        self.action = action
        self.credential = credential
        self.policy = policy
        self.outcome = outcome
    }
}
