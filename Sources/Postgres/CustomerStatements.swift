// The statements of payees' removal, of recovery and of the feed of events, embedded from sql/queries.

extension Statement {
    static let loadPayeeRemoval = Statement(
        "load_payee_removal", .read, PackageResources.load_payee_removal_sql)
    static let removePayee = Statement("remove_payee", .write, PackageResources.remove_payee_sql)
    static let loadRecovery = Statement("load_recovery", .read, PackageResources.load_recovery_sql)
    static let recoverCustomer = Statement(
        "recover_customer", .write, PackageResources.recover_customer_sql)
    static let recordRefusedRecovery = Statement(
        "record_refused_recovery", .write, PackageResources.record_refused_recovery_sql)
    static let placeEvents = Statement("place_events", .write, PackageResources.place_events_sql)
    static let listEvents = Statement("list_events", .read, PackageResources.list_events_sql)
}
