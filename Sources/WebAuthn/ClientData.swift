import Countersign
import Crypto

/// What the client says it did, as the authenticator signed it. Source: WebAuthn L3 §5.8.1.
struct ClientData {
    enum Ceremony: String {
        case registration = "webauthn.create"
        case assertion = "webauthn.get"
        case payment = "payment.get"
    }

    /// The SHA-256 of the bytes as they came, byte order mark and all: this is what is signed.
    let hash: Bytes
    private let type: String
    private let challenge: String
    let origin: String
    let crossOrigin: Bool
    let topOrigin: String?
    /// What a browser showed; without meaning in every type but `payment.get`.
    let payment: JSON?

    /// The longest client data that is read; browsers write some 200 bytes.
    static let bytesMax = 16_384

    /// Reads the JSON; unknown members may be there, in any order, and are ignored.
    ///
    /// Stricter than the spec: a name that occurs twice is refused, since two parsers may differ on it.
    init(parsing bytes: Bytes) throws(VerificationFailure) {
        guard bytes.count <= Self.bytesMax, let json = SignedJSON.decodeClientData(bytes),
            let type = json["type"]?.text, let challenge = json["challenge"]?.text,
            let origin = json["origin"]?.text
        else { throw .clientDataMalformed }
        self.type = type
        self.challenge = challenge
        self.origin = origin
        switch json["crossOrigin"] {
        // Apple's clients leave it out; WebAuthn L3 §5.8.1 says that means false.
        case nil: crossOrigin = false
        case .bool(let value)?: crossOrigin = value
        default: throw .clientDataMalformed
        }
        switch json["topOrigin"] {
        case nil: topOrigin = nil
        case .string(let text)?: topOrigin = text
        default: throw .clientDataMalformed
        }
        payment = json["payment"]
        hash = sha256(bytes).bytes
    }

    /// Steps 7–11 of registration and 10–14 of assertion, which are the same but for the type.
    func check(
        _ ceremony: Ceremony, challenge expected: Bytes, relyingParty: RelyingParty
    ) throws(VerificationFailure) {
        guard type.utf8.elementsEqual(ceremony.rawValue.utf8) else { throw .typeMismatch }
        // Base64url has one spelling, so comparing the text also refuses padding and other alphabets.
        let expectedText = Bytes(Base64.encodeURL(expected).utf8)
        guard constantTimeEqual(Bytes(challenge.utf8), expectedText) else {
            throw .challengeMismatch
        }
        guard Self.list(relyingParty.origins, contains: origin) else { throw .originMismatch }
        guard !crossOrigin || relyingParty.framing != .refused else {
            throw .crossOriginNotAllowed
        }
        if let topOrigin {
            guard Self.list(relyingParty.framing.topOrigins, contains: topOrigin) else {
                throw .topOriginNotAllowed
            }
        }
    }

    /// Compares code units: for Swift two spellings of one accented letter are equal, for DNS not.
    private static func list(_ allowed: [String], contains origin: String) -> Bool {
        allowed.contains { $0.utf8.elementsEqual(origin.utf8) }
    }
}
