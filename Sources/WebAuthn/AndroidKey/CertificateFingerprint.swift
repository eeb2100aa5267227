package import Countersign

extension Digest {
    /// Reads the fingerprint of a certificate, as `keytool` and the Play console show its SHA-256: 64
    /// hexadecimal digits in either case, with a colon between every two or without any. Anything else is
    /// `nil`.
    package init?(fingerprint: some StringProtocol) {
        let pairs = fingerprint.split(separator: ":", omittingEmptySubsequences: false)
        guard pairs.count == 1 || pairs.allSatisfy({ $0.utf8.count == 2 }),
            let bytes = Hex.decode(pairs.joined())
        else { return nil }
        self.init(bytes)
    }
}
