extension Acts {
    /// A published version is visible for so long before it is in force: then no approval that was decided
    /// under the version before it is committed later than that. Longer than the time for which the
    /// database's own check asks, since a request needs some of it to get there.
    package static var policyLead: Seconds { Seconds(3) }

    /// What publishing a proposal now would come to.
    ///
    /// 1. It was written against the newest version: what its signers compared is what changes.
    /// 2. Its time has not passed by more than ``PolicyProposal/lateMax``. When it has passed, or is not
    ///    stated, it takes effect as soon as is possible, and never for a time that is over.
    /// 3. The policy in force is the newest whose time has come. So a version that came into force before
    ///    an older one that still waits would silently end that one: two people wait for its time, at which
    ///    theirs, being newer, takes its place. Only tightening may overtake, for it cannot wait.
    /// 4. Tightening is at least as strict as the policy in force and as every one that waits: so at no
    ///    time is anything looser than what two people have decided.
    func publication(
        of proposal: PolicyProposal, as kind: ActKind, _ context: ProposalContext
    ) -> Result<PolicyPublication, ActRefusal> {
        guard let newest = context.policies.last else { return .failure(.notFound) }
        guard proposal.baseVersion == newest.version else {
            return .failure(.policyChanged(newest: newest.version))
        }
        if let stated = proposal.activeFrom, stated + PolicyProposal.lateMax < context.at {
            return .failure(.tooLate)
        }
        let activeFrom = max(
            proposal.activeFrom ?? context.at, context.at + Self.policyLead)
        let waiting = context.policies.filter { $0.activeFrom > activeFrom }
        if kind == .tightenPolicy {
            let isStrict = context.policies.allSatisfy { policy in
                guard let rules = try? PolicyRules(document: policy.content) else { return false }
                return isAtLeastAsStrict(proposal.rules, rules)
            }
            guard isStrict else { return .failure(.notStricter) }
        } else if let last = waiting.map(\.activeFrom).max() {
            return .failure(.tooEarly(notBefore: last))
        }
        return .success(
            PolicyPublication(
                version: newest.version + 1, activeFrom: activeFrom, proposal: proposal,
                overtaken: waiting.map(\.version)))
    }
}
