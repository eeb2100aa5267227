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
    /// What the credential that approves this action must be.
    package func demand(for content: ActionContent) -> CredentialDemand {
        demand(for: content.kind, backupEligible: backupEligibleSuffices(for: content))
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
        ActionKind.allCases.contains { leastDemand(for: $0).isMet(by: credential) }
    }

    /// Whether a credential may vouch for a new one: whatever the new one could approve, it can itself.
    ///
    /// Otherwise a key that the policy trusts with little could bring in one that it trusts with all.
    package func mayVouch(_ voucher: CredentialTraits, for new: CredentialTraits) -> Bool {
        ActionKind.allCases.allSatisfy { kind in
            [leastDemand(for: kind), greatestDemand(for: kind)].allSatisfy {
                !$0.isMet(by: new) || $0.isMet(by: voucher)
            }
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

    /// Whether an attestation decides about anything: then new passkeys are asked for one.
    package var requiresAttestation: Bool { requiredAttestation.values.contains { !$0.isEmpty } }
}
