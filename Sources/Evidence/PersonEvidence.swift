package import Countersign

/// What is recorded of people's keys and of acts, with all that a stranger needs to verify it again.
package enum PersonEvidence {
    /// A registered key, with the proof of its possession.
    package static func registered(
        _ key: NewPersonKey, by person: Person, in registration: OpenedPersonKeyRegistration
    ) -> EvidenceDraft {
        EvidenceDraft(
            .personKeyRegistered, outcome: key.status.rawValue,
            body: .object(
                identity(key.id, person) + [
                    .init("status", .string(key.status.rawValue)),
                    .init("label", .string(registration.label)),
                    .init("registration_id", .string(registration.id.text)),
                    .init("public_key", .string(Base64.encodeURL(key.registration.publicKey))),
                    .init("message", .string(Base64.encodeURL(registration.message))),
                    .init("proof", OfferedCredential.passkey(key.command.offered).evidence),
                    .init("attestation", key.registration.attestation.evidence),
                    .init("backup_eligible", .bool(key.passkey.backupEligible)),
                    .init("backup_state", .bool(key.passkey.backupState)),
                    .init("sign_count", .integer(Int64(key.passkey.signCount))),
                ]))
    }

    /// A registration that was not believed.
    package static func failed(
        _ command: RegisterPersonKeyCommand, by person: Person,
        in registration: OpenedPersonKeyRegistration, because code: String
    ) -> EvidenceDraft {
        EvidenceDraft(
            .attemptFailed, outcome: code,
            body: [
                "client_id": .string(person.id.text), "person": .string(person.name),
                "role": .string(person.role.rawValue),
                "registration_id": .string(registration.id.text),
                "message": .string(Base64.encodeURL(registration.message)),
                "stage": "person_key", "reason": .string(code),
                "proof": OfferedCredential.passkey(command.offered).evidence,
            ])
    }

    /// The end of a key; without an owner the operator ended it.
    package static func revoked(
        _ key: ID<PersonKey>, of person: Person, by owner: ID<Client>?, reason: String
    ) -> EvidenceDraft {
        EvidenceDraft(
            .personKeyRevoked, outcome: "revoked",
            body: .object(
                identity(key, person) + [
                    .init("revoked_by", .string(owner?.text ?? "operator")),
                    .init("reason", .string(reason)),
                ]))
    }

    /// The founding of a role that is open again; `people` have an active key, and are founders already.
    package static func reopened(
        foundingOf role: PersonRole, people: [ID<Client>], until closesAt: Instant, reason: String
    ) -> EvidenceDraft {
        EvidenceDraft(
            .personFoundingReopened, outcome: "reopened",
            body: [
                "role": .string(role.rawValue),
                "people": .array(people.map { .string($0.text) }),
                "closes_at": .string(closesAt.text), "reason": .string(reason),
            ])
    }

    private static func identity(_ key: ID<PersonKey>, _ person: Person) -> [JSON.Member] {
        [
            .init("key_id", .string(key.text)), .init("client_id", .string(person.id.text)),
            .init("person", .string(person.name)), .init("role", .string(person.role.rawValue)),
        ]
    }
}

extension PersonEvidence {
    /// A signature of an act, and what took effect with it.
    package static func signed(
        _ signature: NewActSignature, on context: ActContext, sha256: Hasher256
    ) -> [EvidenceDraft] {
        let act = context.act
        let isPolicy = act.kind == .publishPolicy || act.kind == .tightenPolicy
        let kind: EvidenceKind =
            switch signature.challenge.stage {
            case .propose: isPolicy ? .policyProposed : .actProposed
            case .approve: isPolicy ? .policyApproved : .actApproved
            }
        let signed = EvidenceDraft(
            kind, outcome: signature.challenge.stage == .propose ? "proposed" : "approved",
            body: .object(proof(signature, on: context)))
        switch signature.effect {
        // What happens to the action is told on its own chain, and each import on its customer's.
        case .none, .endHold, .approve, .allowImport: return [signed]
        case .publish(let publication):
            return [signed, published(publication, by: act, sha256: sha256)]
        case .admit(let key):
            return [
                signed,
                EvidenceDraft(
                    .personKeyAdmitted, outcome: "active",
                    body: .object(about(act) + identity(key.id, key.person))),
            ]
        }
    }

    /// A verified signature, with all that a stranger needs to verify it again.
    private static func proof(
        _ signature: NewActSignature, on context: ActContext
    ) -> [JSON.Member] {
        let act = context.act
        return about(act) + identity(signature.key.id, context.base.person) + [
            .init("challenge_id", .string(signature.challenge.id.text)),
            .init("stage", .string(signature.challenge.stage.rawValue)),
            .init("document", .string(Base64.encodeURL(act.document))),
            .init("content", act.content),
            .init("message", .string(Base64.encodeURL(signature.challenge.message))),
            .init("signed", .bool(true)),
            .init("public_key", .string(Base64.encodeURL(signature.key.stored.key))),
            .init("registration_evidence_id", .string(signature.key.evidenceID.text)),
            .init(
                "assertion",
                UnverifiedAssertion.passkey(signature.command.assertion).evidence),
            .init("sign_count", .integer(Int64(signature.signCount))),
        ]
    }

    private static func published(
        _ publication: PolicyPublication, by act: RecordedAct, sha256: Hasher256
    ) -> EvidenceDraft {
        EvidenceDraft(
            .policyPublished, policy: sha256(publication.document), outcome: "published",
            body: .object(
                about(act) + [
                    .init("version", .integer(Int64(publication.version))),
                    .init("active_from", .string(publication.activeFrom.text)),
                    .init("base_version", .integer(Int64(publication.proposal.baseVersion))),
                    .init("difference", act.content["difference"] ?? .null),
                    .init(
                        "overtaken", .array(publication.overtaken.map { .integer(Int64($0)) })),
                    .init("document", .string(Base64.encodeURL(publication.document))),
                ]))
    }

    /// An answer about an act that was not believed.
    package static func failed(
        _ command: SignActCommand, because failure: VerificationFailure, on context: ActContext
    ) -> EvidenceDraft {
        EvidenceDraft(
            .attemptFailed, outcome: failure.code,
            body: .object(
                about(context.act) + [
                    .init("client_id", .string(command.person.text)),
                    .init("person", .string(context.base.person.name)),
                    .init("challenge_id", .string(command.challenge.text)),
                    .init(
                        "message",
                        .optional(context.challenge.map { Base64.encodeURL($0.message) })),
                    .init("stage", "act"), .init("reason", .string(failure.code)),
                    .init("assertion", UnverifiedAssertion.passkey(command.assertion).evidence),
                ]))
    }

    /// An act that was stopped.
    package static func withdrawn(
        _ act: RecordedAct, by person: Person, reason: DisplayText
    ) -> EvidenceDraft {
        EvidenceDraft(
            .actWithdrawn, outcome: "withdrawn",
            body: .object(
                about(act) + [
                    .init("client_id", .string(person.id.text)),
                    .init("person", .string(person.name)), .init("reason", .string(reason.text)),
                ]))
    }

    private static func about(_ act: RecordedAct) -> [JSON.Member] {
        [
            .init("act_id", .string(act.id.text)), .init("kind", .string(act.kind.rawValue)),
            .init("document_digest", .string(act.digest.hex)),
        ]
    }
}

extension PersonEvidence {
    /// A good last signature of an act that was refused: it counts for nothing.
    package static func refused(
        _ signature: NewActSignature, because refusal: ActRefusal, on context: ActContext
    ) -> EvidenceDraft {
        EvidenceDraft(
            .actRefused, outcome: refusal.recordedWord ?? "refused",
            body: .object(proof(signature, on: context) + because(refusal)))
    }

    /// An act that was refused when it was proposed; nobody has signed it.
    ///
    /// - Parameters:
    ///   - command: What was sent.
    ///   - refusal: Why nothing came of it.
    ///   - person: Who sent it.
    ///   - withContent: Whether what was sent is recorded.
    /// - Returns: The record.
    package static func refused(
        _ command: ProposeActCommand, because refusal: ActRefusal, by person: Person,
        withContent: Bool
    ) -> EvidenceDraft {
        EvidenceDraft(
            .actRefused, outcome: refusal.recordedWord ?? "refused",
            body: .object(
                [
                    .init("kind", .string(command.kind.rawValue)), .init("signed", .bool(false)),
                    .init("client_id", .string(person.id.text)),
                    .init("person", .string(person.name)),
                    .init("role", .string(person.role.rawValue)), .init("stage", "propose"),
                    .init("content", withContent ? command.document : .null),
                ] + because(refusal)))
    }

    private static func because(_ refusal: ActRefusal) -> [JSON.Member] {
        var members: [JSON.Member] = [.init("refusal", .optional(refusal.recordedWord))]
        switch refusal {
        case .action(.policy(let refusal)):
            members.append(.init("verdict", PolicyVerdict.refused(refusal).json))
        case .notReleasable(let rule): members.append(.init("rule", .string(rule)))
        default: break
        }
        return members
    }
}

extension PersonEvidence {
    /// A draft that is evaluated beside the policy in force, with its document byte for byte.
    package static func started(_ shadow: PolicyShadow, _ document: Bytes) -> EvidenceDraft {
        EvidenceDraft(
            .shadowStarted, outcome: "started",
            body: .object(
                about(shadow, by: shadow.startedBy) + [
                    .init("until", .string(shadow.until.text)),
                    .init("document", .string(Base64.encodeURL(document))),
                ]))
    }

    /// The end of it, before its time.
    package static func ended(_ shadow: PolicyShadow, by person: Person) -> EvidenceDraft {
        EvidenceDraft(
            .shadowEnded, outcome: "ended", body: .object(about(shadow, by: person)))
    }

    private static func about(_ shadow: PolicyShadow, by person: Person) -> [JSON.Member] {
        [
            .init("shadow_id", .string(shadow.id.text)), .init("label", .string(shadow.label)),
            .init("client_id", .string(person.id.text)), .init("person", .string(person.name)),
            .init("document_digest", .string(shadow.digest.hex)),
        ]
    }
}
