package import Countersign

/// Why a timestamp proves nothing. The raw value is a word for logs.
package enum TimestampFault: String, Error, Sendable, CaseIterable {
    /// It is no TimeStampResp in DER, or of another version, or too long.
    case malformed
    /// The authority granted none.
    case rejected
    /// It is of other bytes.
    case imprint
    /// It answers another request.
    case nonce
    /// The signature does not verify, or with a weak hash.
    case signature
    /// The signer's certificate is not for timestamps alone, is not the one that was signed with, or does
    /// not lead to an anchor at the time of the stamp.
    case signer
    /// It was made under a policy that is not taken.
    case policy

    /// The sentence for a person.
    package var sentence: String {
        switch self {
        case .malformed: "the timestamp is not of the form of RFC 3161"
        case .rejected: "the timestamp was not granted"
        case .imprint: "the timestamp is of something else"
        case .nonce: "the timestamp answers another request"
        case .signature: "the signature of the timestamp does not verify"
        case .signer: "the timestamp is not signed by an authority that is believed"
        case .policy: "the timestamp was made under a policy that is not taken"
        }
    }
}

/// What an authority proves of some bytes by its timestamp.
package struct ProvenTimestamp: Hashable, Sendable {
    /// When the authority saw them, in whole seconds.
    package let at: Instant
    /// Whom the certificate of its signer names, as ``DistinguishedName/text``.
    package let authority: String
    /// The object identifier of the policy that the authority followed, such as `1.3.6.1.4.1.99999.1`.
    package let policy: String

    package init(at: Instant, authority: String, policy: String) {
        self.at = at
        self.authority = authority
        self.policy = policy
    }

    /// Refuses one of another policy than these; none takes every policy. Source: RFC 3161 §2.2 (`reqPolicy`), EV-07.
    ///
    /// - Throws: ``TimestampFault/policy``.
    package func demand(policies: [String]) throws(TimestampFault) {
        guard policies.isEmpty || policies.contains(policy) else { throw .policy }
    }
}

/// Timestamps of others: what to ask for, and what an answer proves. No clock, file or network is used.
///
/// Source: RFC 3161, with RFC 5816 for the hash over the signer's certificate.
package enum TimestampToken {
    /// The longest answer that is read; with a chain of certificates one has about 6000 bytes.
    package static let responseBytesMax = 32_768
    /// The length of a nonce, in bytes.
    package static let nonceBytes = 16
    /// The media type of a request. Source: RFC 3161 §3.4.
    package static let queryType = "application/timestamp-query"
    /// The media type of an answer.
    package static let replyType = "application/timestamp-reply"

    /// id-kp-timeStamping. Source: RFC 3161 §2.3.
    private static let timeStamping = "1.3.6.1.5.5.7.3.8"

    /// A TimeStampReq of version 1 over the SHA-256 of the text, with the authority's certificates.
    ///
    /// - Parameters:
    ///   - text: What is to be stamped.
    ///   - nonce: ``nonceBytes`` random bytes.
    /// - Returns: The request in DER.
    package static func query(over text: Bytes, nonce: Bytes) -> Bytes {
        precondition(nonce.count == nonceBytes, "a nonce has its length")
        return TimestampQuery(over: sha256(text), nonce: nonce).der
    }

    /// Checks a stored answer.
    ///
    /// - Parameters:
    ///   - response: The TimeStampResp.
    ///   - text: What was stamped: of a checkpoint, the note with the log's own signatures alone.
    ///   - anchors: The certificates in which the authority's path may end.
    /// - Returns: When the authority saw it, and which authority it is.
    /// - Throws: ``TimestampFault``.
    package static func verify(
        response: Bytes, over text: Bytes, anchors: [Certificate]
    ) throws(TimestampFault) -> ProvenTimestamp {
        try verify(response, TimestampQuery(over: sha256(text), nonce: []), anchors)
    }

    /// Checks the answer to ``query(over:nonce:)``: it must repeat the nonce, too.
    ///
    /// - Returns: When the authority saw it, and which authority it is.
    /// - Throws: ``TimestampFault``.
    package static func verify(
        response: Bytes, over text: Bytes, nonce: Bytes, anchors: [Certificate]
    ) throws(TimestampFault) -> ProvenTimestamp {
        precondition(nonce.count == nonceBytes, "a nonce has its length")
        return try verify(response, TimestampQuery(over: sha256(text), nonce: nonce), anchors)
    }

    private static func verify(
        _ response: Bytes, _ query: TimestampQuery, _ anchors: [Certificate]
    ) throws(TimestampFault) -> ProvenTimestamp {
        guard response.count <= responseBytesMax, let answer = TimestampResponse(der: response)
        else { throw .malformed }
        // PKIStatus granted or grantedWithMods. Source: RFC 3161 §2.4.2.
        guard let status = answer.status, 0...1 ~= status else { throw .rejected }
        guard let seconds = answer.time, 0...secondsMax ~= seconds else { throw .malformed }
        // The time is signed too, so that what is checked as of it is checked as of a time that counts.
        try answer.verify(answering: query, anchors: anchors.map(\.handle), at: seconds)
        guard answer.hasStrongDigest else { throw .signature }
        // Stricter than OpenSSL, which passes over key usages that it has no name for.
        guard let signer = answer.signer,
            case .present([timeStamping]) = signer.extendedKeyUsages, let name = signer.subject
        else { throw .signer }
        guard let policy = answer.policy else { throw .malformed }
        return ProvenTimestamp(
            at: Instant(milliseconds: seconds * 1000), authority: DistinguishedName(name).text,
            policy: policy)
    }

    /// The last second of the year 9999.
    private static let secondsMax: Int64 = 253_402_300_799
}
