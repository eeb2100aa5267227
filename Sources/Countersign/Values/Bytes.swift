/// Raw bytes as they came or as they will be hashed.
package typealias Bytes = [UInt8]

/// The 32 bytes of a SHA-256.
package struct Digest: Hashable, Sendable {
    package let bytes: Bytes

    /// Takes exactly 32 bytes; anything else is `nil`.
    package init?(_ bytes: Bytes) {
        guard bytes.count == 32 else { return nil }
        self.bytes = bytes
    }

    /// Lower-case hexadecimal, 64 characters.
    package var hex: String { Hex.encode(bytes) }
}

/// Computes a SHA-256. The domain imports nothing, so it is handed this capability by `Crypto`.
package struct Hasher256: Sendable {
    private let function: @Sendable (Bytes) -> Digest

    package init(_ function: @escaping @Sendable (Bytes) -> Digest) { self.function = function }

    package func callAsFunction(_ bytes: Bytes) -> Digest { function(bytes) }
}

/// Makes unpredictable bytes. Production passes the generator of OpenSSL, tests a fixed one.
package struct EntropySource: Sendable {
    private let function: @Sendable (Int) -> Bytes

    package init(_ function: @escaping @Sendable (Int) -> Bytes) { self.function = function }

    package func callAsFunction(_ count: Int) -> Bytes { function(count) }
}
