internal import COpenSSL
import Countersign

/// What OpenSSL's `i2d_…` functions write.
enum DEREncoding {
    /// Asks once for the length and once for the bytes.
    ///
    /// - Parameter write: The function, closed over its object. The argument is where to write, or
    ///   `nil` to be told the length.
    /// - Returns: The encoding.
    static func bytes(
        _ write: (UnsafeMutablePointer<UnsafeMutablePointer<UInt8>?>?) -> Int32
    ) -> Bytes {
        let count = write(nil)
        precondition(count > 0, "what was parsed or made has an encoding")
        return unsafe Bytes(unsafeUninitializedCapacity: Int(count)) { buffer, written in
            var cursor = buffer.baseAddress
            written = Int(unsafe write(&cursor))
        }
    }
}
