package import Countersign

/// What browsers and phones fetch to learn which pages and apps may use the bank's passkeys.
///
/// Made from the same configuration that assertions are checked against, so that the two cannot differ.
package struct WellKnown: Sendable {
    /// The pages that may use the relying-party ID. Source: WebAuthn L3 §5.11.1.
    package let origins: [String]
    /// The bank's iOS app as `TEAMID.bundle.id`; `nil` when there is none.
    package let appleApp: String?
    /// The bank's Android app; `nil` when there is none.
    package let androidApp: AndroidApp?

    /// An app and the certificates that sign it.
    package struct AndroidApp: Sendable {
        package let package: String
        /// SHA-256 of each certificate.
        package let certificates: [Digest]

        package init(package: String, certificates: [Digest]) {
            self.package = package
            self.certificates = certificates
        }
    }

    package init(origins: [String], appleApp: String?, androidApp: AndroidApp?) {
        self.origins = origins
        self.appleApp = appleApp
        self.androidApp = androidApp
    }

    /// Source: WebAuthn L3 §5.11.1; only web origins can be in it.
    var relatedOrigins: JSON {
        ["origins": .array(origins.filter(Self.isWeb).map { .string($0) })]
    }

    /// Source: Apple, "Supporting associated domains": apps that may use the domain's passkeys.
    var appleAssociation: JSON? {
        appleApp.map { ["webcredentials": ["apps": [.string($0)]]] }
    }

    /// Source: Google, Digital Asset Links: the app may use the domain's credentials.
    var assetLinks: JSON? {
        androidApp.map { app in
            [
                [
                    "relation": ["delegate_permission/common.get_login_creds"],
                    "target": [
                        "namespace": "android_app",
                        "package_name": .string(app.package),
                        "sha256_cert_fingerprints": .array(
                            app.certificates.map { .string(Self.withColons($0.hex)) }),
                    ],
                ]
            ]
        }
    }

    private static func isWeb(_ origin: String) -> Bool {
        origin.hasPrefix("https://") || origin.hasPrefix("http://")
    }

    /// `AB:CD:…`, the only spelling that Android reads.
    private static func withColons(_ digits: String) -> String {
        let digits = Array(digits.uppercased())
        return stride(from: 0, to: digits.count, by: 2)
            .map { String(digits[$0..<min($0 + 2, digits.count)]) }
            .joined(separator: ":")
    }
}

extension APIRoutes {
    /// The files below `/.well-known/`; anybody may read them, and an app that does not exist has none.
    var wellKnownFiles: [Route] {
        [
            file("/.well-known/webauthn", wellKnown.relatedOrigins),
            file("/.well-known/apple-app-site-association", wellKnown.appleAssociation),
            file("/.well-known/assetlinks.json", wellKnown.assetLinks),
        ]
    }

    private func file(_ path: String, _ document: JSON?) -> Route {
        Route(.get, path) { _, _ throws(Problem) in
            guard let document else { throw .notFound }
            return .json(document)
        }
    }
}
