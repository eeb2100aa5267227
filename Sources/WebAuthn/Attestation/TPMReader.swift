import Countersign

/// Takes the big-endian fields of TPM 2.0 structures one after the other.
///
/// Source: TCG TPM 2.0 Library, Part 2. Nothing is read past the end; every read can fail.
struct TPMReader {
    private var rest: ArraySlice<UInt8>

    init(_ bytes: Bytes) { rest = bytes[...] }

    /// Whether every byte was taken.
    var isAtEnd: Bool { rest.isEmpty }

    /// Takes a whole number of `count` bytes, at most eight.
    mutating func number(_ count: Int) throws(VerificationFailure) -> UInt64 {
        try bytes(count).reduce(0) { $0 << 8 | UInt64($1) }
    }

    /// Takes a UINT16, as identifiers of algorithms and types are.
    mutating func identifier() throws(VerificationFailure) -> UInt16 {
        UInt16(truncatingIfNeeded: try number(2))
    }

    /// Takes exactly `count` bytes.
    mutating func bytes(_ count: Int) throws(VerificationFailure) -> Bytes {
        guard count >= 0, rest.count >= count else { throw .attestationStatementMalformed }
        let taken = Bytes(rest.prefix(count))
        rest = rest.dropFirst(count)
        return taken
    }

    /// Takes a TPM2B: a UINT16 count, then so many bytes. Part 2 §10.4.
    mutating func sized() throws(VerificationFailure) -> Bytes {
        try bytes(Int(try identifier()))
    }
}

/// Identifiers of TPM algorithms. Source: TCG Algorithm Registry, table 3; TPM 2.0 Part 2 §6.3.
enum TPMAlgorithm {
    static let rsa: UInt16 = 0x0001
    static let sha256: UInt16 = 0x000B
    static let sha384: UInt16 = 0x000C
    static let sha512: UInt16 = 0x000D
    static let null: UInt16 = 0x0010
    static let rsassa: UInt16 = 0x0014
    static let ecdsa: UInt16 = 0x0018
    static let ecc: UInt16 = 0x0023
}
