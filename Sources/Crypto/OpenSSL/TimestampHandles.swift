internal import COpenSSL
import Countersign

/// A request for a timestamp, freed with its owner. Source: RFC 3161 §2.4.1.
@safe final class TimestampQuery {
    fileprivate let pointer: OpaquePointer

    /// - Parameters:
    ///   - digest: What is to be stamped.
    ///   - nonce: What the answer has to repeat; empty when it need not.
    init(over digest: Digest, nonce: Bytes) {
        guard let pointer = unsafe countersign_ts_request(digest.bytes, nonce, nonce.count) else {
            preconditionFailure("out of memory")
        }
        unsafe self.pointer = pointer
    }

    deinit { unsafe TS_REQ_free(pointer) }

    var der: Bytes { unsafe DEREncoding.bytes { unsafe i2d_TS_REQ(pointer, $0) } }
}

/// The answer of a timestamp authority, freed with its owner. Source: RFC 3161 §2.4.2.
@safe final class TimestampResponse {
    private let pointer: OpaquePointer

    /// Hashes and keys of less than 112 bits of security are refused, as in ``X509Path``.
    private static let securityLevel: Int32 = 2

    /// Parses exactly one TimeStampResp; `nil` for anything else, also for what is not DER.
    init?(der: Bytes) {
        let parsed = unsafe der.withUnsafeBufferPointer { buffer in
            var cursor = buffer.baseAddress
            return unsafe d2i_TS_RESP(nil, &cursor, buffer.count)
        }
        OpenSSL.forgetErrors()
        guard let pointer = unsafe parsed else { return nil }
        unsafe self.pointer = pointer
        guard unsafe DEREncoding.bytes({ unsafe i2d_TS_RESP(pointer, $0) }) == der else {
            return nil
        }
    }

    deinit { unsafe TS_RESP_free(pointer) }

    /// PKIStatus; `nil` for a number that is none.
    var status: Int64? {
        defer { OpenSSL.forgetErrors() }
        var value: Int64 = 0
        let status = unsafe TS_STATUS_INFO_get0_status(TS_RESP_get_status_info(pointer))
        return unsafe ASN1_INTEGER_get_int64(&value, status) == 1 ? value : nil
    }

    /// The time in whole seconds since 1970, which nobody vouches for yet; `nil` when there is none.
    var time: Int64? {
        guard let information = unsafe TS_RESP_get_tst_info(pointer) else { return nil }
        return unsafe X509Reading.seconds(of: TS_TST_INFO_get_time(information))
    }

    /// The policy's object identifier in its dotted form; `nil` when there is none, or an endless one.
    var policy: String? {
        guard let information = unsafe TS_RESP_get_tst_info(pointer),
            let identifier = unsafe TS_TST_INFO_get_policy_id(information)
        else { return nil }
        return unsafe X509Reading.text(of: identifier)
    }

    /// Checks version, imprint, nonce and signature, the signer's certificate with its ESSCertID, and the
    /// path from it to an anchor as it was at that time.
    ///
    /// - Throws: ``TimestampFault``.
    func verify(
        answering query: TimestampQuery, anchors: [X509Handle], at seconds: Int64
    ) throws(TimestampFault) {
        defer { OpenSSL.forgetErrors() }
        OpenSSL.forgetErrors()
        guard let store = unsafe X509_STORE_new(),
            let context = unsafe TS_REQ_to_TS_VERIFY_CTX(query.pointer, nil)
        else { preconditionFailure("out of memory") }
        // From here on the store is the context's.
        unsafe TS_VERIFY_CTX_set_store(context, store)
        defer { unsafe TS_VERIFY_CTX_free(context) }
        unsafe countersign_ts_demand_signature(context)
        for anchor in anchors {
            OpenSSL.require(
                unsafe X509_STORE_add_cert(store, anchor.pointer), "X509_STORE_add_cert")
        }
        guard let parameters = unsafe X509_STORE_get0_param(store) else {
            preconditionFailure("a store has parameters")
        }
        unsafe X509_VERIFY_PARAM_set_time(parameters, Int(seconds))
        unsafe X509_VERIFY_PARAM_set_auth_level(parameters, Self.securityLevel)
        guard unsafe TS_RESP_verify_response(context, pointer) == 1 else { throw Self.lastFault }
    }

    private static var lastFault: TimestampFault {
        switch countersign_last_reason(ERR_LIB_TS) {
        case TS_R_MESSAGE_IMPRINT_MISMATCH, TS_R_UNSUPPORTED_MD_ALGORITHM: .imprint
        case TS_R_NONCE_MISMATCH, TS_R_NONCE_NOT_RETURNED: .nonce
        case TS_R_SIGNATURE_FAILURE: .signature
        case TS_R_NO_TIME_STAMP_TOKEN: .rejected
        case TS_R_UNSUPPORTED_VERSION: .malformed
        // Also when the certificate is not the one that the signer says it used.
        default: .signer
        }
    }

    /// Whether the one signer hashed with something that resists collisions.
    var hasStrongDigest: Bool {
        switch unsafe countersign_ts_digest(TS_RESP_get_token(pointer)) {
        case NID_sha256, NID_sha384, NID_sha512: true
        default: false
        }
    }

    /// The certificate of the only signer; `nil` when it is not there.
    var signer: X509Handle? {
        defer { OpenSSL.forgetErrors() }
        guard let token = unsafe TS_RESP_get_token(pointer),
            let signers = unsafe PKCS7_get0_signers(token, nil, 0)
        else { return nil }
        // Only the stack is ours.
        defer { unsafe countersign_x509_stack_free(signers) }
        guard unsafe countersign_x509_count(signers) == 1,
            let certificate = unsafe countersign_x509_at(signers, 0)
        else { return nil }
        return X509Handle(der: unsafe DEREncoding.bytes { unsafe i2d_X509(certificate, $0) })
    }
}
