package import Countersign

/// What a log sends to a witness. Source: C2SP tlog-witness, `add-checkpoint`.
package struct WitnessRequest: Hashable, Sendable {
    /// Below the witness's URL.
    package static let path = "add-checkpoint"

    /// The size that the witness is believed to have cosigned last.
    package let old: Int64
    /// That the tree of that size is the beginning of the checkpoint's.
    package let proof: [Digest]
    /// The checkpoint with the log's own signatures.
    package let note: SignedNote

    /// - Parameters:
    ///   - old: Not below zero.
    ///   - proof: At most ``TreeProof/hashesMax``.
    ///   - note: A checkpoint that was published.
    package init(old: Int64, proof: [Digest], note: SignedNote) {
        precondition(
            old >= 0 && proof.count <= TreeProof.hashesMax, "a proof has a size and few hashes")
        self.old = old
        self.proof = proof
        self.note = note
    }

    /// The body: the old size, the proof, an empty line, and the note.
    package var body: Bytes {
        var text = "old \(old)\n"
        for hash in proof { text += Base64.encode(hash.bytes) + "\n" }
        return Bytes((text + "\n").utf8) + note.encoded
    }
}

/// The line of a cosignature as a witness has answered it, verified.
package struct CosignatureLine: Hashable, Sendable {
    /// The signature line, with its line feed.
    package let line: Bytes
    /// When the witness says that it signed.
    package let at: Instant
}

/// What a witness answers. Source: C2SP tlog-witness, `add-checkpoint`.
package enum WitnessAnswer: Hashable, Sendable {
    /// It has cosigned: at least one line, each verified with the witness's key.
    case cosigned([CosignatureLine])
    /// It has cosigned another size last, from which the proof has to begin.
    case knows(size: Int64)
    /// The proof leads from what it has seen to another root: there are two logs of one name.
    case inconsistent
    /// It does none of these; why not is a word for the operator.
    case refused(Refusal)

    /// The raw value is a word for logs and metrics.
    package enum Refusal: String, Sendable, CaseIterable {
        /// 404: it has not been told of this log.
        case unknownLog = "unknown_log"
        /// 403: none of the log's signatures is by a key that it believes.
        case unknownKey = "unknown_key"
        /// 400: it could not read the request.
        case badRequest = "bad_request"
        /// Another status.
        case status
        /// What it says is not of the form of its status.
        case malformed
        /// It answers with cosignatures of others alone.
        case otherKey = "other_key"
        /// Its own cosignature does not verify.
        case invalid
    }

    /// The media type of an answer that tells a size.
    package static let sizeType = "text/x.tlog.size"
    /// The longest answer that is read.
    package static let bytesMax = 16_384

    /// Reads an answer.
    ///
    /// - Parameters:
    ///   - status: Of HTTP.
    ///   - type: The field `Content-Type`.
    ///   - body: At most ``bytesMax``.
    ///   - text: Of the checkpoint that was sent.
    ///   - key: The witness's.
    package init(
        status: Int, type: String?, body: Bytes, to text: Bytes, of key: VerifierKey
    ) {
        guard body.count <= Self.bytesMax else {
            self = .refused(.malformed)
            return
        }
        self =
            switch status {
            case 200: Self.cosigned(body, text, key)
            case 409: Self.size(type, body).map { .knows(size: $0) } ?? .refused(.malformed)
            case 422: .inconsistent
            case 404: .refused(.unknownLog)
            case 403: .refused(.unknownKey)
            case 400: .refused(.badRequest)
            default: .refused(.status)
            }
    }

    private static func cosigned(_ body: Bytes, _ text: Bytes, _ key: VerifierKey) -> WitnessAnswer
    {
        guard let note = SignedNote(decoding: text + [UInt8(ascii: "\n")] + body),
            note.text == text
        else { return .refused(.malformed) }
        var cosignatures: [CosignatureLine] = []
        for signature in note.signatures {
            // Those of other keys say nothing that could be verified here.
            switch key.verdict(on: SignedNote(text: text, signatures: [signature])) {
            case .signed(let at?):
                cosignatures.append(CosignatureLine(line: signature.line, at: at))
            case .signed(nil), .unsigned: break
            case .invalid: return .refused(.invalid)
            }
        }
        return cosignatures.isEmpty ? .refused(.otherKey) : .cosigned(cosignatures)
    }

    private static func size(_ type: String?, _ body: Bytes) -> Int64? {
        guard type == sizeType, body.last == UInt8(ascii: "\n"),
            let digits = String(validating: body.dropLast(), as: UTF8.self)
        else { return nil }
        return PlainDecimal.parse(digits)
    }
}
