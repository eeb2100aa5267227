internal import Countersign

/// The attributes of a subject or an issuer, in their order.
package struct DistinguishedName: Hashable, Sendable {
    /// One attribute.
    package struct Entry: Hashable, Sendable {
        /// Which attribute.
        package let attribute: Attribute
        /// Its text, whatever string type it was written in.
        package let value: String
    }

    /// A type of attribute, by its OID in dotted decimal form.
    package struct Attribute: Hashable, Sendable {
        /// Such as `2.5.4.3`.
        package let oid: String
        /// Takes an OID in dotted decimal form.
        package init(oid: String) { self.oid = oid }

        // Source: X.520, RFC 5280 §4.1.2.4 and appendix A.
        /// CN.
        package static let commonName = Attribute(oid: "2.5.4.3")
        /// serialNumber.
        package static let serialNumber = Attribute(oid: "2.5.4.5")
        /// C.
        package static let country = Attribute(oid: "2.5.4.6")
        /// O.
        package static let organization = Attribute(oid: "2.5.4.10")
        /// OU.
        package static let organizationalUnit = Attribute(oid: "2.5.4.11")
        // Source: TCG EK Credential Profile §3.2.9, WebAuthn L3 §8.3.1.
        /// TPMManufacturer, such as `id:494E5443`.
        package static let tpmManufacturer = Attribute(oid: "2.23.133.2.1")
        /// TPMModel.
        package static let tpmModel = Attribute(oid: "2.23.133.2.2")
        /// TPMVersion, of the firmware.
        package static let tpmVersion = Attribute(oid: "2.23.133.2.3")
    }

    /// The attributes in their order; a name may have one of them twice.
    package let entries: [Entry]

    init(_ entries: [(type: String, value: String)]) {
        self.entries = entries.map {
            Entry(attribute: Attribute(oid: $0.type), value: $0.value)
        }
    }

    /// For a person: `CN=tsa,O=Example`, in the order of the certificate. What would be taken for the form of
    /// the name, or changes how a terminal shows it, is escaped. Source: RFC 4514 §2.4, §3.
    package var text: String {
        entries.map { entry in
            let value = entry.value.unicodeScalars.map { scalar -> String in
                guard !scalar.isPrintable || #",+"\<>;="#.unicodeScalars.contains(scalar) else {
                    return String(scalar)
                }
                return scalar.utf8.map { "\\" + Hex.encode([$0]) }.joined()
            }
            return (Self.names[entry.attribute] ?? entry.attribute.oid) + "=" + value.joined()
        }.joined(separator: ",")
    }

    private static let names: [Attribute: String] = [
        .commonName: "CN", .serialNumber: "serialNumber", .country: "C", .organization: "O",
        .organizationalUnit: "OU",
    ]

    /// Whether there is no attribute at all.
    package var isEmpty: Bool { entries.isEmpty }

    /// Every value of one attribute.
    package func values(_ attribute: Attribute) -> [String] {
        entries.filter { $0.attribute == attribute }.map(\.value)
    }

    /// The value of an attribute that occurs exactly once.
    package subscript(attribute: Attribute) -> String? {
        let values = values(attribute)
        return values.count == 1 ? values[0] : nil
    }
}

extension Unicode.Scalar {
    /// Whether it is seen where it stands, and does nothing to what stands beside it.
    fileprivate var isPrintable: Bool {
        switch properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .unassigned, .privateUse,
            .surrogate:
            false
        default: true
        }
    }
}
