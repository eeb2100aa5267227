internal import CLibevent

/// One set of certificates as OpenSSL holds it; connections made from it keep it alive.
@safe final class TLSContext: @unchecked Sendable {
    // Sendable: an SSL_CTX counts its references atomically and is not changed after `init`.
    private let context: OpaquePointer

    init(_ options: TLSOptions) throws(ServerFailure) {
        guard let context = unsafe SSL_CTX_new(TLS_server_method()) else { throw .outOfResources }
        unsafe self.context = context
        harden()
        try loadIdentity(options)
        try trustClients(options)
        unsafe SSL_CTX_set_info_callback(context, tlsProgressed)
    }

    deinit { unsafe SSL_CTX_free(context) }

    /// A new connection on the server's side, which the caller must free; `nil` without memory.
    func makeConnection() -> OpaquePointer? { unsafe SSL_new(context) }

    /// TLS 1.2 or later; no renegotiation; no resumption, so that every connection is verified anew
    /// and a reload leaves no session behind; buffers of idle connections are given back.
    private func harden() {
        unsafe SSL_CTX_ctrl(context, SSL_CTRL_SET_MIN_PROTO_VERSION, Int(TLS1_2_VERSION), nil)
        unsafe SSL_CTX_set_options(context, countersign_ssl_options)
        unsafe SSL_CTX_set_num_tickets(context, 0)
        unsafe SSL_CTX_ctrl(context, SSL_CTRL_SET_SESS_CACHE_MODE, Int(SSL_SESS_CACHE_OFF), nil)
        unsafe SSL_CTX_ctrl(context, SSL_CTRL_MODE, Int(SSL_MODE_RELEASE_BUFFERS), nil)
    }

    private func loadIdentity(_ options: TLSOptions) throws(ServerFailure) {
        let chain = options.certificateChainFile
        ERR_clear_error()
        guard unsafe SSL_CTX_use_certificate_chain_file(context, chain) == 1 else {
            throw .certificateUnusable(file: chain, reason: openSSLReason())
        }
        let key = options.privateKeyFile
        guard unsafe SSL_CTX_use_PrivateKey_file(context, key, SSL_FILETYPE_PEM) == 1,
            unsafe SSL_CTX_check_private_key(context) == 1
        else {
            throw .privateKeyUnusable(file: key, reason: openSSLReason())
        }
    }

    private func trustClients(_ options: TLSOptions) throws(ServerFailure) {
        let mode: Int32
        switch options.clientCertificate {
        case .off: return unsafe SSL_CTX_set_verify(context, SSL_VERIFY_NONE, nil)
        case .optional: mode = SSL_VERIFY_PEER
        case .required: mode = SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT
        }
        guard let file = options.clientCAFile else { throw .clientCAMissing }
        guard unsafe SSL_CTX_load_verify_locations(context, file, nil) == 1,
            let names = unsafe SSL_load_client_CA_file(file)
        else {
            throw .clientCAUnusable(file: file, reason: openSSLReason())
        }
        // The context takes the list over.
        unsafe SSL_CTX_set_client_CA_list(context, names)
        unsafe SSL_CTX_set_verify(context, mode, nil)
    }
}

/// The oldest entry of this thread's error queue, which is emptied.
private func openSSLReason() -> String {
    let code = ERR_get_error()
    ERR_clear_error()
    guard let text = unsafe ERR_reason_error_string(code) else { return "error \(code)" }
    return unsafe String(cString: text)
}

private func tlsProgressed(_ ssl: OpaquePointer?, _ event: Int32, _: Int32) {
    guard event & SSL_CB_HANDSHAKE_DONE != 0, let ssl = unsafe ssl else { return }
    unsafe Connection.attached(to: ssl)?.handshakeCompleted()
}
