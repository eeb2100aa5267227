import Countersign

/// What a registration delivers: authenticator data and a statement about it. Source: WebAuthn L3 §6.5.
struct AttestationObject {
    let format: String
    /// The raw authenticator data.
    let authenticatorData: Bytes
    let statement: CBOR

    /// The largest object that is read; chains of certificates make some 5 KB.
    static let bytesMax = 65_536

    init(parsing bytes: Bytes) throws(VerificationFailure) {
        var rest = bytes[...]
        // Some clients write its maps open. What is signed, the authenticator data, is a byte string
        // here and is read strictly.
        guard bytes.count <= Self.bytesMax,
            let object = CBOR(takingFrom: &rest, lengths: .definiteOrOpen)
        else { throw .cborMalformed }
        guard rest.isEmpty else { throw .attestationObjectTrailingBytes }
        guard case .text(let format)? = object["fmt"],
            case .bytes(let authenticatorData)? = object["authData"],
            let statement = object["attStmt"]
        else { throw .cborMalformed }
        guard case .map = statement else { throw .attestationStatementMalformed }
        self.format = format
        self.authenticatorData = authenticatorData
        self.statement = statement
    }
}
