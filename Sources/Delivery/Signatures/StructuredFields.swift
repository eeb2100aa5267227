package import Countersign

/// The structured fields that message signatures use: dictionaries of byte sequences and of inner lists.
///
/// Stricter than RFC 8941: a key that occurs twice is refused instead of the last one winning, and
/// decimals, which no signature parameter has, are refused.
package enum StructuredFields {
    /// A bare item. Source: RFC 8941 §3.3, without decimals.
    package enum Item: Hashable, Sendable {
        case integer(Int64)
        case string(String)
        case token(String)
        case bytes(Bytes)
        case boolean(Bool)

        /// Source: RFC 8941 §4.1.3.1.
        package var text: String {
            switch self {
            case .integer(let value): String(value)
            case .string(let text): quoted(text)
            case .token(let text): text
            case .bytes(let bytes): ":\(Base64.encode(bytes)):"
            case .boolean(let value): value ? "?1" : "?0"
            }
        }
    }

    /// A parameter of an item or of an inner list.
    package struct Parameter: Hashable, Sendable {
        package let key: String
        package let value: Item

        package init(_ key: String, _ value: Item) {
            self.key = key
            self.value = value
        }

        fileprivate var text: String {
            value == .boolean(true) ? ";\(key)" : ";\(key)=\(value.text)"
        }
    }

    /// An item with its parameters.
    package struct ParameterizedItem: Hashable, Sendable {
        package let item: Item
        package let parameters: [Parameter]

        package init(_ item: Item, _ parameters: [Parameter] = []) {
            self.item = item
            self.parameters = parameters
        }

        package var text: String { item.text + parameters.map(\.text).joined() }
    }

    /// A list of items in parentheses, with parameters. Source: RFC 8941 §3.1.1.
    package struct InnerList: Hashable, Sendable {
        package let items: [ParameterizedItem]
        package let parameters: [Parameter]

        package init(_ items: [ParameterizedItem], _ parameters: [Parameter]) {
            self.items = items
            self.parameters = parameters
        }

        /// The canonical form, which a signature base ends with. Source: RFC 8941 §4.1.1.1.
        package var text: String {
            "(\(items.map(\.text).joined(separator: " ")))" + parameters.map(\.text).joined()
        }

        /// The value of a parameter; `nil` when it is absent.
        package subscript(key: String) -> Item? { parameters.first { $0.key == key }?.value }
    }

    /// One value of a dictionary.
    package enum Member: Hashable, Sendable {
        case item(ParameterizedItem)
        case innerList(InnerList)
    }

    /// Reads a dictionary; `nil` when it is malformed or a key occurs twice.
    ///
    /// Source: RFC 8941 §4.2.2.
    package static func dictionary(_ text: String) -> [(key: String, value: Member)]? {
        var reader = StructuredFieldReader(text)
        return reader.dictionary()
    }

    private static func quoted(_ text: String) -> String {
        var units: Bytes = [UInt8(ascii: "\"")]
        for unit in text.utf8 {
            if unit == UInt8(ascii: "\"") || unit == UInt8(ascii: "\\") {
                units.append(UInt8(ascii: "\\"))
            }
            units.append(unit)
        }
        return String(decoding: units + [UInt8(ascii: "\"")], as: UTF8.self)
    }
}
