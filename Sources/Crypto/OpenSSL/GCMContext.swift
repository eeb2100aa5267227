internal import COpenSSL
import Countersign

/// One run of AES-256-GCM.
@safe struct GCMContext: ~Copyable {
    private let pointer: OpaquePointer

    init() {
        guard let pointer = unsafe EVP_CIPHER_CTX_new() else {
            preconditionFailure("out of memory")
        }
        unsafe self.pointer = pointer
    }

    deinit { unsafe EVP_CIPHER_CTX_free(pointer) }

    /// The ciphertext and its 16-byte tag. Key and nonce have been checked for length.
    consuming func seal(
        _ plaintext: Bytes, key: Bytes, nonce: Bytes, authenticating data: Bytes
    ) -> (ciphertext: Bytes, tag: Bytes) {
        OpenSSL.require(
            unsafe EVP_EncryptInit_ex2(pointer, EVP_aes_256_gcm(), key, nonce, nil),
            "EVP_EncryptInit_ex2")
        var length: Int32 = 0
        OpenSSL.require(
            unsafe EVP_EncryptUpdate(pointer, nil, &length, data, Int32(data.count)),
            "EVP_EncryptUpdate")
        var out = Bytes(repeating: 0, count: plaintext.count)
        OpenSSL.require(
            unsafe EVP_EncryptUpdate(pointer, &out, &length, plaintext, Int32(plaintext.count)),
            "EVP_EncryptUpdate")
        var unused = Bytes(repeating: 0, count: 16)
        OpenSSL.require(
            unsafe EVP_EncryptFinal_ex(pointer, &unused, &length), "EVP_EncryptFinal_ex")
        var tag = Bytes(repeating: 0, count: 16)
        OpenSSL.require(
            unsafe EVP_CIPHER_CTX_ctrl(pointer, EVP_CTRL_AEAD_GET_TAG, 16, &tag),
            "EVP_CIPHER_CTX_ctrl")
        return (out, tag)
    }

    /// The plaintext, or `nil` when the tag does not fit; nothing of it is shown before that.
    consuming func open(
        _ ciphertext: Bytes, tag: Bytes, key: Bytes, nonce: Bytes, authenticating data: Bytes
    ) -> Bytes? {
        OpenSSL.require(
            unsafe EVP_DecryptInit_ex2(pointer, EVP_aes_256_gcm(), key, nonce, nil),
            "EVP_DecryptInit_ex2")
        var length: Int32 = 0
        OpenSSL.require(
            unsafe EVP_DecryptUpdate(pointer, nil, &length, data, Int32(data.count)),
            "EVP_DecryptUpdate")
        var out = Bytes(repeating: 0, count: ciphertext.count)
        OpenSSL.require(
            unsafe EVP_DecryptUpdate(pointer, &out, &length, ciphertext, Int32(ciphertext.count)),
            "EVP_DecryptUpdate")
        var tag = tag
        OpenSSL.require(
            unsafe EVP_CIPHER_CTX_ctrl(pointer, EVP_CTRL_AEAD_SET_TAG, Int32(tag.count), &tag),
            "EVP_CIPHER_CTX_ctrl")
        var unused = Bytes(repeating: 0, count: 16)
        guard unsafe EVP_DecryptFinal_ex(pointer, &unused, &length) == 1 else {
            OpenSSL.forgetErrors()
            return nil
        }
        return out
    }
}
