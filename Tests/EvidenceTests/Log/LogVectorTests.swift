import Countersign
import Crypto
import Evidence
import TestSupport
import Testing

/// What others have published of trees and notes.
@Suite struct `The published vectors of logs` {
    private static let file = "rfc6962-merkle.json"

    @Test func `have the roots of the tree`() throws {
        guard let vectors = try Cases.vectors(Self.file) else { return }
        let leaves = try #require(vectors["leaf_inputs_hex"]?.list)
            .compactMap { $0.text.flatMap { Hex.decode($0) } }
        let roots = try #require(vectors["root_hashes_hex_by_size"]?.list).compactMap(\.text)
        let hashes = leaves.map(EvidenceSealer.leafHash)
        #expect(
            hashes.map(\.hex) == vectors["leaf_hashes_hex"]?.list?.compactMap(\.text))
        for (size, root) in roots.enumerated() {
            var edge = TreeEdge()
            _ = edge.append(hashes.prefix(size))
            #expect(edge.root.hex == root)
        }
        #expect(roots.count == 9)
    }

    @Test func `have the verdicts on proofs of inclusion`() throws {
        try run("inclusion") { vector in
            guard let root = digest(vector["root"]), let leaf = digest(vector["leafHash"]),
                let proof = proof(of: vector), let size = vector["treeSize"]?.number,
                let index = vector["leafIdx"]?.number
            else { return false }
            return TreeProof.root(of: leaf, at: index, in: size, by: proof) == root
        }
    }

    @Test func `have the verdicts on proofs of consistency`() throws {
        try run("consistency") { vector in
            guard let old = digest(vector["root1"]), let new = digest(vector["root2"]),
                let proof = proof(of: vector), let oldSize = vector["size1"]?.number,
                let newSize = vector["size2"]?.number
            else { return false }
            return TreeProof.isConsistent(
                from: oldSize, root: old, to: newSize, root: new, by: proof)
        }
    }

    /// A vector with a hash of another length has no verdict here but refusal, whatever it says.
    private func run(_ list: String, _ isAccepted: (JSON) -> Bool) throws {
        guard let vectors = try Cases.vectors(Self.file) else { return }
        let cases = try #require(vectors[list]?.list)
        var deviating: [String] = []
        var short = 0
        for vector in cases {
            let isWhole = vector["all_hashes_32_bytes"] == .bool(true)
            short += isWhole ? 0 : 1
            let expected = isWhole && vector["wantErr"] == .bool(false)
            if isAccepted(vector) != expected {
                deviating.append(vector["file"]?.text ?? "?")
            }
        }
        print("\(Self.file) \(list): \(cases.count) ran, \(short) with hashes of other lengths")
        #expect(deviating == [])
        #expect(cases.count == 98)
    }

    private func digest(_ json: JSON?) -> Digest? {
        json?.text.flatMap { Base64.decode($0) }.flatMap(Digest.init)
    }

    private func proof(of vector: JSON) -> [Digest]? {
        let texts = vector["proof"]?.list ?? []
        let hashes = texts.compactMap(digest)
        return hashes.count == texts.count ? hashes : nil
    }

    @Test func `have the signed note`() throws {
        guard case .array(let vectors)? = try Cases.vectors("c2sp-signed-note.json")?["vectors"]
        else { return }
        for vector in vectors {
            let key = try #require(vector["vkey"]?.text.flatMap(VerifierKey.init))
            let bytes = Bytes(try #require(vector["note"]?.text).utf8)
            let note = try #require(SignedNote(decoding: bytes))
            #expect(key.verdict(on: note) == .signed(at: nil))
            #expect(note.encoded == bytes)
            #expect(note.text == vector["text"]?.text.map { Bytes($0.utf8) })
            #expect(key.name == vector["key_name"]?.text)
            #expect(Hex.encode(key.keyID) == vector["key_id_hex"]?.text)
            #expect(Hex.encode(key.publicKey.raw) == vector["public_key_hex"]?.text)
            #expect(
                note.signatures.map { Hex.encode($0.signature) }
                    == [vector["signature_hex"]?.text])
        }
        print("c2sp-signed-note.json: \(vectors.count) ran")
        #expect(vectors.count == 1)
    }
}

extension JSON {
    fileprivate var list: [JSON]? { if case .array(let values) = self { values } else { nil } }
    fileprivate var number: Int64? {
        if case .integer(let value) = self { value } else { nil }
    }
}
