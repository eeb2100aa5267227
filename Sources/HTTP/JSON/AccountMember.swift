package import Countersign

extension ObjectReader {
    /// An account that must be there: `{"iban": …}` or `{"scheme": …, "value": …}`.
    package mutating func account(_ name: String) throws(BodyRefusal) -> Account? {
        try object(name) { reader throws(BodyRefusal) -> Account? in
            guard !reader.has("iban") else { return try reader.value("iban", Account.init(iban:)) }
            guard reader.has("scheme") || reader.has("value") else {
                throw ObjectReader.malformed(
                    "An account has an iban, or a scheme and a value.", at: reader.pointer)
            }
            let scheme = try reader.string("scheme")
            let value = try reader.string("value")
            do throws(InvalidValue) {
                return try Account(scheme: scheme, value: value)
            } catch {
                reader.refuse(error.code == "account_scheme" ? "scheme" : "value", error)
                return nil
            }
        }
    }
}
