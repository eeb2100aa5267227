import Delivery
import Testing

@Suite struct `URLs that are signed` {
    @Test(arguments: [
        ("https://core.bank.example/executions", "core.bank.example", "/executions", "?"),
        ("http://127.0.0.1:8080/", "127.0.0.1:8080", "/", "?"),
        ("https://[::1]:8443/a/b?x=1&y=%2F", "[::1]:8443", "/a/b", "?x=1&y=%2F"),
        ("https://example.org?q", "", "", ""),
        ("https://a-b.example/?", "a-b.example", "/", "?"),
    ])
    func `are read in parts and written back`(
        text: String, authority: String, path: String, query: String
    ) {
        let url = HTTPURL(text)
        if authority.isEmpty {
            #expect(url == nil)
            return
        }
        #expect(url?.text == text)
        #expect(url?.authority == authority)
        #expect(url?.path == path)
        #expect(url?.query == query)
    }

    @Test func `may leave out the path`() {
        #expect(HTTPURL("https://example.org")?.text == "https://example.org/")
    }

    @Test(arguments: [
        "", "https://", "https:///x", "HTTPS://a/", "ftp://a/", "//a/", "/x", "https://A/",
        "https://u@a/", "https://u:p@a/", "https://a:443/", "http://a:80/", "https://a:0/",
        "https://a:/", "https://a:08443/", "https://a:65536/", "https://a:+1/", "https://a/#f",
        "https://a/ b", "https://a/\n", "https://a/é", "https://a/%", "https://a/%2",
        "https://a/%zz",
        "https://a/\\b", "https://a\\b/", "https://[::1/", "https://[]/", "https://[::g]/",
        "https://[::A]/", "https://a b/", "https://a%20/", "https://a/{x}",
    ])
    func `are refused in another spelling`(text: String) {
        #expect(HTTPURL(text) == nil, "\(text)")
    }

    @Test func `know this machine`() {
        for host in ["127.0.0.1", "127.255.0.9:80", "localhost:1", "[::1]"] {
            #expect(HTTPURL("https://\(host)/")?.isLoopback == true, "\(host)")
        }
        for host in [
            "127.0.0.1.example", "127.0.0", "127.0.0.256", "127.0.0.01", "128.0.0.1", "127.1",
            "localhost.example", "[::2]", "10.0.0.1", "2130706433", "127.0.0.1.", "xlocalhost",
        ] {
            #expect(HTTPURL("https://\(host)/")?.isLoopback == false, "\(host)")
        }
    }

    @Test func `take further path components of unreserved characters only`() throws {
        let url = try #require(HTTPURL("https://a/x"))
        #expect(url.appending("b", "c-1._~")?.text == "https://a/x/b/c-1._~")
        #expect(HTTPURL("https://a/")?.appending("b")?.text == "https://a/b")
        for component in ["", "a/b", "a?b", "%41", "é"] {
            #expect(url.appending(component) == nil, "\(component)")
        }
        #expect(HTTPURL("https://a/x?y")?.appending("b") == nil)
    }
}
