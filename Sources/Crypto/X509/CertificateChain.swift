package import Countersign

/// How a chain is judged. There are no defaults: each of these can be a hole.
package struct ChainRules: Sendable {
    /// How a certificate's two dates count.
    package enum Dates: Hashable, Sendable {
        /// Both, each to its second, inclusive. Source: RFC 5280 §4.1.2.5.
        case judged
        /// Only the first: such a certificate does not age.
        case expiryIgnored
        case ignored
    }

    /// Who may have issued the leaf.
    package enum LeafIssuer: Hashable, Sendable {
        /// Only a certificate of a CA, as everywhere. Source: RFC 5280 §6.1.4 (k) and (n).
        case authority
        /// Any key that is certified itself. Hardware of the years before 2020 certifies its keys with one
        /// that is marked as no CA. Who allows it must tell a leaf from an issuer by other means.
        case anyKey
    }

    /// Trusted certificates: roots, intermediates or leaves.
    package var anchors: [Certificate]
    /// Of the first certificate.
    package var leafDates: Dates
    /// Of every certificate between the leaf and the anchor.
    package var intermediateDates: Dates
    /// Of the certificate that is trusted, also when it is the leaf.
    package var anchorDates: Dates
    /// Whether the leaf's issuer must be marked as a CA.
    package var leafIssuer: LeafIssuer
    /// OIDs of critical extensions that the caller reads itself, besides those that OpenSSL acts on.
    package var criticalExtensionsRead: Set<String>

    /// Takes every rule.
    package init(
        anchors: [Certificate], leafDates: Dates, intermediateDates: Dates, anchorDates: Dates,
        leafIssuer: LeafIssuer, criticalExtensionsRead: Set<String>
    ) {
        self.anchors = anchors
        self.leafDates = leafDates
        self.intermediateDates = intermediateDates
        self.anchorDates = anchorDates
        self.leafIssuer = leafIssuer
        self.criticalExtensionsRead = criticalExtensionsRead
    }

    /// RFC 5280 without exceptions: every date counts, no unknown critical extension.
    package static func standard(anchors: [Certificate]) -> ChainRules {
        ChainRules(
            anchors: anchors, leafDates: .judged, intermediateDates: .judged, anchorDates: .judged,
            leafIssuer: .authority, criticalExtensionsRead: [])
    }
}

/// Certificates as a device sends them: leaf first, each issued by the next.
package struct CertificateChain: Hashable, Sendable {
    /// The longest chain that is read; Android's longest have five.
    package static let certificatesMax = 10

    /// The leaf first; never empty.
    package let certificates: [Certificate]

    /// The certificate that is judged.
    package var leaf: Certificate { certificates[0] }

    /// Takes 1 to ``certificatesMax`` certificates; whether they are a chain is not looked at yet.
    package init(_ certificates: [Certificate]) throws(CertificateError) {
        guard (1...Self.certificatesMax).contains(certificates.count) else { throw .malformed }
        self.certificates = certificates
    }

    /// Reads 1 to ``certificatesMax`` certificates in DER.
    package init(der: [Bytes]) throws(CertificateError) {
        guard (1...Self.certificatesMax).contains(der.count) else { throw .malformed }
        var certificates: [Certificate] = []
        for one in der { certificates.append(try Certificate(der: one)) }
        try self.init(certificates)
    }

    /// Whether every certificate was issued by the next one, by names and signature.
    ///
    /// Stricter than RFC 5280, whose path may be picked out of a bag: a doubled, a swapped or a foreign
    /// certificate is refused, so that everything that was sent is part of what was judged.
    package var isLinked: Bool {
        zip(certificates, certificates.dropFirst()).allSatisfy { child, issuer in
            child.handle.names(asIssuer: issuer.handle) && child.isSigned(by: issuer)
        }
    }

    /// Judges the chain at an instant that the caller states. No clock, file or network is used.
    ///
    /// An anchor on the path ends it: by its bytes, or as another edition of the same root
    /// (``Certificate/isEdition(of:)``), whose dates are then those of the configured one. What was sent
    /// above it must be linked, and does not count.
    ///
    /// - Parameters:
    ///   - rules: What is trusted, and which dates count.
    ///   - now: The instant of which the dates are judged.
    /// - Returns: The anchor that the chain reached.
    /// - Throws: ``CertificateError``, `broken` before `untrusted` before the rest.
    @discardableResult
    package func validate(
        _ rules: ChainRules, at now: Instant
    ) throws(CertificateError) -> Certificate {
        guard isLinked else { throw .broken }
        var firstError: CertificateError?
        for path in paths(to: rules.anchors) {
            do {
                try Self.judge(path, rules, at: now)
                return path.anchor
            } catch {
                // Another edition of the anchor may still do.
                firstError = firstError ?? error
            }
        }
        throw firstError ?? .untrusted
    }

    private struct Path {
        /// Leaf first, the trusted certificate last.
        let certificates: [Certificate]
        let anchor: Certificate
    }

    /// Every way to an anchor, the shortest first.
    private func paths(to anchors: [Certificate]) -> [Path] {
        var paths: [Path] = []
        for (index, certificate) in certificates.enumerated() {
            let sent = Array(certificates[...index])
            for anchor in anchors where certificate.isEdition(of: anchor) {
                paths.append(Path(certificates: sent, anchor: anchor))
            }
            for anchor in anchors
            where certificate.handle.names(asIssuer: anchor.handle)
                && certificate.isSigned(by: anchor) && !certificate.isEdition(of: anchor)
            {
                paths.append(Path(certificates: sent + [anchor], anchor: anchor))
            }
        }
        return paths
    }

    private static func judge(
        _ path: Path, _ rules: ChainRules, at now: Instant
    ) throws(CertificateError) {
        try X509Path.validate(path.certificates.map(\.handle), leafIssuer: rules.leafIssuer)
        let last = path.certificates.count - 1
        for (index, certificate) in path.certificates.enumerated() {
            if index == last {
                try path.anchor.checkDates(rules.anchorDates, at: now)
                // Being trusted, the anchor is not asked for more, unless it is the leaf.
                if index > 0 { break }
            } else {
                try certificate.checkDates(
                    index == 0 ? rules.leafDates : rules.intermediateDates, at: now)
            }
            // RFC 5280 §4.2: a critical extension that is not understood refuses the certificate.
            guard
                certificate.extensions.allSatisfy({
                    !$0.isCritical || $0.isProcessed
                        || rules.criticalExtensionsRead.contains($0.oid)
                })
            else { throw .broken }
        }
    }
}

extension Certificate {
    fileprivate func checkDates(
        _ rule: ChainRules.Dates, at now: Instant
    ) throws(CertificateError) {
        guard rule != .ignored else { return }
        guard now >= notBefore else { throw .notYetValid }
        // The last second counts to its end.
        guard rule == .expiryIgnored || now.wholeSeconds <= notAfter else { throw .expired }
    }
}
