internal import CFido2
import Countersign
import Crypto

/// A public key in libfido2's hands.
///
/// A class, because one parsed key serves every later assertion of its credential.
@safe final class FidoPublicKey: @unchecked Sendable {
    // Sendable: the key is never changed after it was made, and libfido2 only reads it.
    private let pointer: OpaquePointer
    private let algorithm: COSEAlgorithm

    /// The only RSA keys that libfido2 holds: it has 256 bytes for the modulus and 3 for the exponent.
    private static let rsaModulusBytes = 256
    private static let rsaExponentBytes = 3

    /// Takes a key; `nil` when libfido2 cannot hold it, as RSA keys of other sizes.
    init?(_ key: PublicKey) {
        FidoLibrary.start()
        let made: OpaquePointer?
        switch key.algorithm {
        // libfido2 wants x and y without the 0x04 in front.
        case .es256:
            algorithm = .es256
            unsafe made = key.point.flatMap { unsafe Self.es256($0) }
        case .es384:
            algorithm = .es384
            unsafe made = key.point.flatMap { unsafe Self.es384($0) }
        case .eddsa:
            algorithm = .eddsa
            unsafe made = Self.eddsa(Bytes(key.spki.suffix(32)))
        case .rs256:
            algorithm = .rs256
            unsafe made = key.rsaNumbers.flatMap { unsafe Self.rs256($0, $1) }
        case .rs1: return nil
        }
        guard let made = unsafe made else { return nil }
        unsafe pointer = made
    }

    deinit {
        var pointer: OpaquePointer? = unsafe pointer
        switch algorithm {
        case .es256: unsafe es256_pk_free(&pointer)
        case .es384: unsafe es384_pk_free(&pointer)
        case .eddsa: unsafe eddsa_pk_free(&pointer)
        case .rs256: unsafe rs256_pk_free(&pointer)
        }
    }

    /// The key as `fido_assert_verify` takes it.
    var raw: UnsafeRawPointer { unsafe UnsafeRawPointer(pointer) }

    /// libfido2's number for the algorithm, which is COSE's.
    var number: Int32 {
        switch algorithm {
        case .es256: COSE_ES256
        case .es384: COSE_ES384
        case .eddsa: COSE_EDDSA
        case .rs256: COSE_RS256
        }
    }

    private static func es256(_ point: Bytes) -> OpaquePointer? {
        var key = unsafe es256_pk_new()
        if unsafe es256_pk_from_ptr(key, point, point.count) != FIDO_OK {
            unsafe es256_pk_free(&key)
        }
        return unsafe key
    }

    private static func es384(_ point: Bytes) -> OpaquePointer? {
        var key = unsafe es384_pk_new()
        if unsafe es384_pk_from_ptr(key, point, point.count) != FIDO_OK {
            unsafe es384_pk_free(&key)
        }
        return unsafe key
    }

    private static func eddsa(_ raw: Bytes) -> OpaquePointer? {
        var key = unsafe eddsa_pk_new()
        if unsafe eddsa_pk_from_ptr(key, raw, raw.count) != FIDO_OK {
            unsafe eddsa_pk_free(&key)
        }
        return unsafe key
    }

    private static func rs256(_ modulus: Bytes, _ exponent: Bytes) -> OpaquePointer? {
        guard modulus.count == rsaModulusBytes, exponent.count == rsaExponentBytes else {
            return nil
        }
        let numbers = modulus + exponent
        var key = unsafe rs256_pk_new()
        if unsafe rs256_pk_from_ptr(key, numbers, numbers.count) != FIDO_OK {
            unsafe rs256_pk_free(&key)
        }
        return unsafe key
    }
}
