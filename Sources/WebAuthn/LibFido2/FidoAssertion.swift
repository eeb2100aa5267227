internal import CFido2
import Countersign

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
        key: FidoPublicKey, policy: VerifierPolicy
    ) -> Bool {
        let presence = policy.userPresence == .required ? FIDO_OPT_TRUE : FIDO_OPT_OMIT
        let verification = policy.userVerification == .required ? FIDO_OPT_TRUE : FIDO_OPT_OMIT
        return unsafe fido_assert_set_count(pointer, 1) == FIDO_OK
            && fido_assert_set_rp(pointer, relyingPartyID) == FIDO_OK
            && fido_assert_set_clientdata_hash(pointer, clientDataHash, clientDataHash.count)
                == FIDO_OK
            && fido_assert_set_authdata_raw(
                pointer, 0, authenticatorData, authenticatorData.count) == FIDO_OK
            && fido_assert_set_sig(pointer, 0, signature, signature.count) == FIDO_OK
            && fido_assert_set_up(pointer, presence) == FIDO_OK
            && fido_assert_set_uv(pointer, verification) == FIDO_OK
            && fido_assert_verify(pointer, 0, key.number, key.raw) == FIDO_OK
    }
}
