/// What a policy demands of the credential that approves one action.
package struct CredentialDemand: Hashable, Sendable {
    /// The kinds that will do.
    package let kinds: [CredentialKind]
    /// The profiles of attestation of which it must have met one; empty when none is needed.
    package let profiles: [AttestationProfile]
    /// Whether a passkey that may be copied to other devices will do. Source: standards D-06.
    package let backupEligible: Bool

    package init(kinds: [CredentialKind], profiles: [AttestationProfile], backupEligible: Bool) {
        self.kinds = kinds
        self.profiles = profiles
        self.backupEligible = backupEligible
    }

    /// Whether such a credential will do.
    package func isMet(by credential: CredentialTraits) -> Bool {
        kinds.contains(credential.kind)
            && (profiles.isEmpty || profiles.contains { credential.profiles.contains($0) })
            && (backupEligible || !credential.isBackupEligible)
    }

    /// Whether a voucher meets each part of the demand, or is in that no worse than the new one.
    ///
    /// So nobody vouches for what meets the demand without meeting it. And whoever may vouch under a stricter
    /// demand may under this one: to meet a part of that one is to meet this part, and what is no worse stays so.
    func mayVouch(_ voucher: CredentialTraits, for new: CredentialTraits) -> Bool {
        (kinds.contains(voucher.kind) || voucher.kind == new.kind)
            && (profiles.isEmpty || profiles.contains(where: voucher.profiles.contains)
                || new.profiles.allSatisfy(voucher.profiles.contains))
            && (backupEligible || !voucher.isBackupEligible || new.isBackupEligible)
    }

    /// The same demand with only those kinds of its own that are among these.
    func limited(to kinds: [CredentialKind]) -> CredentialDemand {
        CredentialDemand(
            kinds: self.kinds.filter(kinds.contains), profiles: profiles,
            backupEligible: backupEligible)
    }
}

/// What a policy looks at in a credential.
package struct CredentialTraits: Hashable, Sendable {
    package let kind: CredentialKind
    /// The profiles of attestation that it met when it was enrolled.
    package let profiles: [AttestationProfile]
    /// Whether it may be copied to other devices; never so for a device key.
    package let isBackupEligible: Bool

    package init(kind: CredentialKind, profiles: [AttestationProfile], isBackupEligible: Bool) {
        self.kind = kind
        self.profiles = profiles
        self.isBackupEligible = isBackupEligible
    }
}

extension PolicyRules {
    /// What the credential that approves this action must be, as the rules of the segment have it.
    ///
    /// Amounts and measures only ever take kinds away.
    package func demand(
        for content: ActionContent, _ risk: RecordedRisk
    ) -> CredentialDemand {
        demand(for: content, under: measures(for: content.kind, risk))
    }

    /// The same, of measures that are known to apply.
    func demand(for content: ActionContent, under measures: [AppliedMeasure]) -> CredentialDemand {
        var demand = demand(
            for: content.kind, backupEligible: backupEligibleSuffices(for: content))
        if case .transfer(let transfer) = content {
            let steps = factorSteps[transfer.amount.currency] ?? []
            for step in steps where transfer.amount.minorUnits > step.above.minorUnits {
                demand = demand.limited(to: step.kinds)
            }
        }
        for measure in measures {
            demand = measure.measure.factors.map(demand.limited(to:)) ?? demand
        }
        return demand
    }

    private func demand(for kind: ActionKind, backupEligible: Bool) -> CredentialDemand {
        CredentialDemand(
            kinds: factors[kind] ?? [], profiles: requiredAttestation[kind] ?? [],
            backupEligible: backupEligible)
    }

    private func backupEligibleSuffices(for content: ActionContent) -> Bool {
        switch (self.backupEligible[content.kind] ?? .allowed, content) {
        case (.allowed, _): true
        case (.refused, _): false
        case (.upTo(let maxima), .transfer(let transfer)):
            // A currency that is not named has no amount up to which one would do.
            maxima[transfer.amount.currency]
                .map { transfer.amount.minorUnits <= $0.minorUnits } ?? false
        case (.upTo, _): false
        }
    }

    /// Whether there is any action at all that such a credential could approve.
    package func mayApproveSomething(_ credential: CredentialTraits) -> Bool {
        forAnySegment { rules in
            ActionKind.allCases.contains { rules.leastDemand(for: $0).isMet(by: credential) }
        }
    }

    /// Whether a credential may vouch for a new one: in each way in which the policy tells keys apart, it is
    /// good enough itself, or the new one is no better.
    ///
    /// Otherwise a key that the policy trusts with little could bring in one that it trusts with all. Each way
    /// is looked at by itself, also where the new one would fail in another: a policy that is stricter for a
    /// while, which one person may publish, must not open the door to a key that waits for the one before it.
    /// The customer's segment is not known at enrolment, so it must hold for every one.
    package func mayVouch(_ voucher: CredentialTraits, for new: CredentialTraits) -> Bool {
        !forAnySegment { rules in
            ActionKind.allCases.contains { kind in
                rules.demands(for: kind).contains { !$0.mayVouch(voucher, for: new) }
            }
        }
    }

    /// Whether an attestation decides about anything: then new passkeys are asked for one.
    package var requiresAttestation: Bool {
        forAnySegment { rules in rules.requiredAttestation.values.contains { !$0.isEmpty } }
    }

    private func forAnySegment(_ isSo: (PolicyRules) -> Bool) -> Bool {
        isSo(self) || segments.values.contains(where: isSo)
    }

    /// Everything that may be asked for an action of the kind.
    private func demands(for kind: ActionKind) -> [CredentialDemand] {
        var demands = [leastDemand(for: kind), greatestDemand(for: kind)]
        if kind == .transfer {
            for steps in factorSteps.values {
                var kinds = factors[kind] ?? []
                for step in steps {
                    kinds = kinds.filter(step.kinds.contains)
                    demands += demands.prefix(2).map { $0.limited(to: kinds) }
                }
            }
        }
        let measures = (Array(signals.values) + nameChecks.values).filter {
            $0.kinds.contains(kind)
        }
        // A credential has one kind, so what several measures leave of it one of them leaves too.
        return demands
            + measures.compactMap(\.factors).flatMap { kinds in
                demands.map { $0.limited(to: kinds) }
            }
    }

    /// What the easiest action of the kind asks for.
    private func leastDemand(for kind: ActionKind) -> CredentialDemand {
        let suffices =
            switch self.backupEligible[kind] ?? .allowed {
            case .allowed: true
            case .refused: false
            case .upTo(let maxima): maxima.values.contains { $0.minorUnits > 0 }
            }
        return demand(for: kind, backupEligible: suffices)
    }

    /// What every action of the kind is content with.
    private func greatestDemand(for kind: ActionKind) -> CredentialDemand {
        let rule = self.backupEligible[kind] ?? .allowed
        let suffices = if case .allowed = rule { true } else { false }
        return demand(for: kind, backupEligible: suffices)
    }
}
