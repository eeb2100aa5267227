// The statements of actions, embedded from sql/queries.

extension Statement {
    /// All that a decision looks at; the four of a flow are also run by the benchmark.
    package static let loadDecision = Statement(
        "load_decision", .read, PackageResources.load_decision_sql)
    /// What a creation looks at.
    package static let loadCreation = Statement(
        "load_creation", .read, PackageResources.load_creation_sql)
    static let ensureCustomer = Statement(
        "ensure_customer", .write, PackageResources.ensure_customer_sql)
    /// Stores an action with its challenge.
    package static let createAction = Statement(
        "create_action", .write, PackageResources.create_action_sql)
    static let issueChallenge = Statement(
        "issue_challenge", .write, PackageResources.issue_challenge_sql)
    /// The approving transaction.
    package static let approveAction = Statement(
        "approve_action", .write, PackageResources.approve_action_sql)
    static let rejectAction = Statement(
        "reject_action", .write, PackageResources.reject_action_sql)
    static let refuseAction = Statement(
        "refuse_action", .write, PackageResources.refuse_action_sql)
    static let recordFailure = Statement(
        "record_failure", .write, PackageResources.record_failure_sql)
    static let recordTampering = Statement(
        "record_tampering", .write, PackageResources.record_tampering_sql)
    static let cancelAction = Statement(
        "cancel_action", .write, PackageResources.cancel_action_sql)
    static let barrier = Statement("barrier", .write, PackageResources.barrier_sql)
    static let passkeys = Statement("passkeys", .read, PackageResources.passkeys_sql)
    static let readAction = Statement("read_action", .read, PackageResources.read_action_sql)
    static let listActions = Statement("list_actions", .read, PackageResources.list_actions_sql)
    static let listPayees = Statement("list_payees", .read, PackageResources.list_payees_sql)
    static let policyHistory = Statement(
        "policy_history", .read, PackageResources.policy_history_sql)
    static let activePolicy = Statement("active_policy", .read, PackageResources.active_policy_sql)
}
