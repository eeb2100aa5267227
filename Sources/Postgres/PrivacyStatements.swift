// The statements of erasure, of retention and of auditors' comparisons, embedded from sql/queries.

extension Statement {
    static let loadErasure = Statement("load_erasure", .read, PackageResources.load_erasure_sql)
    static let eraseCustomer = Statement(
        "erase_customer", .write, PackageResources.erase_customer_sql)
    static let setLegalHold = Statement(
        "set_legal_hold", .write, PackageResources.set_legal_hold_sql)
    static let liftLegalHold = Statement(
        "lift_legal_hold", .write, PackageResources.lift_legal_hold_sql)
    static let evidenceMonth = Statement(
        "evidence_month", .read, PackageResources.evidence_month_sql)
    static let detachEvidenceMonth = Statement(
        "detach_evidence_month", .write, PackageResources.detach_evidence_month_sql)
    static let detachedEvidence = Statement(
        "detached_evidence", .read, PackageResources.detached_evidence_sql)
    static let evidenceKeptOf = Statement(
        "evidence_kept_of", .read, PackageResources.evidence_kept_of_sql)
    static let countKept = Statement("count_kept", .read, PackageResources.count_kept_sql)
    static let detachedLeaves = Statement(
        "detached_leaves", .read, PackageResources.detached_leaves_sql)
    static let isEvidenceDetached = Statement(
        "is_evidence_detached", .read, PackageResources.is_evidence_detached_sql)
    static let listExecuted = Statement("list_executed", .read, PackageResources.list_executed_sql)
    static let actionsOfExternalID = Statement(
        "actions_of_external_id", .read, PackageResources.actions_of_external_id_sql)
}
