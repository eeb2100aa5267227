// The statements of people, their keys, acts and policies, embedded from sql/queries.

extension Statement {
    static let loadPerson = Statement("load_person", .read, PackageResources.load_person_sql)
    static let listPersonKeys = Statement(
        "list_person_keys", .read, PackageResources.list_person_keys_sql)
    static let findPersonKey = Statement(
        "find_person_key", .read, PackageResources.find_person_key_sql)
    static let beginPersonKey = Statement(
        "begin_person_key", .write, PackageResources.begin_person_key_sql)
    static let registerPersonKey = Statement(
        "register_person_key", .write, PackageResources.register_person_key_sql)
    static let spendPersonKeyRegistration = Statement(
        "spend_person_key_registration", .write,
        PackageResources.spend_person_key_registration_sql)
    static let revokePersonKey = Statement(
        "revoke_person_key", .write, PackageResources.revoke_person_key_sql)
    static let peopleWithKeys = Statement(
        "people_with_keys", .read, PackageResources.people_with_keys_sql)
    static let reopenFounding = Statement(
        "reopen_founding", .write, PackageResources.reopen_founding_sql)
    static let policiesAhead = Statement(
        "policies_ahead", .read, PackageResources.policies_ahead_sql)
    static let listPolicies = Statement(
        "list_policies", .read, PackageResources.list_policies_sql)
    static let knowsTimeZone = Statement(
        "knows_time_zone", .read, PackageResources.knows_time_zone_sql)
    static let listActs = Statement("list_acts", .read, PackageResources.list_acts_sql)
    static let listActSignatures = Statement(
        "list_act_signatures", .read, PackageResources.list_act_signatures_sql)
    static let loadActChallenge = Statement(
        "load_act_challenge", .read, PackageResources.load_act_challenge_sql)
    static let createAct = Statement("create_act", .write, PackageResources.create_act_sql)
    static let issueActChallenge = Statement(
        "issue_act_challenge", .write, PackageResources.issue_act_challenge_sql)
    static let failActSignature = Statement(
        "fail_act_signature", .write, PackageResources.fail_act_signature_sql)
    static let signAct = Statement("sign_act", .write, PackageResources.sign_act_sql)
    static let publishPolicy = Statement(
        "publish_policy", .write, PackageResources.publish_policy_sql)
    static let admitPersonKey = Statement(
        "admit_person_key", .write, PackageResources.admit_person_key_sql)
    static let allowImport = Statement(
        "allow_import", .write, PackageResources.allow_import_sql)
    static let endHold = Statement("end_hold", .write, PackageResources.end_hold_sql)
    static let approveAssisted = Statement(
        "approve_assisted", .write, PackageResources.approve_assisted_sql)
    static let findAssistedAction = Statement(
        "find_assisted_action", .read, PackageResources.find_assisted_action_sql)
    static let loadHeldAction = Statement(
        "load_held_action", .read, PackageResources.load_held_action_sql)
    static let refuseAct = Statement("refuse_act", .write, PackageResources.refuse_act_sql)
    static let refuseAssisted = Statement(
        "refuse_assisted", .write, PackageResources.refuse_assisted_sql)
    static let recordRefusedAct = Statement(
        "record_refused_act", .write, PackageResources.record_refused_act_sql)
    static let actionBodyKey = Statement(
        "action_body_key", .read, PackageResources.action_body_key_sql)
    static let withdrawAct = Statement("withdraw_act", .write, PackageResources.withdraw_act_sql)
}
