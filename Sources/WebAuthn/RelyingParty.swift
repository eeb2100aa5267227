package import Countersign
import Crypto

/// For whom passkeys are made and asked. Source: WebAuthn L3 §4, §5.4.2, §13.5.9.
package struct RelyingParty: Hashable, Sendable {
    /// The RP ID: a domain such as `bank.example`. Its hash is in everything that is signed.
    package let id: String
    /// A name for people, shown by the client when a passkey is made.
    package let name: String
    /// Exactly these origins may ask: `https://` sites, and `android:apk-key-hash:` of the bank's apps.
    package let origins: [String]
    /// Whether the ceremony may run in a frame of another site.
    package let framing: Framing

    /// What is taken of a ceremony in a frame of another site. Source: WebAuthn L3 §5.8.1, §13.4.2.
    package enum Framing: Hashable, Sendable {
        case refused
        /// A client that names the page around the frame must name one of these.
        case allowed(in: [String])

        /// The pages in which an origin may be framed.
        var topOrigins: [String] {
            switch self {
            case .refused: []
            case .allowed(let origins): origins
            }
        }
    }

    /// The longest ID, origin or name, in UTF-8 units.
    package static let unitsMax = 512

    /// Checks the shape; whether an origin belongs to the ID is the bank's to say.
    ///
    /// - Throws: ``InvalidValue`` when the ID is no lower-case domain, or there is no origin, or a text
    ///   is empty or too long.
    package init(
        id: String, name: String, origins: [String], framing: Framing
    ) throws(InvalidValue) {
        let isDomain = id.utf8.allSatisfy {
            switch $0 {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"),
                UInt8(ascii: "-"), UInt8(ascii: "."):
                true
            default: false
            }
        }
        guard isDomain else {
            throw InvalidValue("rp_id", "The relying-party ID must be a domain in lower case.")
        }
        let texts = [id, name] + origins + framing.topOrigins
        guard !origins.isEmpty, texts.allSatisfy(Self.isBounded) else {
            throw InvalidValue(
                "relying_party", "The relying party needs an ID, a name and at least one origin.")
        }
        self.id = id
        self.name = name
        self.origins = origins
        self.framing = framing
    }

    /// The origin of the Android apps that are signed with a certificate (WX-09).
    ///
    /// - Parameter fingerprint: The SHA-256 of the certificate.
    /// - Returns: `android:apk-key-hash:` and the hash in base64url.
    package static func androidOrigin(fingerprint: Digest) -> String {
        "android:apk-key-hash:" + Base64.encodeURL(fingerprint.bytes)
    }

    /// The SHA-256 of the ID, which the authenticator signs.
    var idHash: Bytes { sha256(Bytes(id.utf8)).bytes }

    private static func isBounded(_ text: String) -> Bool {
        !text.isEmpty && text.utf8.count <= unitsMax && !text.utf8.contains(0)
    }
}
