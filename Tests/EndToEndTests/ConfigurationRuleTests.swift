import Countersign
import Crypto
import Testing

@testable import CountersignMain

@Suite struct `The rules for a service` {
    @Test func `accept a service behind TLS that pushes orders`() {
        #expect(refusal { _ in } == nil)
    }

    @Test(arguments: [
        (change { $0.identity.key = nil }, "identity.key"),
        (change { $0.rp.origins = ["http://localhost:8080"] }, "rp.origins"),
        (change { $0.rp.id = "localhost" }, "rp.id"),
        (change { $0.rp.id = "bank.localhost" }, "rp.id"),
        (change { $0.development = true }, "loopback"),
        (change { $0.payment.instrumentName = "Giro" }, "payment.instrument_icon"),
        (change { $0.payment.instrumentIcon = "https://a/b" }, "payment.instrument_name"),
        (change { $0.payment.origins = ["https://a"] }, "payment.instrument_name"),
        (change { $0.payment.topOrigins = ["https://a"] }, "payment.instrument_name"),
        (
            change {
                $0.payment = .init(
                    instrumentName: "Giro", instrumentIcon: "https://a/b",
                    topOrigins: ["http://localhost"])
            }, "http origin"
        ),
        (change { $0.tls.key = nil }, "tls.key"),
        (change { $0.tls.certificate = nil }, "tls.key"),
        (change { ($0.tls.certificate, $0.tls.key) = (nil, nil) }, "plain_http_allowed"),
        (change { $0.tls.clientCertificate = .required }, "tls.client_ca"),
        (
            change {
                $0.tls.clientCertificate = .off
                $0.tls.clientCA = FilePath(text: "ca")
            }, "tls.client_ca"
        ),
        (
            change {
                ($0.tls.certificate, $0.tls.key) = (nil, nil)
                $0.plainHTTPAllowed = true
                $0.tls.clientCertificate = .required
            }, "tls.certificate"
        ),
        (change { $0.core.signingKey = nil }, "core.signing_key"),
        (change { ($0.core.signingKey, $0.core.signingKeyID) = (nil, nil) }, "core.signing_key"),
        (change { $0.core.certificate = FilePath(text: "c") }, "core.key"),
        (change { $0.core.url = "http://core.bank.example" }, "core.url"),
        (change { $0.core.url = nil }, "core.url"),
        (change { $0.events.url = "http://bank.example/events" }, "events.url"),
        (
            change {
                $0.core = Configuration.Core()
                $0.events.url = "https://bank.example/events"
            }, "events.url"
        ),
        (
            change {
                $0.log.timestampURLs = ["http://tsa.example"]
                $0.log.timestampCA = FilePath(text: "ca")
            }, "log.timestamp_urls"
        ),
        (change { $0.log.timestampURLs = ["https://tsa.example"] }, "log.timestamp_ca"),
        (change { $0.log.timestampCA = FilePath(text: "ca") }, "log.timestamp_urls"),
        (
            change {
                ($0.development, $0.listen.address) = (true, "127.0.0.1")
                ($0.log.key, $0.log.witnessPolicy) = (nil, FilePath(text: "policy"))
            }, "log.key"
        ),
        (change { $0.log.mirror = nil }, "log.mirror or log.witness_policy"),
        (change { $0.promise.key = nil }, "promise.key"),
        (
            change {
                ($0.development, $0.listen.address) = (true, "127.0.0.1")
                ($0.log.key, $0.log.mirror) = (nil, nil)
            }, "log.key"
        ),
        (change { $0.log.oldSignCommand = FilePath(text: "/sign") }, "log.old_verifier_key"),
        (change { $0.log.verifierKey = "k" }, "log.sign_command"),
        (change { $0.failpoint = Failpoint("approve.after-commit") }, "failpoint"),
        (change { $0.failpoint = Failpoint("log.after-sign:9:unled") }, "failpoint"),
        (change { $0.android.package = "com.bank.app" }, "android.certificates"),
        (change { $0.apple.environment = .development }, "apple.environment"),
        (change { $0.android.certificates = [sha256([])] }, "android.package"),
        (change { $0.android.revocationList = FilePath(text: "l") }, "android.package"),
        (change { $0.webauthn.metadata = FilePath(text: "blob") }, "webauthn.metadata_root"),
    ])
    func `refuse what is unsafe or half set`(change: Change, word: String) {
        #expect(refusal(change.body)?.contains(word) == true)
    }

    @Test
    func `let a first key come without a voucher only in development without an identity key`() {
        for isDevelopment in [false, true] {
            for key in [nil, FilePath(text: "identity.pem")] {
                var configuration = Configuration()
                configuration.development = isDevelopment
                configuration.identity.key = key
                let expected = isDevelopment && key == nil
                #expect((configuration.firstEnrolment == .mayBeUnauthorized) == expected)
            }
        }
    }

    @Test func `take the app's passkeys by the certificate that signs it`() throws {
        var configuration = Configuration()
        configuration.rp.origins = ["https://bank.example"]
        configuration.android.certificates = try [
            #require(Digest(Bytes(repeating: 0, count: 32)))
        ]
        let app = "android:apk-key-hash:" + String(repeating: "A", count: 43)
        #expect(configuration.passkeyOrigins == ["https://bank.example", app])
        // Whoever wrote it among the origins too gets it once.
        configuration.rp.origins.append(app)
        #expect(configuration.passkeyOrigins == ["https://bank.example", app])
    }

    @Test(arguments: ["127.0.0.1", "127.8.8.8", "::1"])
    func `let plain HTTP be on loopback`(address: String) {
        #expect(
            refusal {
                ($0.tls.certificate, $0.tls.key) = (nil, nil)
                $0.listen.address = address
            } == nil)
    }

    @Test(arguments: ["0.0.0.0", "10.0.0.1", "::", "::2", "128.0.0.1"])
    func `let plain HTTP be elsewhere only when it is asked for`(address: String) {
        for isAllowed in [false, true] {
            let refusal = refusal {
                ($0.tls.certificate, $0.tls.key) = (nil, nil)
                $0.listen.address = address
                $0.plainHTTPAllowed = isAllowed
            }
            #expect((refusal == nil) == isAllowed)
        }
    }

    @Test func `let a developer on loopback go without the bank's systems`() {
        #expect(
            refusal {
                $0.development = true
                $0.listen.address = "127.0.0.1"
                ($0.tls.certificate, $0.tls.key) = (nil, nil)
                $0.identity.key = nil
                $0.rp.id = "localhost"
                $0.rp.origins = ["http://localhost:8080"]
                $0.core.url = "http://127.0.0.1:9000/orders"
                $0.failpoint = Failpoint("approve.after-commit:3")
            } == nil)
    }

    @Test func `let events be sent where orders are not`() {
        #expect(
            refusal {
                $0.core.url = nil
                $0.events.url = "https://bank.example/events"
            } == nil)
    }

    @Test func `let core banking fetch its orders`() {
        #expect(refusal { $0.core = Configuration.Core() } == nil)
    }

    struct Change: Sendable {
        let body: @Sendable (inout Configuration) -> Void
    }

    private static func change(_ body: @escaping @Sendable (inout Configuration) -> Void) -> Change
    {
        Change(body: body)
    }

    /// What the rules say about a good configuration with one change.
    private func refusal(_ change: (inout Configuration) -> Void) -> String? {
        var configuration = Configuration()
        configuration.listen.address = "10.1.2.3"
        configuration.tls.certificate = FilePath(text: "certificate")
        configuration.tls.key = FilePath(text: "key")
        configuration.rp.id = "bank.example"
        configuration.rp.origins = ["https://bank.example"]
        configuration.identity.key = FilePath(text: "identity")
        configuration.log.key = FilePath(text: "log")
        configuration.log.mirror = FilePath(text: "mirror")
        configuration.promise.key = FilePath(text: "promise")
        configuration.core.url = "https://core.bank.example/orders"
        configuration.core.signingKey = FilePath(text: "signing")
        configuration.core.signingKeyID = "k1"
        change(&configuration)
        do {
            try configuration.checkService()
            return nil
        } catch {
            return error.message
        }
    }
}

@Suite struct `A setting takes` {
    @Test(arguments: [
        ("listen.port", ["0", "65535"], ["65536", "-1", "+1", "1 ", "", "0x10", "٣"]),
        ("database.pool_size", ["1", "256"], ["0", "257"]),
        ("policy.decision_retention_days", ["30", "400", "36500"], ["29", "0", "", "36501"]),
        (
            "events.url", ["https://bank.example/events"],
            ["bank.example", "https://u:p@bank.example"]
        ),
        (
            "log.timestamp_policies", ["1.2.3", "0.1,2.25.1"],
            ["", "1", "3.1", "1.02", "1.2,", "1.2,1.2", "a.b"]
        ),
        (
            "log.timestamp_urls",
            ["https://tsa.example/tsr", "https://a.example,http://127.0.0.1:1"],
            ["", "tsa.example", "https://a.example,", "https://a.example, https://a.example"]
        ),
        ("development", ["true", "false"], ["yes", "1", "True", ""]),
        (
            "listen.address", ["127.0.0.1", "::", "::1", "fe80::1", "1:2:3:4:5:6:7:8"],
            ["localhost", "127.1", "01.2.3.4", "256.1.1.1", "[::1]", "1::2::3", "12345::", "+1::"]
        ),
        ("tls.client_certificate", ["off", "optional", "required"], ["on", ""]),
        (
            "rp.id", ["bank.example", "localhost", "a-b.example"],
            ["Bank.example", "bank..example", "-a.example", "bank.example.", "bank.example:1", ""]
        ),
        (
            "rp.origins",
            [
                "https://bank.example", "https://bank.example:8443, http://localhost:1",
                "android:apk-key-hash:" + String(repeating: "A", count: 43),
            ],
            [
                "http://bank.example", "https://bank.example/", "https://bank.example,",
                "bank.example",
                "https://bank.example:0", "https://user@bank.example",
                "http://localhost.evil.example",
                "android:apk-key-hash:" + String(repeating: "A", count: 42), "",
            ]
        ),
        (
            "payment.instrument_icon",
            [
                "https://bank.example/giro.png", "https://bank.example:8443/a?b#c", DemoHome.icon,
                "data:image/svg+xml;base64,PHN2Zy8+",
                "https://a/" + String(repeating: "x", count: 8182),
            ],
            [
                "", "http://bank.example/a", "https://", "https://user@bank.example/a",
                "https://bank.example/a b", "https://bank.example/\u{E4}",
                "data:text/html;base64,AAAA",
                "data:image/png;base64,", "data:image/png;base64,AAA", "data:image/png,AAAA",
                "javascript:alert(1)", "https://a/" + String(repeating: "x", count: 8183),
            ]
        ),
        ("webauthn.algorithms", ["ES256"], ["", "es256", "ES256,", "ES256,ES256", "RS1"]),
        (
            "android.package", ["com.bank.app", "a.B_1"],
            ["", "app", "com..app", "com.1a", "com.bank-app", "com.bänk"]
        ),
        (
            "android.certificates",
            [
                "", String(repeating: "aB", count: 32),
                Array(repeating: "0F", count: 32).joined(separator: ":") + ", "
                    + String(repeating: "1", count: 64),
            ],
            ["ab", String(repeating: "g", count: 64), String(repeating: "a", count: 64) + ","]
        ),
        (
            "android.patch_level_min", ["0", "202401", "202412"],
            ["202413", "2024", "20240101", "-1"]
        ),
        (
            "apple.app_id", ["ABCDE12345.com.bank.app"],
            ["", "com.bank.app", "abcde12345.com.bank", "ABCDE12345.", "ABCDE12345.a/b"]
        ),
        (
            "evidence.origin", ["log.bank.example/countersign", "bank.example"],
            ["https://bank.example", "bank.example/a b", "bank.example/a+b", "bank.example/", ""]
        ),
        (
            "core.url",
            ["https://core.example/orders?a=1", "http://127.0.0.1:9/", "https://[::1]:1"],
            [
                "ftp://core.example", "https://u:p@core.example", "https://core.example/#a", "core",
                "",
            ]
        ),
        (
            "core.signing_key_id", ["k-1", String(repeating: "a", count: 64)],
            ["k 1", String(repeating: "a", count: 65), ""]
        ),
        (
            "rp.name", ["Bänk & Co", String(repeating: "b", count: 64)],
            ["", "a\u{1}b", String(repeating: "b", count: 65)]
        ),
        (
            "failpoint",
            ["approve.before-load", "delivery.after-push:12", "log.before-commit:3:unled"],
            [
                "", "approve", "approve.before-load:", "approve.before-load:0",
                "approve.before-load:-1", "approve.before-load:1:1", "approve.before-load:+1",
                "approve.before-load:1:unled", "log.before-sign:unled", "log.before-sign:1:led",
            ]
        ),
        ("tls.key", ["/etc/a b.pem"], ["", "a\nb"]),
    ])
    func `what it says`(name: String, good: [String], bad: [String]) throws {
        let setting = try #require(Setting.named(name))
        for text in good {
            var configuration = Configuration()
            #expect(setting.assign(&configuration, text), "\(text)")
        }
        for text in bad {
            var configuration = Configuration()
            #expect(!setting.assign(&configuration, text), "\(text)")
        }
    }
}
