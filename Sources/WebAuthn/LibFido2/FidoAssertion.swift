internal import CFido2
import Countersign
import Crypto

/// One assertion in libfido2's hands.
@safe struct FidoAssertion: ~Copyable {
    private let pointer: OpaquePointer

    init() {
        FidoLibrary.start()
        guard let pointer = unsafe fido_assert_new() else { preconditionFailure("out of memory") }
        unsafe self.pointer = pointer
    }

    deinit {
        var pointer: OpaquePointer? = unsafe pointer
        unsafe fido_assert_free(&pointer)
    }

    /// Whether libfido2 finds the assertion in order: relying-party hash, flags and signature.
    ///
    /// It looks at no more than these, so every other check is ours and comes before. Its codes do not
    /// tell the reasons apart (a wrong hash and a missing flag are both "invalid parameter"), so
    /// whatever it refuses is one refusal.
    consuming func isValid(
        relyingPartyID: String, clientDataHash: Bytes, authenticatorData: Bytes, signature: Bytes,
        key: P256PublicKey, policy: VerifierPolicy
    ) -> Bool {
        let presence = policy.userPresence == .required ? FIDO_OPT_TRUE : FIDO_OPT_OMIT
        let verification = policy.userVerification == .required ? FIDO_OPT_TRUE : FIDO_OPT_OMIT
        guard let key = FidoPublicKey(key) else { return false }
        return unsafe fido_assert_set_count(pointer, 1) == FIDO_OK
            && fido_assert_set_rp(pointer, relyingPartyID) == FIDO_OK
            && fido_assert_set_clientdata_hash(pointer, clientDataHash, clientDataHash.count)
                == FIDO_OK
            && fido_assert_set_authdata_raw(
                pointer, 0, authenticatorData, authenticatorData.count) == FIDO_OK
            && fido_assert_set_sig(pointer, 0, signature, signature.count) == FIDO_OK
            && fido_assert_set_up(pointer, presence) == FIDO_OK
            && fido_assert_set_uv(pointer, verification) == FIDO_OK
            && fido_assert_verify(pointer, 0, COSE_ES256, key.raw) == FIDO_OK
    }
}

/// A public key of P-256 in libfido2's hands.
@safe private struct FidoPublicKey: ~Copyable {
    private let pointer: OpaquePointer

    init?(_ key: P256PublicKey) {
        guard let pointer = unsafe es256_pk_new() else { preconditionFailure("out of memory") }
        unsafe self.pointer = pointer
        // libfido2 wants x and y without the 0x04 in front.
        let coordinates = Bytes(key.x963.dropFirst())
        guard unsafe es256_pk_from_ptr(pointer, coordinates, coordinates.count) == FIDO_OK else {
            return nil
        }
    }

    deinit {
        var pointer: OpaquePointer? = unsafe pointer
        unsafe es256_pk_free(&pointer)
    }

    var raw: UnsafeRawPointer { unsafe UnsafeRawPointer(pointer) }
}
