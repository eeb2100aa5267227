package import Countersign
import Crypto

/// Verifying the confirmation of a payment.
///
/// Source: Secure Payment Confirmation (ED 2 Jul 2026), "Verifying an Authentication Assertion", whose
/// requirements the comments give by the number that they have in this project.
package enum PaymentCeremony {
    /// Verifies a browser's answer to a payment request.
    ///
    /// The specification inserts its comparisons after the client data's origin. Here they come after
    /// the signature: the verdict is the same, and a mismatch that is recorded is then known to have
    /// been signed. SPC-01 (the credential was offered) is the use case's, as for every passkey.
    ///
    /// - Parameters:
    ///   - assertion: The answer as it came.
    ///   - challenge: The bytes that were to be signed, exactly (SPC-03).
    ///   - transfer: The transfer of the stored message, never of the request (SPC-12).
    ///   - credential: What was recorded of the credential of the customer who is asked.
    ///   - party: Where payments are confirmed, and what was to be shown.
    ///   - policy: What to demand.
    ///   - keys: The parsed keys of earlier assertions.
    /// - Returns: What the assertion told.
    /// - Throws: ``VerificationFailure``, the first that applies.
    package static func verify(
        _ assertion: PaymentAssertion, challenge: Bytes, confirming transfer: Transfer,
        credential: StoredPasskey, party: PaymentParty, policy: VerifierPolicy,
        keys: PasskeyKeys
    ) throws(VerificationFailure) -> VerifiedPasskeyAssertion {
        // WA-05 to WA-22, of the type payment.get (SPC-02), with the origins of payments (SPC-04).
        let examined = try AssertionCeremony.examine(
            assertion.passkey, .payment, challenge: challenge, credential: credential,
            relyingParty: party.relyingParty, policy: policy, keys: keys)
        let shown = try PaymentClientData(examined.clientData.payment)
        try checkTopOrigin(shown, examined.clientData)
        // SPC-05, -07, -08, -09.
        try shown.check(shows: transfer, for: party.relyingParty.id)
        // SPC-10.
        try shown.check(shows: party.instrument)
        // SPC-13, and stricter than it: wherever it was called. No extension was asked for.
        guard !examined.data.flags.contains(.extensions) else {
            throw .paymentExtensionUnexpected
        }
        // SPC-11: last, so that such a key never counts without the passkey.
        try checkBrowserBoundKey(shown, assertion)
        return examined.verified
    }

    /// SPC-06: the page at the top is the page that asked, or in a frame one of those that may frame it.
    ///
    /// Whether it is framed stands outside of `payment`, and that was judged before. The two places must
    /// not contradict each other.
    private static func checkTopOrigin(
        _ shown: PaymentClientData, _ clientData: ClientData
    ) throws(VerificationFailure) {
        // `topOrigin` is in the list already, when the client names it.
        let expected = clientData.crossOrigin ? clientData.topOrigin : clientData.origin
        guard let expected, shown.topOrigin.utf8.elementsEqual(expected.utf8) else {
            throw .paymentTopOriginMismatch
        }
    }

    /// SPC-11: what the browser's own key signed, when it has one. It is additional to the passkey; a
    /// half of it, or one that does not verify, refuses.
    private static func checkBrowserBoundKey(
        _ shown: PaymentClientData, _ assertion: PaymentAssertion
    ) throws(VerificationFailure) {
        switch (shown.browserBoundPublicKey, assertion.browserBoundSignature) {
        case (nil, nil): return
        case (nil, _?): throw .browserBoundKeyInvalid
        case (_?, nil): throw .browserBoundSignatureInvalid
        case (let encoded?, let signature?):
            var rest = encoded[...]
            guard let value = CBOR(takingFrom: &rest), rest.isEmpty else {
                throw .browserBoundKeyInvalid
            }
            let key: COSEKey
            do throws(VerificationFailure) {
                key = try COSEKey(value, allowing: [.es256])
            } catch {
                throw .browserBoundKeyInvalid
            }
            guard
                key.publicKey.isValid(
                    signature: signature, for: assertion.passkey.clientDataJSON)
            else { throw .browserBoundSignatureInvalid }
        }
    }
}
