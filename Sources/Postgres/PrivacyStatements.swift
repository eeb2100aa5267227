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
    static let listExecuted = Statement("list_executed", .read, PackageResources.list_executed_sql)
    static let actionsOfExternalID = Statement(
        "actions_of_external_id", .read, PackageResources.actions_of_external_id_sql)
}
