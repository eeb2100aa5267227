package import Countersign

/// Why a signed request is not believed. A caller should learn no more than that it is not.
package enum SignatureRefusal: String, Error, CaseIterable, Sendable {
    /// No signature with the tag of this profile.
    case missing
    /// `Signature` or `Signature-Input` is not what RFC 9421 §4 says.
    case malformed
    /// More than one signature with the tag: which of them counts must not be a choice.
    case ambiguous
    case componentMissing
    case parameterMissing
    /// Not created about now, expired, or meant to live too long.
    case stale
    case unknownKey
    /// `alg` contradicts the trusted key.
    case wrongAlgorithm
    case invalidSignature
    /// The body is not the one whose digest was signed.
    case digestMismatch
    /// The nonce was seen before.
    case replayed
}

/// Verifies requests that ``MessageSigner`` signed, in the order of RFC 9421 §3.2.
package struct MessageVerifier: Sendable {
    private let keys: [String: VerificationKey]
    private let isFirstUse: @Sendable (_ nonce: String, _ until: Instant) -> Bool

    /// Takes the trusted keys and a memory of nonces.
    ///
    /// - Parameters:
    ///   - keys: The trusted keys by their `keyid`.
    ///   - isFirstUse: Remembers a nonce until the given time and says whether it is new. It is only
    ///     asked about validly signed requests, so strangers cannot fill it.
    package init(
        keys: [String: VerificationKey],
        isFirstUse: @escaping @Sendable (_ nonce: String, _ until: Instant) -> Bool
    ) {
        self.keys = keys
        self.isFirstUse = isFirstUse
    }

    /// Succeeds for a request whose every covered part, and body, is what a trusted key signed just now.
    ///
    /// - Parameters:
    ///   - parts: The request as received; its URL is this receiver's own, not what the sender claims.
    ///   - body: The bytes actually received.
    ///   - now: The receiver's time.
    /// - Throws: ``SignatureRefusal``, the first reason not to believe it.
    package func verify(_ parts: SignedParts, body: Bytes, now: Instant) throws(SignatureRefusal) {
        // §3.2 steps 1 and 2: find the one signature that is meant for this purpose.
        let (input, signature) = try select(parts)
        // §3.2.1: the application's own requirements.
        try checkComponents(input)
        let claims = try Claims(input)
        try claims.checkFreshness(now)
        // Steps 3 to 6: the key by its ID from the trusted ones; the algorithm from the key.
        guard let key = keys[claims.keyID] else { throw .unknownKey }
        guard claims.algorithm.map({ $0 == key.algorithm }) ?? true else { throw .wrongAlgorithm }
        // Step 7: the base is rebuilt from the message, not taken from it.
        guard let base = SignatureBase.build(input, over: parts) else { throw .componentMissing }
        // Step 8.
        guard key.isValid(signature: signature, for: base) else { throw .invalidSignature }
        guard let digest = parts.value(of: "content-digest"),
            ContentDigest.matches(digest, body: body)
        else { throw .digestMismatch }
        guard isFirstUse(claims.nonce, claims.expires) else { throw .replayed }
    }

    private func select(_ parts: SignedParts) throws(SignatureRefusal)
        -> (StructuredFields.InnerList, Bytes)
    {
        guard let inputField = parts.value(of: "signature-input"),
            let signatureField = parts.value(of: "signature")
        else { throw .missing }
        guard let inputs = StructuredFields.dictionary(inputField),
            let signatures = StructuredFields.dictionary(signatureField)
        else { throw .malformed }
        var chosen: (StructuredFields.InnerList, Bytes)?
        for (label, member) in inputs {
            guard case .innerList(let input) = member else { throw .malformed }
            guard input["tag"] == .string(SignatureProfile.tag) else { continue }
            guard chosen == nil else { throw .ambiguous }
            guard let member = signatures.first(where: { $0.key == label })?.value,
                case .item(let item) = member, case .bytes(let signature) = item.item
            else { throw .malformed }
            chosen = (input, signature)
        }
        guard let chosen else { throw .missing }
        return chosen
    }

    private func checkComponents(_ input: StructuredFields.InnerList) throws(SignatureRefusal) {
        guard let names = SignatureBase.componentNames(input) else { throw .malformed }
        guard SignatureProfile.components.allSatisfy(names.contains) else {
            throw .componentMissing
        }
    }
}

/// The parameters that the profile requires.
private struct Claims {
    let created: Instant
    let expires: Instant
    let nonce: String
    let keyID: String
    let algorithm: String?

    init(_ input: StructuredFields.InnerList) throws(SignatureRefusal) {
        guard case .integer(let created) = input["created"],
            case .integer(let expires) = input["expires"],
            case .string(let nonce) = input["nonce"],
            SignatureProfile.nonceLengths.contains(nonce.utf8.count),
            case .string(let keyID) = input["keyid"]
        else { throw .parameterMissing }
        switch input["alg"] {
        case nil: algorithm = nil
        case .string(let name): algorithm = name
        default: throw .malformed
        }
        // At most 15 digits were read, so this cannot overflow.
        self.created = Instant(milliseconds: created * 1000)
        self.expires = Instant(milliseconds: expires * 1000)
        self.nonce = nonce
        self.keyID = keyID
    }

    func checkFreshness(_ now: Instant) throws(SignatureRefusal) {
        let tolerance = SignatureProfile.createdTolerance
        guard created - tolerance <= now, now <= created + tolerance, now < expires,
            created < expires, expires <= created + SignatureProfile.lifetimeMax
        else { throw .stale }
    }
}
