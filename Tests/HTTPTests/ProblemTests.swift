import Countersign
import Testing

@testable import HTTP

@Suite struct `A problem` {
    private func text(_ response: Response) -> String {
        String(decoding: response.body, as: UTF8.self)
    }

    @Test func `says type, title and status`() {
        let response = Problem.notFound.response
        #expect(response.status == 404)
        #expect(response.headers.all("content-type") == ["application/problem+json"])
        let body =
            #"{"type":"https://countersign.dev/problems/not-found","title":"Not found","#
            + #""status":404}"#
        #expect(text(response) == body)
    }

    @Test func `says everything in the documented order`() {
        var problem = Problem(
            "invalid-action", status: 422, title: "Invalid", detail: "No.",
            errors: [.init(pointer: "/transfer/amount", code: "amount_decimals", detail: "Two.")],
            members: [.init("until", "2026-01-01T00:00:00Z")], headers: ["Retry-After": "3"])
        problem.instance = "r-1"
        let body =
            #"{"type":"https://countersign.dev/problems/invalid-action","title":"Invalid","#
            + #""status":422,"detail":"No.","instance":"r-1","errors":[{"pointer":"#
            + #""/transfer/amount","code":"amount_decimals","detail":"Two."}],"#
            + #""until":"2026-01-01T00:00:00Z"}"#
        #expect(text(problem.response) == body)
        #expect(problem.response.headers.first("retry-after") == "3")
    }

    @Test func `gets the request id as its instance, unless it has one`() {
        #expect(
            text(Problem.notFound.response.naming(requestID: "r-2"))
                .contains(#""instance":"r-2""#))
        var named = Problem.notFound
        named.instance = "other"
        #expect(
            text(named.response.naming(requestID: "r-2")).contains(#""instance":"other""#))
    }

    @Test func `keeps header fields that were added to its answer`() {
        var response = Problem.notFound.response
        response.headers.set("WWW-Authenticate", "Bearer")
        #expect(response.naming(requestID: "r").headers.first("www-authenticate") == "Bearer")
    }

    @Test func `an answer that is none is left alone`() {
        let response = Response.json(["a": "b"]).naming(requestID: "r-2")
        #expect(text(response) == #"{"a":"b"}"#)
    }
}
