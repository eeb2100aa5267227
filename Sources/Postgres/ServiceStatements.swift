// The statements of evidence, clients and the operator, embedded from sql/queries.

extension Statement {
    static let listEvidence = Statement("list_evidence", .read, PackageResources.list_evidence_sql)
    static let readEvidence = Statement("read_evidence", .read, PackageResources.read_evidence_sql)
    static let readServiceKey = Statement(
        "read_service_key", .read, PackageResources.read_service_key_sql)
    static let ensureServiceSubject = Statement(
        "ensure_service_subject", .write, PackageResources.ensure_service_subject_sql)
    static let recordEvent = Statement("record_event", .write, PackageResources.record_event_sql)
    static let addClient = Statement("add_client", .write, PackageResources.add_client_sql)
    static let importPayee = Statement("import_payee", .write, PackageResources.import_payee_sql)
    static let readImportAct = Statement(
        "read_import_act", .read, PackageResources.read_import_act_sql)
    static let stateInstallation = Statement(
        "state_installation", .write, PackageResources.state_installation_sql)
    static let loadCustomer = Statement("load_customer", .read, PackageResources.load_customer_sql)
    static let everyPolicy = Statement("every_policy", .read, PackageResources.every_policy_sql)
    static let readInstallation = Statement(
        "read_installation", .read, PackageResources.read_installation_sql)
    static let tellInstallation = Statement(
        "tell_installation", .write, PackageResources.tell_installation_sql)
    static let findClientByKey = Statement(
        "find_client_by_key", .read, PackageResources.find_client_by_key_sql)
    static let findClientByCertificate = Statement(
        "find_client_by_certificate", .read, PackageResources.find_client_by_certificate_sql)
}
