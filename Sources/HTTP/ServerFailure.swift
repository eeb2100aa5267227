/// Why a server could not be set up or could not take over new certificates.
package enum ServerFailure: Error, Equatable, Sendable {
    /// The host is neither an address of this machine nor a name for one.
    case addressUnknown(host: String)
    /// The port could not be opened; `errno` says why.
    case bindFailed(host: String, port: UInt16, errno: Int32)
    /// Libevent or OpenSSL could not allocate an object.
    case outOfResources
    /// The certificate chain could not be read. The reason is OpenSSL's, for the operator.
    case certificateUnusable(file: String, reason: String)
    /// The private key could not be read or is not the certificate's.
    case privateKeyUnusable(file: String, reason: String)
    /// The file of client CAs could not be read.
    case clientCAUnusable(file: String, reason: String)
    /// Client certificates are to be verified, but no file says against what.
    case clientCAMissing
}
