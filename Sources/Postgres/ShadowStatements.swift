// The statements of shadows and of what is kept of decisions, embedded from sql/queries.

extension Statement {
    static let loadShadowAsker = Statement(
        "load_shadow_asker", .read, PackageResources.load_shadow_asker_sql)
    static let startShadow = Statement("start_shadow", .write, PackageResources.start_shadow_sql)
    static let endShadow = Statement("end_shadow", .write, PackageResources.end_shadow_sql)
    static let listShadows = Statement("list_shadows", .read, PackageResources.list_shadows_sql)
    static let countShadowVerdicts = Statement(
        "count_shadow_verdicts", .read, PackageResources.count_shadow_verdicts_sql)
    static let listShadowChanges = Statement(
        "list_shadow_changes", .read, PackageResources.list_shadow_changes_sql)
    static let incompleteShadows = Statement(
        "incomplete_shadows", .read, PackageResources.incomplete_shadows_sql)
    static let undecidedByShadow = Statement(
        "undecided_by_shadow", .read, PackageResources.undecided_by_shadow_sql)
    static let recordShadowVerdicts = Statement(
        "record_shadow_verdicts", .write, PackageResources.record_shadow_verdicts_sql)
    static let advanceShadow = Statement(
        "advance_shadow", .write, PackageResources.advance_shadow_sql)
    static let forgetPolicyDecisions = Statement(
        "forget_policy_decisions", .write, PackageResources.forget_policy_decisions_sql)
}
