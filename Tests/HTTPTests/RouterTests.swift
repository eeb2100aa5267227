import Countersign
import Testing

@testable import HTTP

@Suite struct `Finding a route` {
    private static func echo(_ name: String) -> Route.Handler {
        { _, parameters in
            .json(["route": .string(name), "parameters": .string("\(parameters)")])
        }
    }

    private let metrics = Metrics()
    private let router: Router

    init() {
        let refusing: Route.Handler = { _, _ throws(Problem) in throw .notFound }
        router = Router(
            [
                Route(.get, "/v1/actions", Self.echo("list")),
                Route(.post, "/v1/actions", Self.echo("create")),
                Route(.get, "/v1/actions/{id}") { _, parameters in
                    .json(["id": .string(parameters["id"])])
                },
                Route(.get, "/v1/actions/latest", Self.echo("latest")),
                Route(.post, "/v1/actions/{id}/approve", refusing),
                Route(.get, "/v1/customers/{customer}/credentials/{credential}") { _, parameters in
                    let ids = parameters["customer"] + " " + parameters["credential"]
                    return .json(["ids": .string(ids)])
                },
            ], metrics: metrics)
    }

    private func answer(
        _ method: HTTP.Method, _ path: String, headers: HeaderFields = [:], body: String = ""
    ) async -> Response {
        await router.respond(
            to: Request(
                method: method, path: path, headers: headers, body: Bytes(body.utf8), id: "r"))
    }

    private func text(_ response: Response) -> String {
        String(decoding: response.body, as: UTF8.self)
    }

    @Test func `takes the handler of method and path`() async {
        #expect(text(await answer(.get, "/v1/actions")).contains("list"))
        #expect(text(await answer(.post, "/v1/actions")).contains("create"))
    }

    @Test func `prefers a literal to a parameter`() async {
        #expect(text(await answer(.get, "/v1/actions/latest")).contains("latest"))
        #expect(text(await answer(.get, "/v1/actions/lates")) == #"{"id":"lates"}"#)
    }

    @Test func `hands over every parameter`() async {
        let response = await answer(.get, "/v1/customers/c-1/credentials/k-2")
        #expect(text(response) == #"{"ids":"c-1 k-2"}"#)
    }

    @Test(arguments: [
        ("a%20b", "a b"), ("%C3%A4", "ä"), ("a%2Bb+c", "a+b+c"), ("%2561", "%61"), ("a:b", "a:b"),
        ("...", "..."),
    ])
    func `decodes a parameter once`(_ sent: String, _ expected: String) async {
        let response = await answer(.get, "/v1/actions/\(sent)")
        #expect(text(response) == #"{"id":"\#(expected)"}"#)
    }

    @Test(arguments: [
        "/v1/actions/%00", "/v1/actions/a%00b", "/v1/actions/%FF", "/v1/actions/%C3",
        "/v1/actions/%", "/v1/actions/%2", "/v1/actions/%zz", "/v1/actions/a%2Fb",
        "/v1/actions/a%5Cb", "/v1/actions/%2e%2E", "/v1/actions/.", "/v1/actions/..",
        "/v1/actions/", "/v1/actions//approve", "//v1/actions", "/v1//actions", "/v1/actions/a/b",
        "/V1/actions", "/v1/action%73", "/v1/./actions", "/v1/x/../actions", "", "v1/actions", "*",
        "/", "/v1/actions/%0A", "/v1/actions/%7F",
    ])
    func `is 404 for every other path`(_ path: String) async {
        let response = await answer(.get, path)
        #expect(response.status == 404)
        #expect(text(response).contains("/problems/not-found"))
    }

    @Test func `is 405 for another method, and says which are allowed`() async {
        let response = await answer(.delete, "/v1/actions")
        #expect(response.status == 405)
        #expect(response.headers.first("Allow") == "GET, HEAD, POST")
        #expect(text(response).contains("/problems/method-not-allowed"))
        #expect(await answer(.get, "/v1/actions/a/approve").headers.first("allow") == "POST")
        #expect(await answer(.other, "/v1/actions").status == 405)
    }

    @Test func `lets HEAD be answered by GET, and nothing else`() async {
        #expect(await answer(.head, "/v1/actions").status == 200)
        #expect(await answer(.head, "/v1/actions/a/approve").status == 405)
    }

    @Test(arguments: [
        "application/json", "application/json; charset=utf-8", "Application/JSON;charset=\"UTF-8\"",
        "application/json ; version=1", "application/json;charset=UTF-8; a=b",
    ])
    func `takes a body in JSON`(_ type: String) async {
        let headers: HeaderFields = ["content-type": type]
        #expect(await answer(.post, "/v1/actions", headers: headers, body: "{}").status == 200)
    }

    @Test(
        arguments: [
            [:], ["content-type": "text/plain"], ["content-type": "application/jsonp"],
            ["content-type": "application/json; charset=latin-1"],
            ["content-type": "application/json; charset"], ["content-type": ""],
            ["content-type": "application/problem+json"],
            ["content-type": "application/json", "Content-Type": "text/plain"],
            ["content-type": "application/json", "content-encoding": "gzip"],
        ] as [HeaderFields])
    func `is 415 for a body that is not JSON`(_ headers: HeaderFields) async {
        let response = await answer(.post, "/v1/actions", headers: headers, body: "{}")
        #expect(response.status == 415)
        #expect(text(response).contains("/problems/unsupported-media-type"))
    }

    @Test func `asks for no media type where there is no body`() async {
        #expect(await answer(.post, "/v1/actions").status == 200)
    }

    @Test func `answers a thrown problem as it stands`() async {
        #expect(await answer(.post, "/v1/actions/a/approve").status == 404)
    }

    @Test func `counts by pattern, never by path`() async {
        _ = await answer(.get, "/v1/actions/secret-id")
        _ = await answer(.post, "/v1/actions/secret-id/approve")
        _ = await answer(.get, "/secret-path")
        let text = String(decoding: metrics.render(), as: UTF8.self)
        #expect(!text.contains("secret"))
        let name = "countersign_http_requests_total"
        #expect(text.contains(#"\#(name){route="/v1/actions/{id}",status="2xx"} 1"#))
        #expect(text.contains(#"\#(name){route="/v1/actions/{id}/approve",status="4xx"} 1"#))
        #expect(text.contains(#"\#(name){route="none",status="4xx"} 1"#))
        #expect(
            text.contains(
                #"countersign_http_request_seconds_count{route="/v1/actions/{id}",status="2xx"} 1"#)
        )
    }

    @Test func `refuses two handlers for one method and pattern`() async {
        await #expect(processExitsWith: .failure) {
            let route = Route(.get, "/a") { _, _ in Response(status: 200) }
            _ = Router([route, route], metrics: Metrics())
        }
    }
}
