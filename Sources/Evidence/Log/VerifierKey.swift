package import Countersign
package import Crypto

/// A key that verifies signatures of notes, with the name that it signs under.
///
/// Source: C2SP signed-note, "Verifier keys".
package struct VerifierKey: Hashable, Sendable {
    /// What a signature of the key covers; the raw value is its byte in C2SP's list.
    package enum Kind: UInt8, Sendable {
        /// The text of the note: a log's own signature.
        case ed25519 = 0x01
        /// A time and the text: a witness. Source: C2SP tlog-cosignature, `cosignature/v1`.
        case cosignature = 0x04
    }

    /// What a key has to say of a note.
    package enum Verdict: Hashable, Sendable {
        /// There is no signature of this key.
        case unsigned
        /// A signature of this key does not verify: the whole note is to be refused.
        case invalid
        /// It has signed; a witness says when.
        case signed(at: Instant?)
    }

    package let name: String
    package let kind: Kind
    package let publicKey: Ed25519PublicKey

    /// - Parameters:
    ///   - name: A name as ``isName(_:)`` allows.
    ///   - kind: What its signatures cover.
    ///   - publicKey: The key.
    package init(name: String, kind: Kind, publicKey: Ed25519PublicKey) {
        precondition(Self.isName(name), "a key has a name without spaces")
        self.name = name
        self.kind = kind
        self.publicKey = publicKey
    }

    /// Whether a key may have that name: it is not empty and has no spaces, control characters or `+`.
    package static func isName(_ name: String) -> Bool {
        !name.isEmpty
            && name.unicodeScalars.allSatisfy {
                $0.value >= 0x20 && $0 != "+" && !$0.properties.isWhitespace
            }
    }

    /// Reads `name+key ID+base64(kind ‖ key)`; `nil` for anything else, also when the ID is not the key's.
    package init?(text: String) {
        let parts = text.utf8.split(
            separator: UInt8(ascii: "+"), maxSplits: 2, omittingEmptySubsequences: false
        ).map { String(Substring($0)) }
        guard parts.count == 3, Self.isName(parts[0]), let bytes = Base64.decode(parts[2]),
            let kind = bytes.first.flatMap(Kind.init)
        else { return nil }
        do throws(KeyError) {
            self.init(
                name: parts[0], kind: kind,
                publicKey: try Ed25519PublicKey(raw: Bytes(bytes.dropFirst())))
        } catch {
            return nil
        }
        guard self.text.utf8.elementsEqual(text.utf8) else { return nil }
    }

    /// `name+key ID+base64(kind ‖ key)`, the ID in lower-case hexadecimal.
    package var text: String {
        "\(name)+\(Hex.encode(keyID))+\(Base64.encode([kind.rawValue] + publicKey.raw))"
    }

    /// The first 4 bytes of `SHA-256(name ‖ 0x0A ‖ kind ‖ key)`.
    package var keyID: Bytes {
        Bytes(
            sha256(Bytes(name.utf8) + [0x0A, kind.rawValue] + publicKey.raw).bytes.prefix(4))
    }

    /// Whether this key has signed the note, and no signature of it is wrong.
    package func verifies(_ note: SignedNote) -> Bool {
        switch verdict(on: note) {
        case .signed: true
        case .unsigned, .invalid: false
        }
    }

    /// What this key has to say of the note. Signatures of other keys are passed over.
    ///
    /// A witness that signed more than once is taken at its earliest time.
    package func verdict(on note: SignedNote) -> Verdict {
        var times: [Instant?] = []
        for line in note.signatures where isOfThis(line) {
            guard let time = time(of: line.signature, over: note.text) else { return .invalid }
            times.append(time)
        }
        guard !times.isEmpty else { return .unsigned }
        return .signed(at: times.compactMap(\.self).min())
    }

    private func isOfThis(_ line: NoteSignature) -> Bool {
        line.name.utf8.elementsEqual(name.utf8) && line.keyID == keyID
    }

    /// When a signature says that it was made, if at all; `nil` when it does not verify.
    private func time(of signature: Bytes, over text: Bytes) -> Instant?? {
        switch kind {
        case .ed25519:
            return publicKey.isValid(signature: signature, for: text) ? .some(nil) : nil
        case .cosignature:
            guard signature.count == 72 else { return nil }
            let seconds = signature.prefix(8).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
            guard seconds <= Self.secondsMax,
                publicKey.isValid(
                    signature: Bytes(signature.dropFirst(8)),
                    for: Self.cosigned(text, at: Int64(seconds)))
            else { return nil }
            return .some(Instant(milliseconds: Int64(seconds) * 1000))
        }
    }

    /// Stricter than C2SP, which has 2⁶³ − 1: the last second of the year 9999.
    private static let secondsMax: UInt64 = 253_402_300_799

    /// What a witness signs.
    private static func cosigned(_ text: Bytes, at seconds: Int64) -> Bytes {
        Bytes("cosignature/v1\ntime \(seconds)\n".utf8) + text
    }
}

extension VerifierKey {
    /// The signature line of a log's own key.
    ///
    /// - Parameters:
    ///   - text: The text of a note.
    ///   - sign: Makes an Ed25519 signature with the private key, wherever that is.
    /// - Returns: `nil` when what `sign` made does not verify with this key: then it must not be published.
    /// - Throws: What `sign` throws.
    package func signature<Failure: Error>(
        on text: Bytes, by sign: (Bytes) throws(Failure) -> Bytes
    ) throws(Failure) -> NoteSignature? {
        precondition(kind == .ed25519, "a witness states a time")
        return line(try sign(text), on: text)
    }

    /// The signature line of a witness.
    ///
    /// - Parameters:
    ///   - text: The text of a checkpoint.
    ///   - instant: When, of which the whole seconds count.
    ///   - sign: Makes an Ed25519 signature with the private key.
    /// - Returns: `nil` when what `sign` made does not verify with this key.
    /// - Throws: What `sign` throws.
    package func cosignature<Failure: Error>(
        on text: Bytes, at instant: Instant, by sign: (Bytes) throws(Failure) -> Bytes
    ) throws(Failure) -> NoteSignature? {
        precondition(kind == .cosignature, "a log's own key states no time")
        let seconds = instant.milliseconds / 1000
        let time = (0..<8).reversed().map {
            UInt8(truncatingIfNeeded: seconds >> (8 * Int64($0)))
        }
        return line(time + (try sign(Self.cosigned(text, at: seconds))), on: text)
    }

    private func line(_ bytes: Bytes, on text: Bytes) -> NoteSignature? {
        guard time(of: bytes, over: text) != nil else { return nil }
        return NoteSignature(name: name, keyID: keyID, signature: bytes)
    }
}

extension SignedNote {
    /// The note of a text with one signature, by a log's own key.
    ///
    /// - Parameters:
    ///   - text: The text of a note.
    ///   - key: Under whose name it is signed.
    ///   - sign: Makes an Ed25519 signature with the private key, wherever that is.
    /// - Returns: `nil` when what `sign` made does not verify with the key.
    /// - Throws: What `sign` throws.
    package static func note<Failure: Error>(
        signing text: Bytes, as key: VerifierKey, by sign: (Bytes) throws(Failure) -> Bytes
    ) throws(Failure) -> SignedNote? {
        try key.signature(on: text, by: sign).map { SignedNote(text: text, signatures: [$0]) }
    }
}
