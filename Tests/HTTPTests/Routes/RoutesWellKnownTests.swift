import Countersign
import HTTP
import Testing

@Suite struct `The files below the well-known path` {
    private func get(_ name: String, _ wellKnown: WellKnown) async throws -> APIAnswer? {
        var api = FakeAPI()
        api.wellKnown = wellKnown
        var answer: APIAnswer?
        try await api.serve { api async throws in
            answer = try await api.get("/.well-known/\(name)", as: nil)
        }
        return answer
    }

    @Test func `tell browsers which pages share the passkeys, and no app's origin`() async throws {
        let wellKnown = WellKnown(
            origins: ["https://bank.example", "android:apk-key-hash:x", "https://bank.test"],
            appleApp: nil, androidApp: nil)
        let answer = try await get("webauthn", wellKnown)
        #expect(answer?.status == 200)
        #expect(answer?.headers["content-type"] == "application/json")
        #expect(answer?.json == ["origins": ["https://bank.example", "https://bank.test"]])
    }

    @Test func `tell iOS which app may use them`() async throws {
        let wellKnown = WellKnown(
            origins: [], appleApp: "ABCDE12345.com.bank.app", androidApp: nil)
        let answer = try await get("apple-app-site-association", wellKnown)
        #expect(answer?.headers["content-type"] == "application/json")
        #expect(answer?.json == ["webcredentials": ["apps": ["ABCDE12345.com.bank.app"]]])
    }

    @Test func `tell Android which app, signed by which certificates, may use them`() async throws {
        let certificate = try #require(Digest(Bytes(repeating: 0x0A, count: 32)))
        let wellKnown = WellKnown(
            origins: [], appleApp: nil,
            androidApp: .init(package: "com.bank.app", certificates: [certificate]))
        let answer = try await get("assetlinks.json", wellKnown)
        let link: JSON = [
            "relation": ["delegate_permission/common.get_login_creds"],
            "target": [
                "namespace": "android_app", "package_name": "com.bank.app",
                "sha256_cert_fingerprints": [
                    .string(Array(repeating: "0A", count: 32).joined(separator: ":"))
                ],
            ],
        ]
        #expect(answer?.json == [link])
    }

    @Test(arguments: ["apple-app-site-association", "assetlinks.json"])
    func `do not exist for an app that does not`(name: String) async throws {
        let answer = try await get(name, WellKnown(origins: [], appleApp: nil, androidApp: nil))
        #expect(answer?.status == 404)
        #expect(answer?.slug == "not-found")
    }
}
