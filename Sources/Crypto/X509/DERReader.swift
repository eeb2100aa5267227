package import Countersign

/// Why bytes are not the DER that was expected.
package enum DERError: Error, Hashable, Sendable {
    /// Truncated, indefinite or not minimal, or bytes are left over.
    case malformed
    /// Well formed, but of another type than the caller asked for.
    case unexpected
}

/// Elements of DER one after the other, for the few structures that OpenSSL has no parser of.
///
/// It goes down only as far as its caller asks, so its depth is the caller's.
package struct DERReader: Sendable {
    /// The longest input that is read.
    package static let bytesMax = 65_536

    private var rest: ArraySlice<UInt8>

    /// Takes the bytes of any number of elements, at most ``bytesMax``.
    package init(_ bytes: Bytes) throws(DERError) {
        guard bytes.count <= Self.bytesMax else { throw .malformed }
        rest = bytes[...]
    }

    fileprivate init(content: ArraySlice<UInt8>) { rest = content }

    /// The one element that these bytes are.
    package static func only(_ bytes: Bytes) throws(DERError) -> DERElement {
        var reader = try DERReader(bytes)
        let element = try reader.next()
        try reader.end()
        return element
    }

    /// Whether every element was taken.
    package var isAtEnd: Bool { rest.isEmpty }

    /// Takes the next element.
    package mutating func next() throws(DERError) -> DERElement {
        guard let header = DERHeader(rest) else { throw .malformed }
        let encoded = rest.prefix(header.headerBytes + header.contentBytes)
        rest = rest.dropFirst(encoded.count)
        return DERElement(
            identifier: DERElement.Identifier(
                tagClass: header.tagClass, tag: header.tag, isConstructed: header.isConstructed),
            encoded: encoded, content: encoded.dropFirst(header.headerBytes))
    }

    /// Refuses bytes that are left over.
    package func end() throws(DERError) {
        guard isAtEnd else { throw .malformed }
    }
}

/// One element of DER.
package struct DERElement: Sendable {
    /// Class, tag number and form of an element. Source: X.690 §8.1.2.
    package struct Identifier: Hashable, Sendable {
        fileprivate let tagClass: Int
        /// The tag's number within its class.
        package let tag: Int
        /// Whether the content is elements again.
        package let isConstructed: Bool

        fileprivate init(tagClass: Int, tag: Int, isConstructed: Bool) {
            self.tagClass = tagClass
            self.tag = tag
            self.isConstructed = isConstructed
        }

        private static func universal(_ tag: Int, isConstructed: Bool = false) -> Identifier {
            Identifier(tagClass: 0x00, tag: tag, isConstructed: isConstructed)
        }

        // Source: X.680 §8.4, table 1.
        /// BOOLEAN.
        package static let boolean = universal(1)
        /// INTEGER.
        package static let integer = universal(2)
        /// OCTET STRING.
        package static let octetString = universal(4)
        /// NULL.
        package static let null = universal(5)
        /// ENUMERATED.
        package static let enumerated = universal(10)
        /// SEQUENCE and SEQUENCE OF.
        package static let sequence = universal(16, isConstructed: true)
        /// SET and SET OF.
        package static let set = universal(17, isConstructed: true)

        /// An explicit tag `[number]`. Source: X.690 §8.14.
        package static func explicit(_ number: Int) -> Identifier {
            Identifier(tagClass: 0x80, tag: number, isConstructed: true)
        }
    }

    /// What the element is.
    package let identifier: Identifier
    /// Identifier, length and content.
    package let encoded: ArraySlice<UInt8>
    /// The content alone.
    package let content: ArraySlice<UInt8>

    /// The number of an explicit tag; `nil` for every other element.
    package var explicitTag: Int? {
        identifier == .explicit(identifier.tag) ? identifier.tag : nil
    }

    private func require(_ expected: Identifier) throws(DERError) {
        guard identifier == expected else { throw .unexpected }
    }

    /// What is inside a SEQUENCE.
    package func sequence() throws(DERError) -> DERReader {
        try require(.sequence)
        return DERReader(content: content)
    }

    /// What is inside a SET, in its order.
    package func set() throws(DERError) -> DERReader {
        try require(.set)
        return DERReader(content: content)
    }

    /// The one element inside an explicit tag.
    package func explicit(_ number: Int) throws(DERError) -> DERElement {
        try require(.explicit(number))
        var reader = DERReader(content: content)
        let element = try reader.next()
        try reader.end()
        return element
    }

    /// The value of an INTEGER of at most 64 bits.
    package func integer() throws(DERError) -> Int64 {
        try require(.integer)
        guard let value = DERHeader.integer(Bytes(encoded), isEnumerated: false) else {
            throw .malformed
        }
        return value
    }

    /// The value of an ENUMERATED of at most 64 bits.
    package func enumerated() throws(DERError) -> Int64 {
        try require(.enumerated)
        guard let value = DERHeader.integer(Bytes(encoded), isEnumerated: true) else {
            throw .malformed
        }
        return value
    }

    /// The bytes of an OCTET STRING.
    package func octets() throws(DERError) -> Bytes {
        try require(.octetString)
        return Bytes(content)
    }

    /// The value of a BOOLEAN: 0x00 or 0xFF. Source: X.690 §11.1.
    package func boolean() throws(DERError) -> Bool {
        try require(.boolean)
        guard content.count == 1, let byte = content.first, byte == 0x00 || byte == 0xFF else {
            throw .malformed
        }
        return byte == 0xFF
    }

    /// Refuses everything but NULL. Source: X.690 §8.8.
    package func null() throws(DERError) {
        try require(.null)
        guard content.isEmpty else { throw .malformed }
    }
}
