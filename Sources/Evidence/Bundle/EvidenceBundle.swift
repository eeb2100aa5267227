package import Countersign
import Crypto

/// Everything that a stranger needs to verify one decision, in one file: the records, the proofs that they
/// are in the log, and the log's checkpoint.
///
/// The file has one spelling. What is read is written again and compared, so that no byte can be another.
/// Source: `docs/evidence-format.md`.
package struct EvidenceBundle: Hashable, Sendable {
    /// Changes with any change of meaning of a member.
    package static let version = "countersign/bundle/1"
    /// Of a file that is read.
    package static let bytesMax = 1 << 20
    /// Of a bundle that is made: timestamps are left out rather than that it is longer.
    package static let madeBytesMax = 20_480
    /// Of timestamps in a bundle that is made.
    package static let timestampsMax = 2

    /// A record and the proof that it is in the log.
    package struct Entry: Hashable, Sendable {
        package let leaf: Bytes
        /// `nil` once the customer was erased, and of the erasure itself.
        package let body: OpenedBody?
        package let position: Int64
        /// From the leaf's sibling to the root's child.
        package let hashes: [Digest]
    }

    /// A body and the salt of its commitment.
    package struct OpenedBody: Hashable, Sendable {
        package let salt: Bytes
        package let bytes: Bytes

        package init(salt: Bytes, bytes: Bytes) {
            self.salt = salt
            self.bytes = bytes
        }
    }

    /// The one checkpoint of all proofs.
    package let checkpoint: SignedNote
    /// Timestamp responses (RFC 3161, DER) over ``SignedNote/byLogAlone``.
    package let timestamps: [Bytes]
    package let entries: [BundleRole: Entry]
}

extension EvidenceBundle {
    /// One record as it is put into a bundle.
    package struct Record: Sendable {
        package let role: BundleRole
        package let position: Int64
        package let leaf: Bytes
        package let body: OpenedBody?

        /// - Parameters:
        ///   - role: What it is there.
        ///   - position: Of the leaf in the log.
        ///   - leaf: The stored bytes.
        ///   - body: Opened; `nil` when it was erased.
        package init(role: BundleRole, position: Int64, leaf: Bytes, body: OpenedBody?) {
            self.role = role
            self.position = position
            self.leaf = leaf
            self.body = body
        }
    }

    /// The tiles that ``init(_:timestamps:checkpoint:from:)`` will ask for.
    package static func tiles(for positions: [Int64], in size: Int64) -> Set<Tile.Place> {
        positions.reduce(into: []) {
            $0.formUnion(TreeProof.tiles(forInclusionOf: $1, in: size))
        }
    }

    /// Makes the bundle of some records. Whether they prove anything is for ``BundleVerifier``.
    ///
    /// It is `nil` when a position is not in the tree, a tile is missing, a role is there twice, or
    /// something is not UTF-8.
    ///
    /// - Parameters:
    ///   - records: Each in another role.
    ///   - timestamps: Timestamp responses over the checkpoint, of which it holds the smallest, at most
    ///     ``timestampsMax`` and only so many that it has at most ``madeBytesMax``.
    ///   - checkpoint: A signed ``Checkpoint`` of a tree with all the records.
    ///   - tile: The hashes of a tile of that tree, or of one that has grown since.
    package init?(
        _ records: [Record], timestamps: [Bytes], checkpoint: SignedNote,
        from tile: (Tile.Place) -> [Digest]?
    ) {
        guard let size = Checkpoint(text: checkpoint.text)?.size else { return nil }
        var entries: [BundleRole: Entry] = [:]
        for record in records {
            guard
                let hashes = TreeProof.inclusion(of: record.position, in: size, from: tile),
                ([record.leaf] + [record.body?.bytes ?? []])
                    .allSatisfy({ String(validating: $0, as: UTF8.self) != nil }),
                entries.updateValue(
                    Entry(
                        leaf: record.leaf, body: record.role.isLeafAlone ? nil : record.body,
                        position: record.position, hashes: hashes), forKey: record.role) == nil
            else { return nil }
        }
        let bare = Self(checkpoint: checkpoint, timestamps: [], entries: entries)
        self.init(
            checkpoint: checkpoint, timestamps: bare.fitting(timestamps), entries: entries)
    }

    /// The smallest timestamps, so many as there is room for. Of what proves the records nothing is ever left out.
    private func fitting(_ timestamps: [Bytes]) -> [Bytes] {
        var room = Self.madeBytesMax - encoded.count
        var taken: [Bytes] = []
        for token in timestamps.sorted(by: { $0.count < $1.count }).prefix(Self.timestampsMax) {
            // With its quotes, and with the comma before it.
            room -= Base64.encode(token).utf8.count + 2 + (taken.isEmpty ? 0 : 1)
            guard room >= 0 else { break }
            taken.append(token)
        }
        return taken
    }
}

extension EvidenceBundle {
    /// One JSON object, as ``init(decoding:)`` reads it.
    package var encoded: Bytes {
        let entries = BundleRole.allCases.compactMap { role in
            self.entries[role].map { JSON.Member(role.rawValue, json($0)) }
        }
        let bundle: JSON = [
            "v": .string(Self.version),
            "checkpoint": .string(String(decoding: checkpoint.encoded, as: UTF8.self)),
            "timestamps": .array(timestamps.map { .string(Base64.encode($0)) }),
            "entries": .object(entries),
        ]
        return bundle.encoded
    }

    private func json(_ entry: Entry) -> JSON {
        // With the checkpoint after it, this is the file of C2SP tlog-proof.
        let proof = InclusionProofFile(
            index: entry.position, hashes: entry.hashes, checkpoint: checkpoint)
        var members: [JSON.Member] = [
            .init("proof", .string(String(decoding: proof.head, as: UTF8.self))),
            .init("leaf", .string(String(decoding: entry.leaf, as: UTF8.self))),
        ]
        if let body = entry.body {
            members.append(.init("salt", .string(Base64.encodeURL(body.salt))))
            members.append(.init("body", .string(String(decoding: body.bytes, as: UTF8.self))))
        }
        return .object(members)
    }

    /// Reads exactly what ``encoded`` writes; `nil` for any other spelling.
    package init?(decoding bytes: Bytes) {
        guard bytes.count <= Self.bytesMax, let json = SignedJSON.decode(bytes),
            json["v"]?.text == Self.version, let checkpoint = json["checkpoint"]?.text,
            let note = SignedNote(decoding: Bytes(checkpoint.utf8)),
            case .array(let tokens)? = json["timestamps"],
            case .object(let members)? = json["entries"]
        else { return nil }
        timestamps = tokens.compactMap { $0.text.flatMap { Base64.decode($0) } }
        self.checkpoint = note
        var entries: [BundleRole: Entry] = [:]
        for member in members {
            guard let role = BundleRole(rawValue: member.name),
                let entry = Entry(member.value, checkpoint: Bytes(checkpoint.utf8)),
                !role.isLeafAlone || entry.body == nil
            else { return nil }
            entries[role] = entry
        }
        self.entries = entries
        guard encoded == bytes else { return nil }
    }
}

extension EvidenceBundle.Entry {
    fileprivate init?(_ json: JSON, checkpoint: Bytes) {
        guard let leaf = json["leaf"]?.text, let head = json["proof"]?.text,
            let proof = InclusionProofFile(decoding: Bytes(head.utf8) + checkpoint)
        else { return nil }
        self.leaf = Bytes(leaf.utf8)
        position = proof.index
        hashes = proof.hashes
        if let salt = json.bytes("salt"), let body = json["body"]?.text {
            self.body = EvidenceBundle.OpenedBody(salt: salt, bytes: Bytes(body.utf8))
        } else {
            body = nil
        }
    }
}
