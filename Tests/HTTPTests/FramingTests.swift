import Countersign
import HTTP
import Testing

/// One attack on the framing of a message, and what must come of it.
struct FramingCase: Sendable, CustomTestStringConvertible {
    let name: String
    let bytes: Bytes
    /// The statuses of all answers, in order.
    let statuses: [Int]
    let isClosed: Bool
    /// Whether our problem is the (last) answer, and not the library's bare page.
    let isOurs: Bool

    init(
        _ name: String, _ text: String, _ statuses: [Int], closed: Bool = true, ours: Bool = false
    ) {
        self.name = name
        bytes = Bytes(text.utf8)
        self.statuses = statuses
        isClosed = closed
        isOurs = ours
    }

    var testDescription: String { name }
    var isHead: Bool { bytes.starts(with: "HEAD".utf8) }

    private static let host = "Host: a\r\n"
    private static let json = host + "Content-Type: application/json\r\n"
    private static let body = TestServer.jsonBody
    private static let smuggled = "GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n"

    private static func post(_ fields: String, _ rest: String) -> String {
        "POST /echo HTTP/1.1\r\n\(json)\(fields)\r\n\(rest)"
    }

    private static func get(_ fields: String) -> String {
        "GET /healthz HTTP/1.1\r\n\(fields)\r\n"
    }

    private static let length = "Content-Length: \(body.utf8.count)\r\n"
    private static let chunked = "Transfer-Encoding: chunked\r\n"
    private static let chunkedBody =
        "\(String(body.utf8.count, radix: 16))\r\n\(body)\r\n0\r\n\r\n"

    static let accepted: [FramingCase] = [
        .init("plain GET", get(host), [200], closed: false),
        .init("HTTP/1.0 without Host", "GET /healthz HTTP/1.0\r\n\r\n", [200]),
        .init("chunked body", post(chunked, chunkedBody), [200], closed: false),
        .init("bare LF", "GET /healthz HTTP/1.1\nHost: a\n\n", [200], closed: false),
        .init("folded header", get(host + "X: a\r\n b\r\n"), [200], closed: false),
        .init("GET with a body", get(host + "Content-Length: 0\r\n"), [200], closed: false),
        .init("absolute form", "GET http://a/healthz HTTP/1.1\r\n\(host)\r\n", [200]),
    ]

    static let smuggling: [FramingCase] = [
        .init(
            "TE and CL", post("Content-Length: 5\r\n" + chunked, "0\r\n\r\n" + smuggled), [400]),
        .init(
            "CL covers the next request",
            post(
                "Content-Length: \(5 + smuggled.utf8.count)\r\n" + chunked, "0\r\n\r\n" + smuggled),
            [400]),
        .init(
            "TE: xchunked with CL",
            post("Transfer-Encoding: xchunked\r\nContent-Length: 5\r\n", "0\r\n\r\n" + smuggled),
            [400]),
        .init(
            "TE: chunked, identity",
            post("Transfer-Encoding: chunked, identity\r\n", "0\r\n\r\n" + smuggled), [400]),
        .init(
            "TE: gzip, chunked", post("Transfer-Encoding: gzip, chunked\r\n", chunkedBody), [400],
            ours: true),
        .init(
            "TE twice", post(chunked + chunked, chunkedBody + smuggled), [400]),
        .init(
            "space before the colon of TE",
            post("Transfer-Encoding : chunked\r\nContent-Length: 5\r\n", "0\r\n\r\n" + smuggled),
            [400], ours: true),
        .init("the same CL twice", post(length + length, body + smuggled), [400], ours: true),
        .init(
            "two different CLs", post("Content-Length: 5\r\n" + length, body + smuggled), [400],
            ours: true),
        .init(
            "two different CLs, 0 first",
            post("Content-Length: 0\r\nContent-Length: \(smuggled.utf8.count)\r\n", smuggled),
            [400],
            ours: true),
        .init("CL: 5, 5", post("Content-Length: 5, 5\r\n", "abcde" + smuggled), [400]),
        .init("CL: +5", post("Content-Length: +5\r\n", "abcde" + smuggled), [400], ours: true),
        .init("CL: -5", post("Content-Length: -5\r\n", "abcde" + smuggled), [400]),
        .init("CL: 5abc", post("Content-Length: 5abc\r\n", "abcde" + smuggled), [400]),
        .init("CL: 0x5", post("Content-Length: 0x5\r\n", "abcde" + smuggled), [400]),
        .init(
            "CL beyond 64 bits", post("Content-Length: 99999999999999999999\r\n", "abcde"), [413]),
        .init("chunk size zz", post(chunked, "zz\r\nabc\r\n0\r\n\r\n" + smuggled), [413]),
        .init("chunk size -1", post(chunked, "-1\r\nabc\r\n0\r\n\r\n" + smuggled), [413]),
        .init(
            "chunk size beyond 64 bits",
            post(chunked, "ffffffffffffffffff\r\nabc\r\n0\r\n\r\n" + smuggled), [413]),
        .init(
            "chunk extension", post(chunked, "5;a=b\r\nabcde\r\n0\r\n\r\n" + smuggled), [413]),
        .init(
            "HEAD with a body",
            "HEAD /healthz HTTP/1.1\r\n\(host)Content-Length: \(smuggled.utf8.count)\r\n\r\n"
                + smuggled, [400]),
        .init(
            "TRACE with a body",
            "TRACE /healthz HTTP/1.1\r\n\(host)Content-Length: \(smuggled.utf8.count)\r\n\r\n"
                + smuggled, [400]),
        .init(
            "unknown method with a body",
            "BREW /healthz HTTP/1.1\r\n\(host)Content-Length: \(smuggled.utf8.count)\r\n\r\n"
                + smuggled, [400]),
        .init(
            "unknown method with a chunked body",
            "BREW /healthz HTTP/1.1\r\n\(host)\(chunked)\r\n" + chunkedBody + smuggled, [400]),
        .init(
            "GET with a chunked body", get(host + chunked) + chunkedBody + smuggled, [400]),
        .init(
            "chunked in HTTP/1.0", "POST /echo HTTP/1.0\r\n\(json)\(chunked)\r\n" + chunkedBody,
            [400]),
    ]

    static let heads: [FramingCase] = [
        .init("no Host", get(""), [400], ours: true),
        .init("two Hosts", get("Host: a\r\nHost: b\r\n"), [400], ours: true),
        .init("bare CR in a value", get(host + "X: a\rb\r\n"), [400]),
        .init("NUL in a value", get(host + "X: a\0b\r\n"), [400], ours: true),
        .init("NUL in the path", "GET /heal\0thz HTTP/1.1\r\n\(host)\r\n", [400]),
        .init("DEL in a value", get(host + "X: a\u{7F}b\r\n"), [400], ours: true),
        .init("tab in a value", get(host + "X: a\tb\r\n"), [200], closed: false),
        .init("bytes beyond ASCII in a value", get(host + "X: ä\r\n"), [200], closed: false),
        .init("bytes beyond ASCII in a name", get(host + "Ä: a\r\n"), [400], ours: true),
        .init(
            "bytes beyond ASCII in the path", "GET /ä HTTP/1.1\r\n\(host)\r\n", [400], ours: true),
        .init("line without a colon", get(host + "garbage\r\n"), [400]),
        .init("empty name", get(host + ": b\r\n"), [400]),
        .init("space before the colon", get(host + "X-A : b\r\n"), [400], ours: true),
        .init("space before the first header", get(" X: 1\r\n" + host), [400]),
        .init("HTTP/9.9", "GET /healthz HTTP/9.9\r\n\(host)\r\n", [400]),
        .init("HTTP/1.2", "GET /healthz HTTP/1.2\r\n\(host)\r\n", [400]),
        .init("no version", "GET /healthz\r\n\(host)\r\n", [400]),
        .init("a TLS hello", "\u{16}\u{3}\u{1}\u{2}\u{0}\u{1}\u{0}" + "\r\n\r\n", [400]),
    ]

    static let targets: [FramingCase] = [
        .init("%00 in the path", "GET /healthz%00x HTTP/1.1\r\n\(host)\r\n", [404], closed: false),
        .init(
            "%00 in a parameter", "GET /v1/things/a%00 HTTP/1.1\r\n\(host)\r\n", [404],
            closed: false),
        .init("dot segments", "GET /x/../healthz HTTP/1.1\r\n\(host)\r\n", [404], closed: false),
        .init("doubled slash", "GET //healthz HTTP/1.1\r\n\(host)\r\n", [404], closed: false),
        .init("trailing slash", "GET /healthz/ HTTP/1.1\r\n\(host)\r\n", [404], closed: false),
        .init("escaped letter", "GET /%68ealthz HTTP/1.1\r\n\(host)\r\n", [404], closed: false),
        .init(
            "escaped slash", "GET /v1/things/a%2Fb HTTP/1.1\r\n\(host)\r\n", [404], closed: false),
        .init("OPTIONS *", "OPTIONS * HTTP/1.1\r\n\(host)\r\n", [404], closed: false),
        .init("CONNECT", "CONNECT a:443 HTTP/1.1\r\n\(host)\r\n", [404], closed: false),
        .init("TRACE", "TRACE /healthz HTTP/1.1\r\n\(host)\r\n", [405], closed: false),
        .init("unknown method", "BREW /healthz HTTP/1.1\r\n\(host)\r\n", [405], closed: false),
        .init("lower-case method", "get /healthz HTTP/1.1\r\n\(host)\r\n", [405], closed: false),
        .init("fragment", "GET /healthz#x HTTP/1.1\r\n\(host)\r\n", [200], closed: false),
    ]
}

@Suite struct `What arrives on the wire` {
    @Test(arguments: FramingCase.accepted)
    func `is answered when its framing is beyond doubt`(_ attack: FramingCase) async throws {
        try await run(attack)
    }

    @Test(arguments: FramingCase.smuggling)
    func `is refused when two readers could find different requests in it`(_ attack: FramingCase)
        async throws
    {
        try await run(attack)
    }

    @Test(arguments: FramingCase.heads)
    func `is refused when its head is not well-formed`(_ attack: FramingCase) async throws {
        try await run(attack)
    }

    @Test(arguments: FramingCase.targets)
    func `is not normalised`(_ attack: FramingCase) async throws { try await run(attack) }

    private func run(_ attack: FramingCase) async throws {
        try await withServer { server in
            let port = server.port
            try await blocking {
                let client = try RawClient(port: port)
                client.send(attack.bytes)
                var last: RawResponse?
                for status in attack.statuses {
                    last = try client.response(toHead: attack.isHead)
                    #expect(last?.status == status, "\(attack.name)")
                }
                if attack.isOurs { expectMalformed(last) }
                if attack.isClosed {
                    #expect(try client.restUntilClosed().isEmpty, "\(attack.name)")
                } else {
                    client.send(TestServer.health)
                    #expect(try client.response().status == 200, "\(attack.name)")
                }
            }
        }
    }
}

private func expectMalformed(_ response: RawResponse?) {
    #expect(response?.headers["content-type"] == "application/problem+json")
    #expect(response?.headers["connection"] == "close")
    #expect(response?.headers["cache-control"] == "no-store")
    #expect(
        response?.text.contains(#""type":"https://countersign.dev/problems/malformed-request""#)
            == true)
}
