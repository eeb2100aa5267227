import Countersign
import Crypto
import Testing

@testable import WebAuthn

/// A valid ceremony; each test changes the one thing that it is about.
struct Fixture {
    static let origin = "https://bank.example"
    static let userHandle = Bytes("customer".utf8)

    let challenge = EntropySource.openSSL(32)
    let authenticator: SoftwareAuthenticator
    let relyingParty: RelyingParty
    var policy = VerifierPolicy.service
    var instant = Fixture.at
    static let at = Instant(milliseconds: 1_800_000_000_000)
    private let keys = PasskeyKeys(keysMax: 4)

    init(
        origins: [String] = [origin], framing: RelyingParty.Framing = .refused
    ) throws {
        relyingParty = try RelyingParty(
            id: "bank.example", name: "Bank", origins: origins, framing: framing)
        authenticator = try SoftwareAuthenticator.create(
            relyingPartyID: "bank.example", entropy: .openSSL)
    }

    // MARK: Parts

    /// Client data with members changed or added; a `nil` value takes one away.
    func clientData(_ type: String, _ changes: [String: JSON?] = [:]) -> Bytes {
        var members: [JSON.Member] = [
            JSON.Member("type", .string(type)),
            JSON.Member("challenge", .string(Base64.encodeURL(challenge))),
            JSON.Member("origin", .string(Self.origin)),
            JSON.Member("crossOrigin", .bool(false)),
        ]
        for (name, value) in changes {
            members.removeAll { $0.name == name }
            if let value { members.append(JSON.Member(name, value)) }
        }
        return JSON.object(members).encoded
    }

    func data(_ flags: AuthenticatorFlags, signCount: UInt32 = 0) -> Bytes {
        authenticator.authenticatorData(flags: flags, signCount: signCount)
    }

    /// Authenticator data of a registration.
    func newData(_ flags: AuthenticatorFlags = [.userPresent, .userVerified]) -> Bytes {
        data(flags.union(.attestedCredential)) + authenticator.attestedCredential
    }

    /// Authenticator data of a registration with another key than the authenticator's.
    func newData(key: CBOR) -> Bytes {
        let id = authenticator.credentialID
        return data([.userPresent, .userVerified, .attestedCredential])
            + SoftwareAuthenticator.aaguid + [0, UInt8(id.count)] + id + key.encoded
    }

    func stored(
        signCount: UInt32 = 0, backupEligible: Bool = false, credentialID: Bytes? = nil,
        key: Bytes? = nil
    ) -> StoredPasskey {
        StoredPasskey(
            credentialID: credentialID ?? authenticator.credentialID,
            key: key ?? authenticator.key.publicKey.spki, signCount: signCount,
            backupEligible: backupEligible, userHandle: Self.userHandle)
    }

    func registration(clientData: Bytes? = nil, data: Bytes? = nil) -> PasskeyRegistration {
        authenticator.register(
            clientDataJSON: clientData ?? self.clientData("webauthn.create"),
            authenticatorData: data ?? newData())
    }

    func assertion(
        clientData: Bytes? = nil, data: Bytes? = nil, userHandle: Bytes? = userHandle
    ) throws -> PasskeyAssertion {
        try authenticator.assert(
            clientDataJSON: clientData ?? self.clientData("webauthn.get"),
            authenticatorData: data ?? self.data([.userPresent, .userVerified]),
            userHandle: userHandle)
    }

    // MARK: Verdicts

    /// Why it is refused; `nil` when it is believed.
    func refusal(_ response: PasskeyRegistration) -> VerificationFailure? {
        do {
            _ = try RegistrationCeremony.verify(
                response: response, challenge: challenge, relyingParty: relyingParty,
                policy: policy, at: instant)
            return nil
        } catch {
            return error
        }
    }

    /// Why it is refused; `nil` when it is believed.
    func refusal(
        _ assertion: PasskeyAssertion, _ stored: StoredPasskey? = nil
    ) -> VerificationFailure? {
        do {
            _ = try AssertionCeremony.verify(
                assertion, challenge: challenge, credential: stored ?? self.stored(),
                relyingParty: relyingParty, policy: policy, keys: keys)
            return nil
        } catch {
            return error
        }
    }
}
