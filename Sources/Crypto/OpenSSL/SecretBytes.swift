internal import COpenSSL
import Countersign

/// Key bytes that are wiped when their last owner goes away, and that no print or dump shows.
final class SecretBytes: Sendable, CustomReflectable, CustomStringConvertible {
    private let storage: Storage

    init(_ bytes: Bytes) { storage = Storage(bytes) }

    func withBytes<Result>(_ body: (Bytes) -> Result) -> Result { body(storage.bytes) }

    var description: String { "<redacted>" }
    var customMirror: Mirror { Mirror(self, children: []) }

    private final class Storage: @unchecked Sendable {
        // Sendable: written once in `init` and once in `deinit`, when nobody else can hold it.
        var bytes: Bytes
        init(_ bytes: Bytes) { self.bytes = bytes }
        deinit { unsafe OPENSSL_cleanse(&bytes, bytes.count) }
    }
}
