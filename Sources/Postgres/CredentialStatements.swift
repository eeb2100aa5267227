// The statements of credentials and enrolments, embedded from sql/queries.

extension Statement {
    static let loadEnrolmentOpening = Statement(
        "load_enrolment_opening", .read, PackageResources.load_enrolment_opening_sql)
    static let beginEnrolment = Statement(
        "begin_enrolment", .write, PackageResources.begin_enrolment_sql)
    static let loadEnrolment = Statement(
        "load_enrolment", .read, PackageResources.load_enrolment_sql)
    static let beginEnrolmentAuthorization = Statement(
        "begin_enrolment_authorization", .write,
        PackageResources.begin_enrolment_authorization_sql)
    static let enrolCredential = Statement(
        "enrol_credential", .write, PackageResources.enrol_credential_sql)
    static let spendEnrolment = Statement(
        "spend_enrolment", .write, PackageResources.spend_enrolment_sql)
    static let listCredentials = Statement(
        "list_credentials", .read, PackageResources.list_credentials_sql)
    static let loadCredentialRevocation = Statement(
        "load_credential_revocation", .read, PackageResources.load_credential_revocation_sql)
    static let revokeCredential = Statement(
        "revoke_credential", .write, PackageResources.revoke_credential_sql)
}
