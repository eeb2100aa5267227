package import Countersign

/// A refusal or failure as callers see it. Source: RFC 9457.
///
/// A handler throws it or returns its ``response``; the server fills in the instance.
package struct Problem: Error, Sendable, Equatable {
    /// One thing that is wrong with the request.
    package struct Fault: Sendable, Equatable {
        /// A JSON pointer into the request's body (RFC 6901), such as `/transfer/amount`.
        package let pointer: String
        /// A stable, lower-case word for programs.
        package let code: String
        /// One sentence for a person, without the refused value.
        package let detail: String

        package init(pointer: String, code: String, detail: String) {
            self.pointer = pointer
            self.code = code
            self.detail = detail
        }
    }

    /// What every `type` begins with; the slug follows.
    package static let typeBase = "https://countersign.dev/problems/"

    /// The last part of `type`; stable. Source: `docs/api.md` §7.
    package let slug: String
    package let title: String
    package let status: Int
    package var detail: String?
    /// The request id; `nil` until the server fills it in.
    package var instance: String?
    package var errors: [Fault]
    /// Further members, such as `until` of `customer-locked`.
    package var members: [JSON.Member]
    /// Further header fields, such as `Retry-After`.
    package var headers: HeaderFields

    package init(
        _ slug: String, status: Int, title: String, detail: String? = nil, errors: [Fault] = [],
        members: [JSON.Member] = [], headers: HeaderFields = [:]
    ) {
        self.slug = slug
        self.title = title
        self.status = status
        self.detail = detail
        self.errors = errors
        self.members = members
        self.headers = headers
    }

    /// The answer that says this.
    package var response: Response { Response(self) }

    /// The body, with the members in the order of `docs/api.md` §7.
    package var json: JSON {
        var all: [JSON.Member] = [
            .init("type", .string(Problem.typeBase + slug)), .init("title", .string(title)),
            .init("status", .integer(Int64(status))),
        ]
        if let detail { all.append(.init("detail", .string(detail))) }
        if let instance { all.append(.init("instance", .string(instance))) }
        if !errors.isEmpty {
            let faults = errors.map { fault -> JSON in
                [
                    "pointer": .string(fault.pointer), "code": .string(fault.code),
                    "detail": .string(fault.detail),
                ]
            }
            all.append(.init("errors", .array(faults)))
        }
        return .object(all + members)
    }
}

/// The problems that HTTP itself causes, before any use case is asked.
extension Problem {
    /// 400: not readable as a request of this API.
    package static func malformedRequest(_ detail: String, errors: [Fault] = []) -> Problem {
        Problem(
            "malformed-request", status: 400, title: "Malformed request", detail: detail,
            errors: errors)
    }

    /// 404: no such path, or no such thing under it.
    package static let notFound = Problem("not-found", status: 404, title: "Not found")

    /// 405, with the methods that the path does take.
    package static func methodNotAllowed(allow: String) -> Problem {
        Problem(
            "method-not-allowed", status: 405, title: "Method not allowed",
            headers: ["Allow": allow])
    }

    /// 413, with the limit.
    package static func payloadTooLarge(bytesMax: Int) -> Problem {
        Problem(
            "payload-too-large", status: 413, title: "Payload too large",
            detail: "The body may have at most \(bytesMax) bytes.")
    }

    /// 415: the body is not `application/json` in UTF-8.
    package static let unsupportedMediaType = Problem(
        "unsupported-media-type", status: 415, title: "Unsupported media type",
        detail: "The body must be application/json in UTF-8, without a content coding.")
}
