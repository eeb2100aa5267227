package import Countersign
import Crypto

/// New keys of both kinds, under the service's policy.
extension CustomerProofVerifier: RegistrationVerifier {
    package func prepare(for offered: OfferedCredential) async {
        guard case .deviceKey(let key) = offered,
            key.attestation?.format == DeviceAttestation.androidKeyFormat
        else { return }
        await devices.android?.refresh()
    }

    package func verify(
        _ offered: OfferedCredential, over message: Bytes, at: Instant
    ) throws(RegistrationFailure) -> VerifiedRegistration {
        switch offered {
        case .deviceKey(let offered): try verify(offered, over: message, at: at)
        case .passkey(let offered): try verify(offered, over: message, at: at)
        }
    }

    private func verify(
        _ offered: OfferedDeviceKey, over message: Bytes, at: Instant
    ) throws(RegistrationFailure) -> VerifiedRegistration {
        let key: P256PublicKey
        do {
            key = try P256PublicKey(parsing: offered.publicKey)
        } catch {
            throw .keyForm(error.invalidValue)
        }
        guard
            key.isValid(
                signature: offered.signature, in: offered.signatureFormat, for: message)
        else {
            throw .proof(.signatureInvalid)
        }
        let attestation: Attestation
        do throws(AttestationFailure) {
            attestation = try devices.judge(
                offered.attestation, of: key, message: message, at: at)
        } catch {
            throw .attestation(error)
        }
        return VerifiedRegistration(
            publicKey: key.spki, attestation: attestation,
            signatureFormat: offered.signatureFormat, passkey: nil)
    }

    private func verify(
        _ offered: PasskeyRegistration, over message: Bytes, at: Instant
    ) throws(RegistrationFailure) -> VerifiedRegistration {
        let made: RegisteredPasskey
        do throws(VerificationFailure) {
            made = try RegistrationCeremony.verify(
                response: offered, challenge: sha256(message).bytes, relyingParty: relyingParty,
                policy: policy, at: at)
        } catch {
            throw error.isOfAttestation
                ? .attestation(AttestationFailure(error.code)) : .proof(error)
        }
        return VerifiedRegistration(
            publicKey: made.publicKey.spki,
            attestation: made.attestation,
            passkey: VerifiedRegistration.Passkey(
                credentialID: made.credentialID, signCount: made.signCount,
                backupEligible: made.backupEligible, backupState: made.backupState,
                transports: made.transports))
    }
}

extension KeyError {
    /// What the caller is told about a text that is no key of a device.
    fileprivate var invalidValue: InvalidValue {
        switch self {
        case .malformed:
            InvalidValue(
                "public_key_malformed",
                "A public key is PEM, or base64 of its DER or of its 65-byte point.")
        case .unsupported:
            InvalidValue(
                "public_key_unsupported", "Only an uncompressed key of the curve P-256 is taken.")
        case .notOnCurve:
            InvalidValue("public_key_not_on_curve", "The point is not on the curve.")
        }
    }
}
