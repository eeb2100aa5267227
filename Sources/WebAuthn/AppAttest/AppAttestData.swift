import Countersign

/// The authenticator data of App Attest, read apart from WebAuthn's: its assertions set the flag of
/// attested data and carry none, which WebAuthn forbids. Source: D-12, AA-16; seen in every real sample.
struct AppAttestData {
    /// The bytes as they came; these are signed.
    let raw: Bytes
    let appIDHash: Bytes
    let counter: UInt32

    /// rpIdHash, flags, counter.
    static let fixedBytes = 37

    /// Reads the fixed part; the flags say nothing that counts here.
    fileprivate init?(fixedPartOf raw: Bytes) {
        guard raw.count >= Self.fixedBytes else { return nil }
        self.raw = raw
        appIDHash = Bytes(raw[0..<32])
        counter = raw[33..<37].reduce(0) { $0 << 8 | UInt32($1) }
    }

    /// Reads the data of an assertion, which is the fixed part and nothing else.
    init(ofAssertion raw: Bytes) throws(AppAttestFailure) {
        guard raw.count == Self.fixedBytes, let data = AppAttestData(fixedPartOf: raw) else {
            throw .malformed
        }
        self = data
    }
}

/// The authenticator data of an attestation: the fixed part, the environment, the key's ID and the key.
struct AppAttestKeyData {
    let fixed: AppAttestData
    /// Stands where WebAuthn has the authenticator's model.
    let environment: Bytes
    let keyID: Bytes
    /// The uncompressed point, 65 bytes.
    let point: Bytes

    init(parsing raw: Bytes) throws(AppAttestFailure) {
        guard let fixed = AppAttestData(fixedPartOf: raw) else { throw .malformed }
        self.fixed = fixed
        var rest = raw.dropFirst(AppAttestData.fixedBytes)
        guard rest.count >= 18 else { throw .malformed }
        environment = Bytes(rest.prefix(16))
        rest = rest.dropFirst(16)
        let count = rest.prefix(2).reduce(0) { $0 << 8 | Int($1) }
        rest = rest.dropFirst(2)
        guard rest.count >= count else { throw .malformed }
        keyID = Bytes(rest.prefix(count))
        rest = rest.dropFirst(count)
        guard let key = CBOR(takingFrom: &rest) else { throw .cborMalformed }
        guard rest.isEmpty else { throw .malformed }
        // A COSE key of P-256: kty EC2, crv P-256. Source: RFC 9053 §7.1.1.
        guard key[1]?.integer == 2, key[-1]?.integer == 1, let x = key[-2]?.bytes, x.count == 32,
            let y = key[-3]?.bytes, y.count == 32
        else { throw .keyMismatch }
        point = [0x04] + x + y
    }
}
