/// The four header fields of a signed request, each of its strict form. Nothing is believed yet.
package struct RequestSignature: Hashable, Sendable {
    /// `X-Device-ID`: the credential that the phone says it signed with.
    package let credential: ID<Credential>
    /// `X-Timestamp`: whole seconds since 1970, by the phone's clock.
    package let timestamp: Int64
    /// `X-Nonce`: never used twice by one credential.
    package let nonce: String
    /// `X-Signature`, without its base64.
    package let signature: Bytes

    /// A timestamp of more digits could overflow; one of these lies beyond every window.
    static var timestampDigitsMax: Int { 15 }
    /// Fewer characters would collide by accident.
    static var nonceLengths: ClosedRange<Int> { 8...128 }

    /// Reads the fields.
    ///
    /// - Throws: ``DeviceRequestRefusal``, the first that applies. A missing field comes before a
    ///   doubled one, and both before what any of them says: a request that two readers could take for
    ///   two things is judged by none of its values.
    package init(_ fields: SignatureFields) throws(DeviceRequestRefusal) {
        let names = SignatureFields.Name.allCases
        guard names.allSatisfy({ !fields[$0].isEmpty }) else { throw .headerMissing }
        guard names.allSatisfy({ fields[$0].count == 1 }) else { throw .headerDuplicate }
        guard let credential = RequestSignature.credential(fields) else {
            throw .deviceIDMalformed
        }
        guard let timestamp = RequestSignature.timestamp(fields[.timestamp][0]) else {
            throw .timestampMalformed
        }
        guard let nonce = RequestSignature.nonce(fields[.nonce][0]) else { throw .nonceMalformed }
        guard let signature = Base64.decode(fields[.signature][0]), !signature.isEmpty else {
            throw .signatureMalformed
        }
        self.credential = credential
        self.timestamp = timestamp
        self.nonce = nonce
        self.signature = signature
    }

    /// The credential that the fields name without doubt, whatever else is wrong with them.
    static func credential(_ fields: SignatureFields) -> ID<Credential>? {
        let values = fields[.deviceID]
        return values.count == 1 ? ID(values[0]) : nil
    }

    /// Decimal digits without sign, spaces or leading zeros: one time has one spelling.
    private static func timestamp(_ text: String) -> Int64? {
        let units = Bytes(text.utf8)
        guard (1...timestampDigitsMax).contains(units.count), units.allSatisfy(\.isDigit),
            units[0] != UInt8(ascii: "0")
        else { return nil }
        return Int64(text)
    }

    /// Characters of base64, base64url, hexadecimal and UUIDs: none of them is changed by a proxy.
    private static func nonce(_ text: String) -> String? {
        let units = Bytes(text.utf8)
        guard nonceLengths.contains(units.count),
            units.allSatisfy({ $0.isLetter || $0.isDigit || noncePunctuation.contains($0) })
        else { return nil }
        return text
    }

    private static let noncePunctuation = Bytes("._~-+/=".utf8)
}
