internal import CFido2

/// The library as a whole.
enum FidoLibrary {
    /// Must come before any other call of libfido2; only the first does anything.
    static func start() { _ = isStarted }

    private static let isStarted: Bool = {
        // Without FIDO_DEBUG, so that nothing of an assertion is ever printed.
        fido_init(FIDO_DISABLE_U2F_FALLBACK)
        return true
    }()
}
