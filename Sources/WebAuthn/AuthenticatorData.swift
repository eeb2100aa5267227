import Countersign

/// The flag bits of authenticator data; bits 1 and 5 are reserved and ignored.
///
/// Source: WebAuthn L3 §6.1.
package struct AuthenticatorFlags: OptionSet, Hashable, Sendable {
    /// The byte as it is signed.
    package let rawValue: UInt8

    /// Takes any byte: reserved bits may be set.
    package init(rawValue: UInt8) { self.rawValue = rawValue }

    /// UP: somebody touched the authenticator.
    package static let userPresent = AuthenticatorFlags(rawValue: 0x01)
    /// UV: it was the user, by biometrics or a PIN.
    package static let userVerified = AuthenticatorFlags(rawValue: 0x04)
    /// BE: the credential may be copied to other devices.
    package static let backupEligible = AuthenticatorFlags(rawValue: 0x08)
    /// BS: the credential is copied now.
    package static let backupState = AuthenticatorFlags(rawValue: 0x10)
    /// AT: a new credential's data follows.
    package static let attestedCredential = AuthenticatorFlags(rawValue: 0x40)
    /// ED: a map of extension outputs follows.
    package static let extensions = AuthenticatorFlags(rawValue: 0x80)
}

/// What the authenticator says, every byte accounted for. Source: WebAuthn L3 §6.1.
struct AuthenticatorData {
    /// The bytes as they came; these are signed.
    let raw: Bytes
    let relyingPartyIDHash: Bytes
    let flags: AuthenticatorFlags
    let signCount: UInt32
    /// Present exactly when the flag says so.
    let attestedCredential: AttestedCredential?

    /// rpIdHash, flags and sign count.
    private static let fixedBytes = 37

    init(parsing raw: Bytes) throws(VerificationFailure) {
        guard raw.count >= Self.fixedBytes else { throw .authenticatorDataMalformed }
        self.raw = raw
        relyingPartyIDHash = Bytes(raw[0..<32])
        flags = AuthenticatorFlags(rawValue: raw[32])
        signCount = raw[33..<37].reduce(0) { $0 << 8 | UInt32($1) }
        var rest = raw.dropFirst(Self.fixedBytes)
        attestedCredential =
            flags.contains(.attestedCredential)
            ? try AttestedCredential(takingFrom: &rest) : nil
        if flags.contains(.extensions) {
            // Their outputs are not used, but they are signed and must be what the flag promises.
            guard let extensions = CBOR(takingFrom: &rest) else { throw .cborMalformed }
            guard case .map = extensions else { throw .authenticatorDataMalformed }
        }
        guard rest.isEmpty else { throw .authenticatorDataTrailingBytes }
    }

    /// Steps 14–17 of registration and 15–18 of assertion.
    func check(
        _ relyingParty: RelyingParty, _ policy: VerifierPolicy
    ) throws(VerificationFailure) {
        guard relyingPartyIDHash == relyingParty.idHash else { throw .relyingPartyMismatch }
        guard policy.userPresence == .notRequired || flags.contains(.userPresent) else {
            throw .userNotPresent
        }
        guard policy.userVerification == .notRequired || flags.contains(.userVerified) else {
            throw .userNotVerified
        }
        guard flags.contains(.backupEligible) || !flags.contains(.backupState) else {
            throw .backupFlagsInvalid
        }
    }
}

/// A new credential inside authenticator data. Source: WebAuthn L3 §6.5.1.
struct AttestedCredential {
    /// The authenticator's model; unproven unless an attestation proves it.
    let model: AAGUID
    let id: Bytes
    /// The COSE key, not yet looked at.
    let key: CBOR

    /// Reads AAGUID, length, ID and key off the front.
    init(takingFrom input: inout ArraySlice<UInt8>) throws(VerificationFailure) {
        guard input.count >= 18, let model = AAGUID(Bytes(input.prefix(16))) else {
            throw .authenticatorDataMalformed
        }
        self.model = model
        input = input.dropFirst(16)
        let count = input.prefix(2).reduce(0) { $0 << 8 | Int($1) }
        input = input.dropFirst(2)
        guard count > 0, input.count >= count else { throw .authenticatorDataMalformed }
        id = Bytes(input.prefix(count))
        input = input.dropFirst(count)
        guard let key = CBOR(takingFrom: &input) else { throw .cborMalformed }
        self.key = key
    }
}
