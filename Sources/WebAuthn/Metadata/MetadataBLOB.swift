package import Countersign
package import Crypto

/// The FIDO Metadata Service's list of authenticator models, as the operator supplies the file.
///
/// Source: FIDO Metadata Service 3.0, §3.1.6 (BLOB) and §3.2 (processing rules). It is read from a file
/// because this service calls nobody.
package struct MetadataBLOB: Sendable {
    /// One authenticator model and the certificates that may attest it.
    package struct Model: Sendable {
        package let aaguid: AAGUID
        package let certificates: [Certificate]
    }

    /// The models are believed until the end of this day, UTC: an old list does not know what was
    /// revoked since.
    package let nextUpdate: Instant
    /// The models with an AAGUID that nothing speaks against.
    package let models: [Model]

    /// Why a BLOB is refused.
    package enum Failure: String, Error, Sendable {
        /// No compact JWS with a chain of certificates in its header.
        case malformed
        /// The chain does not lead from the service's own name to the root.
        case untrusted
        case signature
        /// A payload without the members that are needed.
        case payload
    }

    /// Whose certificate signs the BLOB; the root signs certificates of many others.
    package static let signer = "mds.fidoalliance.org"
    /// The longest text that is read, in UTF-8 units; the public BLOB has some ten million.
    package static let unitsMax = 64 << 20

    /// What speaks against a model: its attestation key, or its verification of users, cannot be
    /// trusted. Source: FIDO Metadata Service 3.0, §3.1.4.
    private static let damning: Set<String> = [
        "REVOKED", "USER_VERIFICATION_BYPASS", "ATTESTATION_KEY_COMPROMISE",
        "USER_KEY_REMOTE_COMPROMISE", "USER_KEY_PHYSICAL_COMPROMISE",
    ]

    /// Verifies and reads a BLOB.
    ///
    /// - Parameters:
    ///   - text: The file's content: a compact JWS.
    ///   - root: The one certificate that its chain must reach.
    ///   - at: When the certificates must be valid.
    /// - Throws: ``Failure``.
    package init(_ text: String, root: Certificate, at: Instant) throws(Failure) {
        let payload = try Self.verified(text, root, at)
        guard let json = SignedJSON.decode(payload), case .integer? = json["no"],
            let day = json["nextUpdate"]?.text, let date = Instant(text: "\(day)T00:00:00Z"),
            case .array(let entries)? = json["entries"]
        else { throw .payload }
        nextUpdate = date + Seconds(24 * 60 * 60)
        var models: [Model] = []
        for entry in entries {
            if let model = try Self.model(entry) { models.append(model) }
        }
        self.models = models
    }

    /// The certificates as anchors, each for its model alone and only until the next edition is due.
    package var anchors: [AttestationAnchor] {
        models.flatMap { model in
            model.certificates.map {
                AttestationAnchor($0, format: nil, model: model.aaguid, until: nextUpdate)
            }
        }
    }

    /// The payload, once the chain and the signature are found in order.
    private static func verified(
        _ text: String, _ root: Certificate, _ at: Instant
    ) throws(Failure) -> Bytes {
        guard text.utf8.count <= unitsMax, let parts = CompactJWS.Parts(text),
            parts.header["crit"] == nil, case .array(let encoded)? = parts.header["x5c"],
            !encoded.isEmpty
        else { throw .malformed }
        var certificates: [Bytes] = []
        for one in encoded {
            guard let der = one.text.flatMap({ Base64.decode($0) }) else { throw .malformed }
            certificates.append(der)
        }
        let leaf = try leaf(of: certificates, root, at)
        // The key decides the algorithm; the header only has to agree.
        guard let key = leaf.publicKey, let algorithm = parts.header["alg"]?.text else {
            throw .malformed
        }
        guard isValid(parts.signature, for: parts.signed, by: key, algorithm) else {
            throw .signature
        }
        return parts.payload
    }

    /// In the two algorithms that the service has used. Source: RFC 7518 §3.3, §3.4.
    private static func isValid(
        _ signature: Bytes, for message: Bytes, by key: PublicKey, _ algorithm: String
    ) -> Bool {
        switch (key.algorithm, algorithm) {
        case (.rs256, "RS256"): key.isValid(signature: signature, for: message)
        case (.es256, "ES256"):
            key.p256?.isValid(signature: signature, in: .raw, for: message) == true
        default: false
        }
    }

    private static func leaf(
        of certificates: [Bytes], _ root: Certificate, _ at: Instant
    ) throws(Failure) -> Certificate {
        do {
            let chain = try CertificateChain(der: certificates)
            try chain.validate(.standard(anchors: [root]), at: at)
            guard chain.leaf.subject.values(.commonName) == [signer] else {
                throw Failure.untrusted
            }
            return chain.leaf
        } catch {
            throw .untrusted
        }
    }

    /// `nil` for a model without an AAGUID or a statement, or with a report that speaks against it.
    private static func model(_ entry: JSON) throws(Failure) -> Model? {
        guard let text = entry["aaguid"]?.text, let statement = entry["metadataStatement"] else {
            return nil
        }
        guard let aaguid = AAGUID(text: text), case .array(let reports)? = entry["statusReports"],
            case .array(let roots)? = statement["attestationRootCertificates"]
        else { throw .payload }
        let isDamned = reports.contains { report in
            report["status"]?.text.map(damning.contains) ?? true
        }
        guard !isDamned else { return nil }
        var certificates: [Certificate] = []
        for root in roots {
            // A certificate that OpenSSL cannot read anchors nothing; the others of the list still do.
            guard let der = root.text.flatMap({ Base64.decode($0) }),
                let certificate = try? Certificate(der: der)
            else { continue }
            certificates.append(certificate)
        }
        return Model(aaguid: aaguid, certificates: certificates)
    }
}
