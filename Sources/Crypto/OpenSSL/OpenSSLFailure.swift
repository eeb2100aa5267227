internal import COpenSSL

/// A call of OpenSSL failed although its input was in order: memory, a broken installation.
package struct OpenSSLFailure: Error, Equatable, CustomStringConvertible {
    /// The C function that failed.
    package let operation: String
    /// What OpenSSL's error queue said, oldest first; it never holds key material.
    package let reasons: [String]

    /// One line for the operator.
    package var description: String {
        "\(operation) failed: \(reasons.isEmpty ? "no reason given" : reasons.joined(separator: "; "))"
    }

    /// Takes everything out of this thread's error queue.
    init(_ operation: StaticString) {
        self.operation = "\(operation)"
        var reasons: [String] = []
        while true {
            let code = ERR_get_error()
            guard code != 0 else { break }
            var text = [CChar](repeating: 0, count: 256)
            unsafe ERR_error_string_n(code, &text, text.count)
            let units = text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }
            reasons.append(String(decoding: units, as: UTF8.self))
        }
        self.reasons = reasons
    }
}

/// What every wrapper of this folder does with a return code.
enum OpenSSL {
    /// Throws unless `code` is 1, OpenSSL's word for success.
    static func check(_ code: Int32, _ operation: StaticString) throws(OpenSSLFailure) {
        guard code == 1 else { throw OpenSSLFailure(operation) }
    }

    /// Stops the process unless `code` is 1: for calls that only fail without memory or a working
    /// installation, where going on would mean to sign or to refuse without reason.
    static func require(_ code: Int32, _ operation: StaticString) {
        guard code == 1 else { preconditionFailure(OpenSSLFailure(operation).description) }
    }

    /// Forgets the errors of a call whose failure is an ordinary answer, such as a wrong signature,
    /// so that no later call reports them as its own.
    static func forgetErrors() { ERR_clear_error() }
}
