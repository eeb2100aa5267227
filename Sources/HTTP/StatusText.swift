/// Reason phrases of the statuses that this service answers. Source: RFC 9110 §15.
enum StatusText {
    static func phrase(for status: Int) -> String {
        phrases[status] ?? "Status"
    }

    private static let phrases: [Int: String] = [
        200: "OK", 201: "Created", 202: "Accepted", 204: "No Content", 304: "Not Modified",
        400: "Bad Request", 401: "Unauthorized", 403: "Forbidden", 404: "Not Found",
        405: "Method Not Allowed", 406: "Not Acceptable", 408: "Request Timeout", 409: "Conflict",
        410: "Gone", 412: "Precondition Failed", 413: "Content Too Large",
        415: "Unsupported Media Type", 422: "Unprocessable Content", 423: "Locked",
        428: "Precondition Required", 429: "Too Many Requests", 500: "Internal Server Error",
        501: "Not Implemented", 503: "Service Unavailable",
    ]
}
