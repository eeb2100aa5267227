import Countersign
import Postgres
import WebAuthn

/// Believes what the service's verifier believes, and an attestation besides.
struct AttestingVerifier: AssertionVerifier, RegistrationVerifier {
    let base: CustomerProofVerifier
    let attestation: Attestation
    /// What assertions of App Attest tell beside a signature.
    var counter: UInt32?

    func prepare(for offered: OfferedCredential) async { await base.prepare(for: offered) }

    func verify(
        _ assertion: UnverifiedAssertion, by credential: StoredCredential, over message: Bytes
    ) throws(VerificationFailure) -> VerifiedAssertion {
        let verified = try base.verify(assertion, by: credential, over: message)
        guard case .deviceKey = verified else { return verified }
        return .deviceKey(appAttestCounter: counter)
    }

    func verify(
        _ offered: OfferedCredential, over message: Bytes, at: Instant
    ) throws(RegistrationFailure) -> VerifiedRegistration {
        let verified = try base.verify(offered, over: message, at: at)
        return VerifiedRegistration(
            publicKey: verified.publicKey, attestation: attestation,
            signatureFormat: verified.signatureFormat, passkey: verified.passkey)
    }
}
