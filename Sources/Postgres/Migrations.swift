package import Countersign
import Crypto

/// One file of `sql/migrations`: forward only, never edited once released.
package struct Migration: Sendable {
    /// The number in its name, from 1 on; numbers may be left out.
    package let version: Int
    /// The name of its file without the ending, such as `V0001_evidence`.
    package let name: String
    /// Statements that are applied in one transaction.
    package let sql: String
    /// SHA-256 of the file.
    package let digest: Digest

    /// - Parameters:
    ///   - name: The name of its file without the ending: `V`, four digits, `_`, a word.
    ///   - sql: The file.
    package init(_ name: String, _ sql: Bytes) {
        guard name.hasPrefix("V"), let version = Int(name.dropFirst().prefix { $0 != "_" }) else {
            preconditionFailure("a migration is named V0001_word")
        }
        self.version = version
        self.name = name
        self.sql = String(decoding: sql, as: UTF8.self)
        digest = sha256(sql)
    }
}

extension Migration {
    /// All of `sql/migrations`, in order; a test compares the list with the folder.
    package static let all = [
        Migration("V0001_evidence", PackageResources.V0001_evidence_sql),
        Migration("V0002_parties", PackageResources.V0002_parties_sql),
        Migration("V0003_actions", PackageResources.V0003_actions_sql),
        Migration("V0004_action_functions", PackageResources.V0004_action_functions_sql),
        Migration("V0005_credential_functions", PackageResources.V0005_credential_functions_sql),
        Migration("V0006_delivery_functions", PackageResources.V0006_delivery_functions_sql),
        Migration("V0007_first_policy", PackageResources.V0007_first_policy_sql),
        Migration("V0008_grants", PackageResources.V0008_grants_sql),
        Migration(
            "V0009_attested_credentials", PackageResources.V0009_attested_credentials_sql),
        Migration("V0010_device_requests", PackageResources.V0010_device_requests_sql),
        Migration("V0011_claims", PackageResources.V0011_claims_sql),
        Migration("V0012_enrolment_policy", PackageResources.V0012_enrolment_policy_sql),
        Migration("V0013_rules", PackageResources.V0013_rules_sql),
        Migration("V0014_people_and_acts", PackageResources.V0014_people_and_acts_sql),
        Migration("V0015_events_recovery", PackageResources.V0015_events_recovery_sql),
        Migration("V0016_hold_acts", PackageResources.V0016_hold_acts_sql),
        Migration(
            "V0017_own_limits_payees_held", PackageResources.V0017_own_limits_payees_held_sql),
        Migration("V0018_assisted_approval", PackageResources.V0018_assisted_approval_sql),
        Migration("V0019_one_founding", PackageResources.V0019_one_founding_sql),
        Migration("V0020_payee_import", PackageResources.V0020_payee_import_sql),
        Migration("V0021_shadows", PackageResources.V0021_shadows_sql),
        Migration(
            "V0022_retention_event_push", PackageResources.V0022_retention_event_push_sql),
        Migration("V0023_contact_hold_event", PackageResources.V0023_contact_hold_event_sql),
        Migration("V0024_holds_once", PackageResources.V0024_holds_once_sql),
        Migration("V0025_audit", PackageResources.V0025_audit_sql),
        Migration("V0026_refused_acts", PackageResources.V0026_refused_acts_sql),
        Migration("V0027_shadow_counts", PackageResources.V0027_shadow_counts_sql),
        Migration("V0028_closed_gaps", PackageResources.V0028_closed_gaps_sql),
        Migration("V0029_holds_as_decided", PackageResources.V0029_holds_as_decided_sql),
        Migration("V0030_log", PackageResources.V0030_log_sql),
        Migration("V0031_witnesses", PackageResources.V0031_witnesses_sql),
        Migration("V0033_privacy", PackageResources.V0033_privacy_sql),
        Migration("V0034_audit_views", PackageResources.V0034_audit_views_sql),
        Migration("V0035_log_links", PackageResources.V0035_log_links_sql),
        Migration("V0036_evidence_kept", PackageResources.V0036_evidence_kept_sql),
        Migration("V0037_readers", PackageResources.V0037_readers_sql),
        Migration("V0038_evidence_beside", PackageResources.V0038_evidence_beside_sql),
        Migration("V0039_log_quorum", PackageResources.V0039_log_quorum_sql),
        Migration("V0040_unsequenced", PackageResources.V0040_unsequenced_sql),
        Migration("V0041_promises", PackageResources.V0041_promises_sql),
    ]
}
