internal import CFido2
import Countersign
import Crypto

/// One registration in libfido2's hands.
@safe struct FidoCredential: ~Copyable {
    private let pointer: OpaquePointer

    /// Has libfido2 take authenticator data apart; `nil` when it finds it out of order.
    init?(relyingPartyID: String, clientDataHash: Bytes, authenticatorData: Bytes) {
        FidoLibrary.start()
        guard let pointer = unsafe fido_cred_new() else { preconditionFailure("out of memory") }
        unsafe self.pointer = pointer
        // The type comes first: it decides how the key in the authenticator data is read.
        guard
            unsafe fido_cred_set_type(pointer, COSE_ES256) == FIDO_OK
                && fido_cred_set_rp(pointer, relyingPartyID, nil) == FIDO_OK
                && fido_cred_set_clientdata_hash(pointer, clientDataHash, clientDataHash.count)
                    == FIDO_OK
                && fido_cred_set_authdata_raw(pointer, authenticatorData, authenticatorData.count)
                    == FIDO_OK
        else { return nil }
    }

    deinit {
        var pointer: OpaquePointer? = unsafe pointer
        unsafe fido_cred_free(&pointer)
    }

    /// Whether libfido2 read this very ID and key.
    func holds(credentialID: Bytes, key: P256PublicKey) -> Bool {
        let id = unsafe UnsafeBufferPointer(
            start: fido_cred_id_ptr(pointer), count: fido_cred_id_len(pointer))
        let coordinates = unsafe UnsafeBufferPointer(
            start: fido_cred_pubkey_ptr(pointer), count: fido_cred_pubkey_len(pointer))
        return unsafe credentialID.elementsEqual(id)
            && key.x963.dropFirst().elementsEqual(coordinates)
    }

    /// Whether the credential's own key made the signature over its data and the client's.
    ///
    /// Source: WebAuthn L3 §8.2, self attestation.
    consuming func isSelfSigned(by signature: Bytes) -> Bool {
        unsafe fido_cred_set_fmt(pointer, "packed") == FIDO_OK
            && fido_cred_set_sig(pointer, signature, signature.count) == FIDO_OK
            && fido_cred_verify_self(pointer) == FIDO_OK
    }
}
