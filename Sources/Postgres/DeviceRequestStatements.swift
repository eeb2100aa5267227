// The statements of signed requests, embedded from sql/queries.

extension Statement {
    static let loadDeviceRequest = Statement(
        "load_device_request", .read, PackageResources.load_device_request_sql)
    static let acceptDeviceRequest = Statement(
        "accept_device_request", .write, PackageResources.accept_device_request_sql)
    static let recordDeviceRequestReplay = Statement(
        "record_device_request_replay", .write, PackageResources.record_device_request_replay_sql)
    static let setRequestSigning = Statement(
        "set_request_signing", .write, PackageResources.set_request_signing_sql)
    static let forgetDeviceRequests = Statement(
        "forget_device_requests", .write, PackageResources.forget_device_requests_sql)
}
