package import Countersign
package import Crypto

/// An assertion of App Attest: our app, on the device that enrolled, asked for this.
///
/// An extra proof beside a device key's signature, never instead of it. Source: standards f3,
/// AA-11…AA-16.
package enum AppAttestAssertion {
    /// Far more than the hundred-odd bytes of a real one.
    private static let bytesMax = 1024

    /// Verifies an assertion.
    ///
    /// - Parameters:
    ///   - bytes: The CBOR that `generateAssertion` returned.
    ///   - clientData: The stored bytes that the app passed the SHA-256 of; they hold the challenge
    ///     (AA-15).
    ///   - key: The attested key.
    ///   - counter: The last counter that was believed.
    ///   - appID: `TEAMID.bundle.id`.
    /// - Returns: The counter, to be stored when the whole decision commits.
    /// - Throws: ``AppAttestFailure``, the first that applies.
    package static func verify(
        _ bytes: Bytes, clientData: Bytes, key: P256PublicKey, counter: UInt32, appID: String
    ) throws(AppAttestFailure) -> UInt32 {
        var rest = bytes[...]
        guard bytes.count <= bytesMax, let assertion = CBOR(takingFrom: &rest), rest.isEmpty else {
            throw .cborMalformed
        }
        guard let signature = assertion["signature"]?.bytes,
            let raw = assertion["authenticatorData"]?.bytes
        else { throw .malformed }
        let data = try AppAttestData(ofAssertion: raw)
        // AA-11, AA-12: the signature is over the nonce, so the nonce is hashed once more.
        let nonce = sha256(data.raw + sha256(clientData).bytes).bytes
        guard key.isValid(signature: signature, for: nonce) else { throw .signatureInvalid }
        // AA-13: our app.
        guard data.appIDHash == sha256(Bytes(appID.utf8)).bytes else { throw .appIDMismatch }
        // AA-14: the counter goes up, from zero at the attestation.
        guard data.counter > counter else { throw .counterRegression }
        return data.counter
    }
}
