import Countersign
import Crypto

/// What the records of one bundle must say of each other.
struct BundleCheck {
    private let records: [BundleRole: VerifiedRecord]
    let decision: VerifiedRecord

    /// - Parameter records: Each is in the log and of its role's kind.
    /// - Throws: ``BundleFault`` when one is missing or has no place.
    init(_ records: [BundleRole: VerifiedRecord]) throws(BundleFault) {
        let decisions = records.values.filter(\.role.isDecision)
        guard let decision = decisions.first, decisions.count == 1 else { throw .noDecision }
        self.records = records
        self.decision = decision
        guard records[.created] != nil else { throw .missing(.created) }
        try demand(.enrolled, where: decision.leaf.credential != nil)
        try demand(.policy, where: decision.leaf.policy != nil)
        for role in records.keys where role.followsApproval && decision.role != .approved {
            throw .unexpected(role)
        }
    }

    private func demand(_ role: BundleRole, where isNeeded: Bool) throws(BundleFault) {
        guard isNeeded != (records[role] != nil) else { return }
        throw isNeeded ? .missing(role) : .unexpected(role)
    }

    /// Checks everything.
    ///
    /// - Throws: ``BundleFault``, the first that applies.
    func run() throws(BundleFault) {
        for role in BundleRole.allCases {
            if let record = records[role] { try checkSubject(record) }
        }
        try checkBodies()
        try checkChain(\.action)
        try checkChain(\.credential)
        for role in BundleRole.allCases {
            guard let record = records[role], let body = record.body else { continue }
            try of(role) { () throws(EvidenceFault) in
                _ = try EvidenceVerifier.check(record.leaf, body)
            }
        }
        try checkKey()
        try checkContent()
        try checkPolicy()
        try checkFollowing()
    }

    /// A customer is erased whole, and the log says so: whoever left bodies out, and be it all of them, has no
    /// record of an erasure. Nobody erases what a policy says.
    private func checkBodies() throws(BundleFault) {
        let ofCustomer = BundleRole.allCases.compactMap { $0.isOfCustomer ? records[$0] : nil }
        let bare = ofCustomer.filter { $0.body == nil }
        if let policy = records[.policy], policy.body == nil {
            throw .record(.policy, .bodyMissing)
        }
        if let first = bare.first, bare.count < ofCustomer.count { throw .stripped(first.role) }
        try demand(.erased, where: !bare.isEmpty)
        guard let erased = records[.erased] else { return }
        for record in ofCustomer where record.position > erased.position {
            throw .record(record.role, .afterErasure)
        }
    }

    /// What each is about, and that it was there before the decision.
    private func checkSubject(_ record: VerifiedRecord) throws(BundleFault) {
        let role = record.role
        switch role {
        case .policy:
            guard record.leaf.action == nil else { throw .otherAction(role) }
            guard record.leaf.subject == EvidenceSealer.serviceSubject else {
                throw .otherCustomer(role)
            }
            guard record.leaf.policy == decision.leaf.policy else {
                throw .record(decision.role, .policy)
            }
        case .enrolled:
            guard let key = record.leaf.credential?.of, key == decision.leaf.credential?.of else {
                throw .otherKey(role)
            }
            guard record.leaf.subject == decision.leaf.subject else { throw .otherCustomer(role) }
        case .erased:
            guard ErasedSubject.subject(in: record.leaf) == decision.leaf.subject else {
                throw .otherCustomer(role)
            }
        case .created, .approved, .rejected, .refused, .held, .released, .cancelled, .executed,
            .notExecuted, .unknown:
            guard let action = record.leaf.action?.of, action == decision.leaf.action?.of else {
                throw .otherAction(role)
            }
            guard record.leaf.subject == decision.leaf.subject else { throw .otherCustomer(role) }
        }
        guard !role.precedesDecision || record.position < decision.position else {
            throw .notBefore(role)
        }
    }

    /// That the links of a chain fit where neighbours are there, and that what begins it is its first.
    private func checkChain(
        _ link: KeyPath<EvidenceLeaf, EvidenceLeaf.Link?>
    ) throws(BundleFault) {
        let chain = records.values.compactMap { record in
            record.leaf[keyPath: link].map { (record: record, link: $0) }
        }.filter { $0.link.of == decision.leaf[keyPath: link]?.of }
            .sorted { $0.link.sequence < $1.link.sequence }
        var before: (record: VerifiedRecord, link: EvidenceLeaf.Link)?
        for place in chain {
            let (role, sequence) = (place.record.role, place.link.sequence)
            let isFirst = role == .created || role == .enrolled
            let isNext = before.map { $0.link.sequence + 1 == sequence } ?? (sequence == 1)
            guard isFirst == (sequence == 1), sequence >= 1,
                before.map({ $0.link.sequence < sequence }) ?? true,
                !isNext || place.link.previous == before?.record.hash.hex ?? "",
                // The decision comes before what follows from it.
                !role.followsApproval || sequence > decision.leaf[keyPath: link]?.sequence ?? 0
            else { throw .record(role, .chain) }
            before = place
        }
    }

    /// That the key was enrolled as what it decided. A signature of a key that nobody has enrolled is nobody's.
    private func checkKey() throws(BundleFault) {
        guard decision.body?["signed"] != .bool(true) || records[.enrolled] != nil else {
            throw .missing(.enrolled)
        }
        guard let enrolled = records[.enrolled], let enrolment = enrolled.body,
            let body = decision.body
        else { return }
        guard body["enrolment_evidence_id"]?.text == enrolled.leaf.id.text else {
            throw .otherKey(.enrolled)
        }
        try of(decision.role) { () throws(EvidenceFault) in
            try EnrolledKey(enrolledBy: enrolment).demandIsWhatSigned(body)
        }
    }

    /// That what was signed is what was created.
    private func checkContent() throws(BundleFault) {
        // A rejection without a signature says nothing of it.
        guard let action = records[.created]?.body?["action"],
            let content = decision.body?.signedContent
        else { return }
        guard action["id"]?.text == decision.leaf.action?.of,
            action["kind"]?.text == content.kind.rawValue,
            action[content.kind.rawValue] == JSON(recorded: content.json.encoded),
            decision.body?.signedCustomer.map({ $0 == action["customer_id"]?.text }) ?? true
        else { throw .otherContent(.created) }
    }

    /// That the policy decides so on what was recorded.
    private func checkPolicy() throws(BundleFault) {
        guard let body = decision.body else { return }
        // Who published it is asked of the whole log: the acts of people are not in a bundle.
        var audit = PolicyAudit(migrated: records[.policy]?.body?.publishedPolicy ?? [:])
        if let policy = records[.policy], let body = policy.body {
            try of(.policy) { () throws(EvidenceFault) in
                try audit.check(policy.leaf.kind, policy.bytes, body)
            }
        }
        try of(decision.role) { () throws(EvidenceFault) in
            try audit.check(decision.leaf.kind, decision.bytes, body)
        }
    }

    /// That a hold lasted as it was decided, and that core banking's answer is there.
    private func checkFollowing() throws(BundleFault) {
        for role in [.executed, .notExecuted] as [BundleRole] {
            guard let body = records[role]?.body else { continue }
            guard body.bytes("raw")?.isEmpty == false,
                body[role == .executed ? "reference" : "reason"]?.text != nil
            else { throw .noReceipt(role) }
        }
        guard decision.role == .approved, let body = decision.body,
            let action = decision.leaf.action.flatMap({ ID<Action>($0.of) })
        else { return }
        if let held = records[.held]?.body, held["hold"] != body["policy"]?["verdict"]?["hold"] {
            throw .otherContent(.held)
        }
        var audit = HoldAudit()
        let following = records.values.filter { $0.role == .approved || $0.role.followsApproval }
            .sorted { $0.leaf.action?.sequence ?? 0 < $1.leaf.action?.sequence ?? 0 }
        for record in following {
            guard let body = record.body else { return }
            try of(record.role) { () throws(EvidenceFault) in
                try audit.check(record.leaf.kind, of: action, record.bytes, body)
            }
        }
    }

    /// Says of which record a fault is.
    private func of(
        _ role: BundleRole, _ check: () throws(EvidenceFault) -> Void
    ) throws(BundleFault) {
        do throws(EvidenceFault) { try check() } catch { throw .record(role, error) }
    }
}

extension JSON {
    /// The customer in the message of a decision; `nil` when it has none.
    fileprivate var signedCustomer: String? {
        bytes("message").flatMap { SignedMessage(decoding: $0)?.customerID.text }
    }

    /// The digest of a published policy's document by its version.
    fileprivate var publishedPolicy: [Int: Digest] {
        guard case .integer(let version)? = self["version"], let document = bytes("document") else {
            return [:]
        }
        return [Int(version): sha256(document)]
    }
}
