internal import COpenSSL
import Countersign

/// One run of OpenSSL's path validation. Source: RFC 5280 §6.1.
enum X509Path {
    /// Hashes and keys of less than 112 bits of security are refused: SHA-1, RSA below 2048 bits.
    private static let securityLevel: Int32 = 2

    /// Validates a path that is known completely: leaf first, the trusted certificate last.
    ///
    /// No clock is read, no file and no network. Dates and unknown critical extensions are the caller's
    /// part (``CertificateChain``); every other rule of the standard is OpenSSL's: signatures, names, CA
    /// and path length constraints, key usage, name constraints, strength.
    static func validate(
        _ path: [X509Handle], leafIssuer: ChainRules.LeafIssuer
    ) throws(CertificateError) {
        guard let leaf = path.first, let anchor = path.last else { throw .malformed }
        defer { OpenSSL.forgetErrors() }
        let store = X509Store(trusting: anchor)
        let others = X509Stack(path.dropFirst().dropLast())
        let run = X509Verification()
        OpenSSL.require(
            unsafe X509_STORE_CTX_init(run.pointer, store.pointer, leaf.pointer, others.pointer),
            "X509_STORE_CTX_init")
        guard let parameters = unsafe X509_STORE_CTX_get0_param(run.pointer) else {
            preconditionFailure("a verification has parameters")
        }
        // The anchor need not be self-signed; the instant is not OpenSSL's to judge.
        let flags =
            UInt(X509_V_FLAG_PARTIAL_CHAIN) | UInt(X509_V_FLAG_NO_CHECK_TIME)
            | UInt(X509_V_FLAG_IGNORE_CRITICAL)
        OpenSSL.require(
            unsafe X509_VERIFY_PARAM_set_flags(parameters, flags), "X509_VERIFY_PARAM_set_flags")
        OpenSSL.require(
            unsafe X509_VERIFY_PARAM_set_purpose(parameters, X509_PURPOSE_ANY),
            "X509_VERIFY_PARAM_set_purpose")
        unsafe X509_VERIFY_PARAM_set_auth_level(parameters, securityLevel)
        if leafIssuer == .anyKey { unsafe countersign_allow_any_leaf_issuer(run.pointer) }
        guard unsafe X509_verify_cert(run.pointer) == 1 else {
            throw error(of: unsafe X509_STORE_CTX_get_error(run.pointer))
        }
        // OpenSSL builds its own path from what it was given: it must be the one that was judged here.
        guard run.isPath(path) else { throw .broken }
    }

    private static func error(of code: Int32) -> CertificateError {
        switch code {
        case X509_V_ERR_EE_KEY_TOO_SMALL, X509_V_ERR_CA_KEY_TOO_SMALL, X509_V_ERR_CA_MD_TOO_WEAK:
            .weak
        default: .broken
        }
    }
}

@safe private struct X509Store: ~Copyable {
    let pointer: OpaquePointer

    init(trusting anchor: X509Handle) {
        guard let pointer = unsafe X509_STORE_new() else { preconditionFailure("out of memory") }
        unsafe self.pointer = pointer
        OpenSSL.require(
            unsafe X509_STORE_add_cert(pointer, anchor.pointer), "X509_STORE_add_cert")
    }

    deinit { unsafe X509_STORE_free(pointer) }
}

@safe private struct X509Stack: ~Copyable {
    let pointer: OpaquePointer
    /// The stack only borrows.
    private let certificates: [X509Handle]

    init(_ certificates: some Sequence<X509Handle>) {
        guard let pointer = unsafe countersign_x509_stack() else {
            preconditionFailure("out of memory")
        }
        unsafe self.pointer = pointer
        self.certificates = Array(certificates)
        for certificate in self.certificates {
            OpenSSL.require(
                unsafe countersign_x509_push(pointer, certificate.pointer), "sk_X509_push")
        }
    }

    deinit { unsafe countersign_x509_stack_free(pointer) }
}

@safe private struct X509Verification: ~Copyable {
    let pointer: OpaquePointer

    init() {
        guard let pointer = unsafe X509_STORE_CTX_new() else {
            preconditionFailure("out of memory")
        }
        unsafe self.pointer = pointer
    }

    deinit { unsafe X509_STORE_CTX_free(pointer) }

    func isPath(_ path: [X509Handle]) -> Bool {
        let built = unsafe X509_STORE_CTX_get0_chain(pointer)
        guard Int(unsafe countersign_x509_count(built)) == path.count else { return false }
        return path.enumerated().allSatisfy { index, certificate in
            unsafe X509_cmp(countersign_x509_at(built, Int32(index)), certificate.pointer) == 0
        }
    }
}
