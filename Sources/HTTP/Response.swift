package import Countersign

/// Makes the next part of a body; `nil` after the last. When it fails, the connection is cut off, so that nobody
/// takes a part for the whole.
package typealias BodyParts = @Sendable () async throws(StoreFailure) -> Bytes?

/// One answer. The server adds length, date, request id, caching and connection fields.
package struct Response: Sendable {
    package var status: Int
    package var headers: HeaderFields
    package var body: Bytes
    /// What the body says when this is a problem, so that the server can add the request id to it.
    private(set) var problem: Problem?
    /// Makes the body in place of ``body``, part by part while it is sent.
    package var parts: BodyParts?

    package init(status: Int, headers: HeaderFields = [:], body: Bytes = []) {
        self.status = status
        self.headers = headers
        self.body = body
    }

    /// An answer in JSON.
    package static func json(_ value: JSON, status: Int = 200, headers: HeaderFields = [:])
        -> Response
    {
        var response = Response(status: status, headers: headers, body: value.encoded)
        response.headers.set("Content-Type", "application/json")
        return response
    }

    /// An answer whose body is made while it is sent; one part is in memory at a time.
    package static func streamed(
        contentType: String, headers: HeaderFields = [:], parts: @escaping BodyParts
    ) -> Response {
        var response = Response(status: 200, headers: headers)
        response.headers.set("Content-Type", contentType)
        response.parts = parts
        return response
    }

    init(_ problem: Problem) {
        self.init(status: problem.status, headers: problem.headers, body: problem.json.encoded)
        headers.set("Content-Type", "application/problem+json")
        self.problem = problem
    }

    /// The same answer; a problem that names no instance names the request id.
    func naming(requestID: String) -> Response {
        guard var problem, problem.instance == nil else { return self }
        problem.instance = requestID
        var response = self
        response.problem = problem
        response.body = problem.json.encoded
        return response
    }
}
