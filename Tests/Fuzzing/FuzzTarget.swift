import Countersign
import Crypto

@testable import WebAuthn

/// One parser of bytes that a stranger chooses.
enum FuzzTarget: String, CaseIterable {
    case attestationObject = "attestation-object"
    case authenticatorData = "authenticator-data"
    case clientData = "client-data"
    case signature
    case publicKey = "public-key"
    case keyDescription = "key-description"

    /// Feeds the parser; traps when it says something that cannot be true.
    func run(_ input: Bytes) {
        switch self {
        case .attestationObject: FuzzTarget.register(input)
        case .authenticatorData: _ = try? AuthenticatorData(parsing: input)
        case .clientData: FuzzTarget.read(clientData: input)
        case .signature: FuzzTarget.read(signature: input)
        case .publicKey: FuzzTarget.read(publicKey: input)
        case .keyDescription: FuzzTarget.read(keyDescription: input)
        }
    }

    /// The whole ceremony around the object, so that statements of every format are reached.
    private static func register(_ object: Bytes) {
        guard let party = FuzzTarget.party else { return }
        let answer = PasskeyRegistration(
            rawID: [1], clientDataJSON: Fuzz.registrationClientData, attestationObject: object,
            transports: [])
        do throws(VerificationFailure) {
            _ = try RegistrationCeremony.verify(
                response: answer, challenge: Fuzz.challenge, relyingParty: party,
                policy: .service, at: Fuzz.at)
        } catch {}
        _ = try? AppAttestAttestation.verify(
            AppAttestStatement(object: object, keyID: [1]), clientData: [], at: Fuzz.at,
            trust: AppAttestTrust(
                appID: "ABCDE12345.a", environments: [.production], root: AppAttestTrust.appleRoot))
    }

    private static func read(clientData input: Bytes) {
        guard let read = try? ClientData(parsing: input) else { return }
        precondition(read.hash == sha256(input).bytes, "the hash is of the bytes as they came")
    }

    /// What is taken has one spelling.
    private static func read(signature input: Bytes) {
        guard let signature = P256Signature(der: input) else { return }
        precondition(signature.der == input, "a signature has one DER")
        precondition(P256Signature(raw: signature.raw)?.der == input, "and one raw form")
    }

    private static func read(publicKey input: Bytes) {
        if let key = try? P256PublicKey(spki: input) {
            precondition(key.spki == input, "a key has one DER")
        }
        if let key = try? PublicKey(spki: input) {
            precondition(key.spki == input, "a key has one DER")
        }
        guard let text = String(validating: input, as: UTF8.self) else { return }
        if let key = try? P256PublicKey(parsing: text) {
            precondition((try? P256PublicKey(spki: key.spki)) == key, "a key reads back")
        }
    }

    private static func read(keyDescription input: Bytes) {
        guard let description = try? KeyDescription(input) else { return }
        // What is read off must be something that evidence can keep.
        precondition(!description.facts.encoded.isEmpty, "facts have an encoding")
    }

    private static let party: RelyingParty? = try? RelyingParty(
        id: Fuzz.partyID, name: "Bank", origins: [Fuzz.origin], framing: .refused)
}

/// The fixed surroundings of what is fuzzed.
enum Fuzz {
    static let partyID = "bank.example"
    static let origin = "https://bank.example"
    static let challenge = Bytes(repeating: 7, count: 32)
    static let at = Instant(milliseconds: 1_760_000_000_000)
    static let registrationClientData = SoftwareAuthenticator.clientData(
        "webauthn.create", challenge: challenge, origin: origin)
}
