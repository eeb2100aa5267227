import Countersign
import WebAuthn

/// How the text of a setting becomes its value, and what to say when it does not.
struct SettingParser<Value: Sendable>: Sendable {
    let expects: String
    var kind = Setting.Kind.plain
    /// `nil` when the text is not acceptable.
    let parse: @Sendable (String) -> Value?
}

extension SettingParser where Value == Bool {
    static let yesOrNo = SettingParser(expects: "true or false", kind: .yesOrNo) { text in
        ["true": true, "false": false][text]
    }
}

extension SettingParser where Value == Int {
    static func integer(_ range: ClosedRange<Int>) -> SettingParser {
        SettingParser(expects: "an integer from \(range.lowerBound) to \(range.upperBound)") {
            guard $0.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
            return Int($0).flatMap { range.contains($0) ? $0 : nil }
        }
    }
}

extension SettingParser where Value: RawRepresentable & CaseIterable, Value.RawValue == String {
    static func choice() -> SettingParser {
        let words = Value.allCases.map(\.rawValue)
        return SettingParser(expects: "one of " + words.joined(separator: ", ")) {
            Value(rawValue: $0)
        }
    }
}

extension SettingParser where Value == Configuration.DeliveryMode? {
    static let deliveryMode = SettingParser(
        expects: "one of "
            + Configuration.DeliveryMode.allCases.map(\.rawValue).joined(separator: ", ")
    ) { text in Configuration.DeliveryMode(rawValue: text).map { .some($0) } }
}

extension SettingParser where Value == Failpoint? {
    static let failpoint = SettingParser(
        expects: "one of " + Failpoint.Place.allCases.map(\.rawValue).joined(separator: ", ")
            + ", with :N for the N-th passing; and of those of the log :N:unled, not to wait for the lead"
    ) { text in Failpoint(text).map { .some($0) } }
}

extension SettingParser where Value == FilePath? {
    static let file = SettingParser(expects: "the path of a file") { path($0) }
    static let folder = SettingParser(expects: "the path of a folder") { path($0) }
    static let keyFile = SettingParser(
        expects: "the path of a file that others cannot read", kind: .keyFile
    ) { path($0) }
    /// Absolute, because a bare name would be looked for in the folders of `PATH`; what has an equals sign would be a
    /// variable to `env`, by which programs are started.
    static let program = SettingParser(
        expects: "the absolute path of a program that others cannot change, without `=`"
    ) { $0.hasPrefix("/") && !$0.contains("=") ? path($0) : nil }

    private static func path(_ text: String) -> FilePath?? {
        isPrintable(text) ? .some(FilePath(text: text)) : nil
    }
}

extension SettingParser where Value == Redacted<String>? {
    static let connectionString = SettingParser(
        expects: "a libpq connection string or URI, or file:PATH of a file that holds it",
        kind: .secret
    ) { text in
        isPrintable(text) ? .some(Redacted(text)) : nil
    }
}

extension SettingParser where Value == String? {
    /// A host name in lower case, of letters, digits and hyphens.
    static let domain = SettingParser(expects: "a domain name in lower case") { text in
        isDomain(text) ? .some(text) : nil
    }

    static func line(_ length: Int) -> SettingParser {
        SettingParser(expects: "a line of at most \(length) characters") { text in
            isPrintable(text) && text.count <= length ? .some(text) : nil
        }
    }

    static func token(_ length: Int) -> SettingParser {
        SettingParser(expects: "at most \(length) of A–Z a–z 0–9 . _ : -") { text in
            isToken(text, atMost: length) ? .some(text) : nil
        }
    }

    /// A picture as browsers load it: on a server, or in the URL itself, which is better evidence.
    ///
    /// It comes back inside the client data, of which the verifier reads 16 384 bytes.
    /// Source: Secure Payment Confirmation, `PaymentCredentialInstrument.icon`; RFC 2397.
    static let icon = SettingParser(
        expects: "an https URL, or data:image/png;base64, and the like, of at most 8192 characters"
    ) { text in
        let isVisible = text.utf8.allSatisfy { (0x21...0x7E).contains($0) }
        guard isVisible, text.utf8.count <= 8192 else { return nil }
        if text.hasPrefix("https://") {
            let host = text.dropFirst("https://".count).prefix { !"/?#".contains($0) }
            return isHost(host, portAllowed: true) ? .some(text) : .none
        }
        let types = ["png", "jpeg", "svg+xml", "webp"].map { "data:image/\($0);base64," }
        guard let prefix = types.first(where: text.hasPrefix),
            let image = Base64.decode(text.dropFirst(prefix.count)), !image.isEmpty
        else { return nil }
        return .some(text)
    }

    /// A schema-less URL without spaces or plus signs, so that it can name a log of C2SP too.
    ///
    /// Source: C2SP tlog-checkpoint, "origin".
    static let logOrigin = SettingParser(
        expects: "a schema-less URL such as countersign.bank.example/log"
    ) { text in
        let parts = text.split(separator: "/", omittingEmptySubsequences: false)
        let isOrigin =
            text.utf8.count <= 128 && isDomain(String(parts.first ?? ""))
            && parts.dropFirst().allSatisfy { isToken(String($0), atMost: 64) }
        return isOrigin ? .some(text) : nil
    }

    /// Source: RFC 3986; neither user information nor a fragment, since URLs end up in logs.
    static let url = SettingParser(expects: "an http or https URL without credentials") { text in
        isURL(text) ? .some(text) : nil
    }
}

extension SettingParser where Value == String {
    static let address = SettingParser(
        expects: "an IPv4 or IPv6 address without brackets"
    ) { text in
        isIPv4(text[...]) || isIPv6(text[...]) ? text : nil
    }
}

extension SettingParser where Value == String? {
    /// Source: Android, "Set the application ID": at least two segments, each begun by a letter.
    static let applicationID = SettingParser(
        expects: "an application ID such as com.bank.app"
    ) { text in
        let segments = text.split(separator: ".", omittingEmptySubsequences: false)
        let isID =
            text.utf8.count <= 255 && segments.count >= 2
            && segments.allSatisfy { segment in
                segment.first.map { $0.isASCII && $0.isLetter } == true
                    && segment.utf8.allSatisfy { isAlphanumeric($0) || $0 == UInt8(ascii: "_") }
            }
        return isID ? .some(text) : nil
    }

    /// A team ID of ten capitals and digits, a dot, a bundle ID.
    static let appleAppID = SettingParser(expects: "TEAMID.bundle.id of an app of Apple's") {
        text in
        let parts = text.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, parts[0].utf8.count == 10, (1...155).contains(parts[1].utf8.count),
            parts[0].utf8.allSatisfy({ isAlphanumeric($0) && !(0x61...0x7A).contains($0) }),
            parts[1].utf8.allSatisfy({
                isAlphanumeric($0) || $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: ".")
            })
        else { return nil }
        return .some(text)
    }
}

extension SettingParser where Value == Int {
    /// 0, or a year and a month as Android writes its patch levels.
    static let patchLevel = SettingParser(expects: "YYYYMM, or 0 for any") { text in
        guard text.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let level = Int(text) else {
            return nil
        }
        let isMonth = text.utf8.count == 6 && level >= 201_001 && (1...12).contains(level % 100)
        return level == 0 || isMonth ? level : nil
    }
}

extension SettingParser where Value == [COSEAlgorithm] {
    static let algorithms = SettingParser(
        expects: "a comma list of " + COSEAlgorithm.allCases.map(\.name).joined(separator: ", ")
    ) { text in
        let names = list(text)
        let algorithms = names.compactMap { name in
            COSEAlgorithm.allCases.first { $0.name == name }
        }
        return algorithms.count == names.count && Set(algorithms).count == names.count
            ? algorithms : nil
    }
}

extension SettingParser where Value == [Digest] {
    /// Read in the spellings of keytool and of Google Play.
    static let fingerprints = SettingParser(
        expects: "a comma list of SHA-256 fingerprints in hexadecimal, with colons or without"
    ) { text in
        guard !text.isEmpty else { return [] }
        let names = list(text)
        let prints = names.compactMap { Digest(fingerprint: $0) }
        return prints.count == names.count ? prints : nil
    }
}

extension SettingParser where Value == [String] {
    /// Source: WebAuthn L3 §5.8.1 (`origin`) and Android's `android:apk-key-hash:` form of it.
    static let origins = SettingParser(
        expects: "a comma list of https origins, http://localhost origins, or "
            + "android:apk-key-hash: followed by 43 characters of base64url"
    ) { text in
        let origins = list(text)
        return !origins.isEmpty && origins.allSatisfy(isOrigin) ? origins : nil
    }
}

extension SettingParser where Value == [String] {
    /// In the dotted form. Source: X.660: the first number is at most 2.
    static let objectIdentifiers = SettingParser(
        expects: "a comma list of object identifiers such as 1.3.6.1.4.1.99999.1"
    ) { text in
        let identifiers = list(text)
        let areAll = identifiers.allSatisfy { identifier in
            let numbers = identifier.split(separator: ".", omittingEmptySubsequences: false)
            return numbers.count >= 2 && "012".contains(identifier.prefix(1))
                && numbers[0].count == 1
                && numbers.allSatisfy { UInt64($0).map(String.init) == String($0) }
        }
        return areAll && Set(identifiers).count == identifiers.count ? identifiers : nil
    }

    static let urls = SettingParser(
        expects: "a comma list of http or https URLs without credentials"
    ) { text in
        let urls = list(text)
        return urls.allSatisfy(isURL) && Set(urls).count == urls.count ? urls : nil
    }
}

private func list(_ text: String) -> [String] {
    text.split(separator: ",", omittingEmptySubsequences: false).map {
        String($0.trimmingPrefix(while: \.isWhitespace))
    }
}

private func isAlphanumeric(_ unit: UInt8) -> Bool {
    (0x30...0x39).contains(unit) || (0x41...0x5A).contains(unit) || (0x61...0x7A).contains(unit)
}

private func isOrigin(_ text: String) -> Bool {
    if text.hasPrefix("https://") {
        return isHost(text.dropFirst("https://".count), portAllowed: true)
    }
    if text.hasPrefix("http://") {
        let host = text.dropFirst("http://".count)
        return isHost(host, portAllowed: true) && host.prefix { $0 != ":" } == "localhost"
    }
    let prefix = "android:apk-key-hash:"
    let hash = text.dropFirst(prefix.count)
    return text.hasPrefix(prefix) && hash.utf8.count == 43
        && isToken(String(hash), atMost: 43) && !hash.contains(".") && !hash.contains(":")
}

private func isURL(_ text: String) -> Bool {
    guard let scheme = ["https://", "http://"].first(where: text.hasPrefix) else { return false }
    let authority = text.dropFirst(scheme.count).prefix { !"/?#".contains($0) }
    return isPrintable(text) && !text.contains(" ") && !text.contains("#")
        && isHost(authority, portAllowed: true)
}

private func isHost(_ text: Substring, portAllowed: Bool) -> Bool {
    var host = text
    if portAllowed, let colon = host.lastIndex(of: ":"), !host.hasSuffix("]") {
        guard let port = UInt16(host[host.index(after: colon)...]), port > 0 else { return false }
        host = host[..<colon]
    }
    if host.hasPrefix("["), host.hasSuffix("]") { return isIPv6(host.dropFirst().dropLast()) }
    return isDomain(String(host))
}

/// Also takes an IPv4 address, whose parts look like labels.
private func isDomain(_ text: String) -> Bool {
    let labels = text.split(separator: ".", omittingEmptySubsequences: false)
    return text.utf8.count <= 253
        && labels.allSatisfy { label in
            (1...63).contains(label.utf8.count) && !label.hasPrefix("-") && !label.hasSuffix("-")
                && label.utf8.allSatisfy {
                    (0x61...0x7A).contains($0) || (0x30...0x39).contains($0) || $0 == 0x2D
                }
        }
}

private func isIPv4(_ text: Substring) -> Bool {
    let parts = text.split(separator: ".", omittingEmptySubsequences: false)
    return parts.count == 4 && parts.allSatisfy { UInt8($0).map { String($0) } == String($0) }
}

/// RFC 4291 §2.2 without zones and without a dotted tail.
private func isIPv6(_ text: Substring) -> Bool {
    let halves = text.split(separator: "::", omittingEmptySubsequences: false)
    guard halves.count <= 2 else { return false }
    let groups = halves.flatMap { half in
        half.isEmpty ? [] : half.split(separator: ":", omittingEmptySubsequences: false)
    }
    let isHex = groups.allSatisfy { group in
        (1...4).contains(group.utf8.count) && UInt16(group, radix: 16) != nil
            && !group.hasPrefix("+")
    }
    return isHex && (halves.count == 2 ? groups.count <= 7 : groups.count == 8)
}

private func isToken(_ text: String, atMost length: Int) -> Bool {
    (1...length).contains(text.utf8.count)
        && text.utf8.allSatisfy { unit in
            switch unit {
            case 0x30...0x3A, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x2E, 0x5F: true
            default: false
            }
        }
}

/// Not empty and without control characters.
private func isPrintable(_ text: String) -> Bool {
    !text.isEmpty && text.unicodeScalars.allSatisfy { $0.value >= 0x20 && $0.value != 0x7F }
}
