import Countersign
import Crypto
import TestSupport
import Testing
import WebAuthn

/// A transfer that a browser showed as it was offered; each test changes the one thing that it is about.
struct PaymentFixture {
    let message: Bytes
    private let authenticator: SoftwareAuthenticator
    private let relyingParty: RelyingParty
    private let payments: PaymentParty?
    private let request: JSON

    /// A message about any content; what was shown is a transfer all the same.
    init(
        _ content: ActionContent? = nil, decision: SignedDecision = .approve,
        payments: PaymentParty? = nil
    ) throws {
        try self.init(
            Fixtures.message(content ?? Fixtures.transfer(), decision: decision).bytes,
            payments: payments ?? Fixtures.payments())
    }

    init(_ message: Bytes, payments: PaymentParty?) throws {
        self.message = message
        self.payments = payments
        relyingParty = try RelyingParty(
            id: Fixtures.audience, name: "Bank", origins: [Fixtures.origin], framing: .refused)
        authenticator = try .create(relyingPartyID: Fixtures.audience, entropy: .openSSL)
        // What the message says, or some transfer when it says none.
        let content =
            try SignedMessage(decoding: message)?.content ?? Fixtures.transfer()
        let shown: Transfer
        switch content {
        case .transfer(let transfer): shown = transfer
        case .newPayee, .contactChange, .limitChange:
            guard case .transfer(let transfer) = try Fixtures.transfer() else {
                throw InvalidValue("transfer", "The fixture is no transfer.")
            }
            shown = transfer
        }
        request = try Fixtures.paymentRequest(
            shown, sha256(message), [authenticator.credentialID], Seconds(300))
    }

    /// What Chromium writes, with members replaced, added, or for `nil` removed, by path.
    func clientData(
        _ changes: [String: JSON?] = [:], browserBoundKey: P256PublicKey? = nil
    ) -> JSON {
        let shown = SoftwareAuthenticator.paymentClientData(
            request, origin: Fixtures.origin, browserBoundKey: browserBoundKey)
        return changes.reduce(shown) { $0.setting($1.key, to: $1.value) }
    }

    func data(_ flags: AuthenticatorFlags = [.userPresent, .userVerified]) -> Bytes {
        authenticator.authenticatorData(flags: flags, signCount: 0)
    }

    func confirmed(
        _ clientData: JSON? = nil, data: Bytes? = nil, browserBoundKey: P256PrivateKey? = nil
    ) throws -> PaymentAssertion {
        try authenticator.confirm(
            clientDataJSON: (clientData ?? self.clientData()).encoded,
            authenticatorData: data ?? self.data(), userHandle: nil,
            browserBoundKey: browserBoundKey)
    }

    /// An answer to `navigator.credentials.get()` with the same passkey.
    func login(_ clientData: JSON? = nil) throws -> PasskeyAssertion {
        try authenticator.assert(
            clientDataJSON: clientData?.encoded
                ?? SoftwareAuthenticator.clientData(
                    "webauthn.get", challenge: sha256(message).bytes, origin: Fixtures.origin),
            authenticatorData: data(), userHandle: nil)
    }

    /// Why it is refused; `nil` when it is believed.
    func refusal(_ assertion: UnverifiedAssertion) -> VerificationFailure? {
        let stored = StoredPasskey(
            credentialID: authenticator.credentialID, key: authenticator.key.publicKey.spki,
            signCount: 0, backupEligible: false, userHandle: [])
        do {
            _ = try CustomerProofVerifier(
                relyingParty: relyingParty, payments: payments,
                algorithms: [.es256], attestation: .untrusting, devices: .unconfigured
            )
            .verify(assertion, by: .passkey(stored), over: message)
            return nil
        } catch {
            return error
        }
    }

    /// Why a browser's confirmation with these changes is refused; `nil` when it is believed.
    func refusal(_ changes: [String: JSON?] = [:]) throws -> VerificationFailure? {
        refusal(.payment(try confirmed(clientData(changes))))
    }
}
