/// The exact bytes that a phone signs for one request.
///
/// Lines with a line feed between them and none at the end. No line can hold a line feed, and the two
/// profiles have five lines and seven, so that no two requests have the same bytes. A method never
/// begins with a brace, so these bytes are never those of a ``SignedMessage``.
///
/// ```
/// countersign-request/1    countersign-request/2
/// METHOD                   METHOD
/// target                   host
/// timestamp                path: the target up to its first question mark
/// nonce                    query: the rest with the question mark; empty when there is none
/// body digest              timestamp
///                          nonce
///                          body digest
/// ```
package enum CanonicalRequest {
    static var methodLengthMax: Int { 32 }
    static var targetLengthMax: Int { 8192 }
    static var hostLengthMax: Int { 255 }

    /// The bytes of a request with these fields; `nil` when method, target or host is nothing that can
    /// stand in the head of a request.
    package static func bytes(
        of request: DeviceRequest, timestamp: Int64, nonce: String
    ) -> Bytes? {
        guard isToken(request.method), isVisible(request.target, atMost: targetLengthMax) else {
            return nil
        }
        var lines = [request.method]
        switch request.profile {
        case .target: lines.append(request.target)
        case .hostAndTarget(let host):
            // Only the origin form has a path (RFC 9112 §3.2.1).
            let target = request.target
            guard isVisible(host, atMost: hostLengthMax), target.hasPrefix("/") else { return nil }
            let mark = target.firstIndex(of: "?") ?? target.endIndex
            lines += [host, String(target[..<mark]), String(target[mark...])]
        }
        lines += [String(timestamp), nonce, request.bodyDigest.hex]
        return Bytes(lines.joined(separator: "\n").utf8)
    }

    private static let tokenPunctuation = Bytes("!#$%&'*+-.^_`|~".utf8)

    /// A token of RFC 9110 §5.6.2.
    private static func isToken(_ text: String) -> Bool {
        (1...methodLengthMax).contains(text.utf8.count)
            && text.utf8.allSatisfy {
                $0.isLetter || $0.isDigit || tokenPunctuation.contains($0)
            }
    }

    /// Printable ASCII without the space, as RFC 9112 §3 separates the parts of a request line.
    private static func isVisible(_ text: String, atMost length: Int) -> Bool {
        (1...length).contains(text.utf8.count) && text.utf8.allSatisfy(\.isVisible)
    }
}
