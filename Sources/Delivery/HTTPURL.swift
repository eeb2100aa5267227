import Countersign

/// An absolute `http` or `https` URL in the one spelling that is signed, sent and compared.
///
/// Reading is strict, so that this type, libcurl and a receiver cannot read the same text differently:
/// lower-case scheme and host, no user, no fragment, no default port, a path that starts with `/`, and
/// only the characters of RFC 3986 §3.3 and §3.4.
package struct HTTPURL: Hashable, Sendable {
    /// The schemes that are ever used.
    package enum Scheme: String, Sendable {
        case http
        case https
    }

    package let scheme: Scheme
    /// A name, an IPv4 address, or an IPv6 address in brackets.
    package let host: String
    /// `nil` for the scheme's default port.
    package let port: UInt16?
    /// Path and query as they stand in a request line.
    package let target: String

    /// Reads an absolute URL; a missing path is read as `/`, everything else in another spelling is `nil`.
    package init?(_ text: String) {
        let scheme: Scheme
        if text.hasPrefix("https://") {
            scheme = .https
        } else if text.hasPrefix("http://") {
            scheme = .http
        } else {
            return nil
        }
        let rest = text.utf8.dropFirst(scheme.rawValue.utf8.count + 3)
        let authority = rest.prefix { $0 != UInt8(ascii: "/") && $0 != UInt8(ascii: "?") }
        guard let authorityText = String(authority) else { return nil }
        self.init(
            scheme: scheme, authority: authorityText,
            target: String(rest.dropFirst(authority.count)) ?? "/")
    }

    /// Puts a URL together from what a server sees: its scheme, the `Host` field and the request target.
    package init?(scheme: Scheme, authority: String, target: String) {
        guard let (host, port) = Self.split(authority: authority),
            port != (scheme == .https ? 443 : 80)
        else { return nil }
        let target = target.isEmpty ? "/" : target
        guard target.utf8.first == UInt8(ascii: "/"), Self.isTarget(target) else { return nil }
        self.scheme = scheme
        self.host = host
        self.port = port
        self.target = target
    }

    /// Host and port, as in the `Host` field. Source: RFC 9421 §2.2.3.
    package var authority: String { port.map { "\(host):\($0)" } ?? host }

    /// The whole URL. Source: RFC 9421 §2.2.2.
    package var text: String { "\(scheme.rawValue)://\(authority)\(target)" }

    /// The path of ``target``. Source: RFC 9421 §2.2.6.
    package var path: String { String(target.prefix { $0 != "?" }) }

    /// The query with its leading `?`, which is there even when the query is empty or absent.
    ///
    /// Source: RFC 9421 §2.2.7.
    package var query: String { "?" + target.dropFirst(path.count + 1) }

    /// Whether the host can only be this machine.
    package var isLoopback: Bool {
        if host == "localhost" || host == "[::1]" { return true }
        let parts = host.split(separator: ".", omittingEmptySubsequences: false)
        return parts.count == 4 && parts[0] == "127"
            && parts.allSatisfy { part in
                part.allSatisfy { ("0"..."9").contains($0) }
                    && UInt8(part).map { String($0) == part } ?? false
            }
    }

    /// This URL with `components` added to its path; `nil` when one of them holds anything but unreserved
    /// characters, since nothing is percent-encoded here, or when this URL has a query.
    package func appending(_ components: String...) -> HTTPURL? {
        guard !target.contains("?") else { return nil }
        var path = target
        for component in components {
            guard !component.isEmpty, component.utf8.allSatisfy(Self.isUnreserved) else {
                return nil
            }
            if !path.hasSuffix("/") { path += "/" }
            path += component
        }
        return HTTPURL(scheme: scheme, authority: authority, target: path)
    }

    private static func split(authority: String) -> (host: String, port: UInt16?)? {
        let units = Array(authority.utf8)
        var host = units[...]
        var port: UInt16?
        if let colon = units.lastIndex(of: UInt8(ascii: ":")), units.last != UInt8(ascii: "]") {
            host = units[..<colon]
            let digits = String(decoding: units[(colon + 1)...], as: UTF8.self)
            guard let number = UInt16(digits), number > 0, String(number) == digits else {
                return nil
            }
            port = number
        }
        guard isHost(host) else { return nil }
        return (String(decoding: host, as: UTF8.self), port)
    }

    private static func isHost(_ units: ArraySlice<UInt8>) -> Bool {
        guard let first = units.first, let last = units.last, units.count <= 255 else {
            return false
        }
        if first == UInt8(ascii: "[") {
            return last == UInt8(ascii: "]") && units.count > 2
                && units.dropFirst().dropLast().allSatisfy {
                    // Lower case only, so that an address has one spelling.
                    Hex.value(of: $0) != nil && !(0x41...0x46).contains($0)
                        || $0 == UInt8(ascii: ":") || $0 == UInt8(ascii: ".")
                }
        }
        return units.allSatisfy {
            (0x61...0x7A).contains($0) || (0x30...0x39).contains($0) || $0 == UInt8(ascii: "-")
                || $0 == UInt8(ascii: ".")
        }
    }

    private static func isTarget(_ text: String) -> Bool {
        let units = Array(text.utf8)
        for (index, unit) in units.enumerated() {
            if unit == UInt8(ascii: "%") {
                guard index + 2 < units.count, Hex.value(of: units[index + 1]) != nil,
                    Hex.value(of: units[index + 2]) != nil
                else { return false }
            } else if !isUnreserved(unit) && !targetPunctuation.contains(unit) {
                return false
            }
        }
        return true
    }

    private static let targetPunctuation = Set("!$&'()*+,;=:@/?".utf8)

    private static func isUnreserved(_ unit: UInt8) -> Bool {
        switch unit {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
        case UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "~"): true
        default: false
        }
    }
}
