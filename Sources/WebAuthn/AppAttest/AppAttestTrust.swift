package import Crypto

/// Which app an App Attest statement must be of, and by whom it must be signed.
package struct AppAttestTrust: Sendable {
    /// Which of Apple's two services made the key. Source: AA-08.
    package enum Environment: String, CaseIterable, Sendable {
        case production
        case development

        /// What stands in the place of an authenticator's model, 16 bytes.
        var model: [UInt8] {
            switch self {
            case .production: Array("appattest".utf8) + Array(repeating: 0, count: 7)
            case .development: Array("appattestdevelop".utf8)
            }
        }
    }

    /// `TEAMID.bundle.id`.
    package let appID: String
    /// The services whose keys are taken; in production only that of production.
    package let environments: Set<Environment>
    /// The certificate that every chain must reach; ``appleRoot`` but in tests.
    package let root: Certificate

    /// Takes every part; none has a default.
    package init(appID: String, environments: Set<Environment>, root: Certificate) {
        self.appID = appID
        self.environments = environments
        self.root = root
    }

    /// "Apple App Attestation Root CA", P-384, valid to 2045. Source: Apple, "Apple PKI"; AA-01.
    package static let appleRoot: Certificate = {
        do {
            return try Certificate(pem: appleRootPEM)
        } catch {
            preconditionFailure("the pinned root is a certificate")
        }
    }()
}

private let appleRootPEM = """
    -----BEGIN CERTIFICATE-----
    MIICITCCAaegAwIBAgIQC/O+DvHN0uD7jG5yH2IXmDAKBggqhkjOPQQDAzBSMSYw
    JAYDVQQDDB1BcHBsZSBBcHAgQXR0ZXN0YXRpb24gUm9vdCBDQTETMBEGA1UECgwK
    QXBwbGUgSW5jLjETMBEGA1UECAwKQ2FsaWZvcm5pYTAeFw0yMDAzMTgxODMyNTNa
    Fw00NTAzMTUwMDAwMDBaMFIxJjAkBgNVBAMMHUFwcGxlIEFwcCBBdHRlc3RhdGlv
    biBSb290IENBMRMwEQYDVQQKDApBcHBsZSBJbmMuMRMwEQYDVQQIDApDYWxpZm9y
    bmlhMHYwEAYHKoZIzj0CAQYFK4EEACIDYgAERTHhmLW07ATaFQIEVwTtT4dyctdh
    NbJhFs/Ii2FdCgAHGbpphY3+d8qjuDngIN3WVhQUBHAoMeQ/cLiP1sOUtgjqK9au
    Yen1mMEvRq9Sk3Jm5X8U62H+xTD3FE9TgS41o0IwQDAPBgNVHRMBAf8EBTADAQH/
    MB0GA1UdDgQWBBSskRBTM72+aEH/pwyp5frq5eWKoTAOBgNVHQ8BAf8EBAMCAQYw
    CgYIKoZIzj0EAwMDaAAwZQIwQgFGnByvsiVbpTKwSga0kP0e8EeDS4+sQmTvb7vn
    53O5+FRXgeLhpJ06ysC5PrOyAjEAp5U4xDgEgllF7En3VcE3iexZZtKeYnpqtijV
    oyFraWVIyd/dganmrduC1bmTBGwD
    -----END CERTIFICATE-----
    """
