/// Whether one policy allows nothing that another would not, and lets nobody vouch for a key who could not under
/// the other: what one person may publish in an emergency.
///
/// Each member is compared by itself, so some policies that are stricter are not recognised as such; none
/// that is looser is taken for one. A property test holds the second.
extension PolicyRules {
    /// Whether every decision under these rules is as strict as under `other`, or stricter.
    package func isAtLeastAsStrict(as other: PolicyRules) -> Bool {
        let names = Set(segments.keys).union(other.segments.keys)
        return isAsStrictForBank(as: other) && isAsStrict(as: other)
            && names.allSatisfy { of(segment: $0).isAsStrict(as: other.of(segment: $0)) }
    }

    /// What holds for the whole bank. Days must be counted alike, or sums could not be compared.
    private func isAsStrictForBank(as other: PolicyRules) -> Bool {
        timeZone == other.timeZone && homeCurrency == other.homeCurrency
            && dailyWindow == other.dailyWindow && challengeLifetime <= other.challengeLifetime
            && actionLifetime <= other.actionLifetime
            && openChallengesMax <= other.openChallengesMax
            && attempts.perChallenge <= other.attempts.perChallenge
            && attempts.perAction <= other.attempts.perAction
            && attempts.perCustomer <= other.attempts.perCustomer
            && attempts.lock >= other.attempts.lock
    }

    private func isAsStrict(as other: PolicyRules) -> Bool {
        holdsAsLong(as: other) && limitsAsMuch(as: other) && demandsAsMuch(as: other)
            && measuresAreAsStrict(as: other)
    }

    private func holdsAsLong(as other: PolicyRules) -> Bool {
        payeeCoolingOff >= other.payeeCoolingOff
            && (payeeCoolingOffMode == other.payeeCoolingOffMode || payeeCoolingOffMode == .refuse)
            && newPayeePeriod >= other.newPayeePeriod
            && (unknownPayee == other.unknownPayee || unknownPayee == .refuse)
            && contactChangeHold >= other.contactChangeHold
            && recovery.hold >= other.recovery.hold
            && recovery.payeeAge >= other.recovery.payeeAge
            && (recovery.heldApprovals == other.recovery.heldApprovals
                || recovery.heldApprovals == .cancel)
            && ActionKind.allCases.allSatisfy {
                (newCredentialCoolingOff[$0] ?? Seconds(0))
                    >= (other.newCredentialCoolingOff[$0] ?? Seconds(0))
            }
    }

    private func limitsAsMuch(as other: PolicyRules) -> Bool {
        let currenciesAreLower = currencies.allSatisfy { currency, limits in
            other.currencies[currency].map(limits.areAtMost) ?? false
        }
        return currenciesAreLower && isAtMost(newPayeesPerDayMax, other.newPayeesPerDayMax)
            && (other.velocity.map { velocity?.isAsStrict(as: $0) ?? false } ?? true)
            && raisesAreAsStrict(as: other)
            && (assisted.map { mine in
                other.assisted.map { mine.isAsStrict(as: $0) } ?? false
            } ?? true)
    }

    private func raisesAreAsStrict(as other: PolicyRules) -> Bool {
        let delay = limitChange?.delay ?? Self.limitRaiseDelay
        let before = other.limitChange?.delay ?? Self.limitRaiseDelay
        guard delay >= before else { return false }
        guard let limitChange else { return true }
        return OwnLimit.allCases.allSatisfy { limit in
            currencies.keys.allSatisfy { currency in
                guard let most = limitChange.max(limit, currency) else { return true }
                let usual = other.currencies[currency]?[limit].minorUnits ?? 0
                let old = other.limitChange?.max(limit, currency)?.minorUnits ?? 0
                return most.minorUnits <= max(usual, old)
            }
        }
    }

    private func demandsAsMuch(as other: PolicyRules) -> Bool {
        ActionKind.allCases.allSatisfy { kind in
            let profiles = requiredAttestation[kind] ?? []
            let before = other.requiredAttestation[kind] ?? []
            return isSubset(factors[kind] ?? [], of: other.factors[kind] ?? [])
                && (before.isEmpty || !profiles.isEmpty && isSubset(profiles, of: before))
                && (backupEligible[kind] ?? .allowed)
                    .isAsStrict(as: other.backupEligible[kind] ?? .allowed)
        } && stepsAreAsStrict(as: other)
    }

    /// Compares what will do just above every amount at which either says something new.
    private func stepsAreAsStrict(as other: PolicyRules) -> Bool {
        Set(factorSteps.keys).union(other.factorSteps.keys).allSatisfy { currency in
            let mine = factorSteps[currency] ?? []
            let theirs = other.factorSteps[currency] ?? []
            return (mine + theirs).map(\.above.minorUnits).allSatisfy { above in
                isSubset(
                    mine.kinds(above: above, of: factors[.transfer] ?? []),
                    of: theirs.kinds(above: above, of: other.factors[.transfer] ?? []))
            }
        }
    }

    private func measuresAreAsStrict(as other: PolicyRules) -> Bool {
        other.signals.allSatisfy { signals[$0.key]?.isAsStrict(as: $0.value) ?? false }
            && other.nameChecks.allSatisfy {
                nameChecks[$0.key]?.isAsStrict(as: $0.value) ?? false
            }
    }
}

extension PolicyRules.CurrencyLimits {
    fileprivate func areAtMost(_ other: PolicyRules.CurrencyLimits) -> Bool {
        singleMax.minorUnits <= other.singleMax.minorUnits
            && dailyMax.minorUnits <= other.dailyMax.minorUnits
            && firstTransferMax.minorUnits <= other.firstTransferMax.minorUnits
            && newPayeeSumMax.minorUnits <= other.newPayeeSumMax.minorUnits
    }
}

extension PolicyRules.Velocity {
    /// Over another window a count is another rule.
    fileprivate func isAsStrict(as other: PolicyRules.Velocity) -> Bool {
        window == other.window && transfersMax <= other.transfersMax
    }
}

extension PolicyRules.AssistedRule {
    fileprivate func isAsStrict(as other: PolicyRules.AssistedRule) -> Bool {
        hold >= other.hold && areAtMost(max, other.max)
    }
}

extension PolicyRules.BackupEligibleRule {
    fileprivate func isAsStrict(as other: PolicyRules.BackupEligibleRule) -> Bool {
        switch (self, other) {
        case (.refused, _), (_, .allowed): true
        case (.upTo(let mine), .upTo(let theirs)): areAtMost(mine, theirs)
        case (.upTo, .refused), (.allowed, .refused), (.allowed, .upTo): false
        }
    }
}

extension Measure {
    fileprivate func isAsStrict(as other: Measure) -> Bool {
        guard Set(other.kinds).isSubset(of: kinds) else { return false }
        // Also where it refuses: what it says of keys decides who may vouch for which.
        let factorsAreFewer =
            other.factors.map { before in factors.map { isSubset($0, of: before) } ?? false }
            ?? true
        guard factorsAreFewer else { return false }
        if refuses { return true }
        let capsAreLower = other.max.allSatisfy { currency, amount in
            max[currency].map { $0.minorUnits <= amount.minorUnits } ?? false
        }
        return !other.refuses && hold >= other.hold && capsAreLower
            && (holdEnd == other.holdEnd || holdEnd == .cancel)
    }
}

extension [PolicyRules.FactorStep] {
    /// What will do for one minor unit more than an amount.
    fileprivate func kinds(above amount: Int64, of kinds: [CredentialKind]) -> [CredentialKind] {
        filter { $0.above.minorUnits <= amount }.reduce(kinds) { kinds, step in
            kinds.filter(step.kinds.contains)
        }
    }
}

private func isSubset<Element: Equatable>(_ some: [Element], of all: [Element]) -> Bool {
    some.allSatisfy(all.contains)
}

/// Where `nil` is any number.
private func isAtMost(_ max: Int?, _ other: Int?) -> Bool {
    other.map { other in max.map { $0 <= other } ?? false } ?? true
}

/// Where a currency that is not named has no amount at all.
private func areAtMost(_ some: [Currency: Money], _ others: [Currency: Money]) -> Bool {
    some.allSatisfy { currency, amount in
        others[currency].map { amount.minorUnits <= $0.minorUnits } ?? false
    }
}
