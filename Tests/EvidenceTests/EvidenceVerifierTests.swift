import Countersign
import Crypto
import Evidence
import TestSupport
import Testing

@Suite struct `Verifying evidence` {
    let log: TestLog

    init() throws { log = try TestLog() }

    @Test(arguments: [CredentialKind.deviceKey, .passkey], ActionKind.allCases)
    func `finds the customer's signature good again`(
        credential: CredentialKind, kind: ActionKind
    ) async throws {
        for decision in [SignedDecision.approve, .reject] {
            let decided = try await Decided(decision, try Fixtures.content(kind), by: credential)
            let records = try log.record(decided.drafts)
            #expect(try log.verifier.verify(records[0]) == .signatureVerified)
            for other in records.dropFirst() {
                #expect(try log.verifier.verify(other) == .intact)
            }
        }
    }

    @Test func `finds what the policy refused signed as well`() async throws {
        let decided = try await Decided(.approve, try Fixtures.transfer("500.01"), by: .deviceKey)
        let record = try log.record(decided.drafts)[0]
        #expect(record.kind == "action.refused")
        #expect(try log.verifier.verify(record) == .signatureVerified)
    }

    @Test func `notices every flipped bit of a leaf`() throws {
        let record = try log.record([
            EvidenceDraft(
                .actionCancelled, action: Fixtures.id(1), credential: Fixtures.id(1000),
                policy: Digest(Fixtures.bytes32(9)), outcome: "cancelled", body: ["a": "b"])
        ])[0]
        #expect(log.verifier.fault(of: record) == nil)
        for index in record.leaf.indices {
            for bit in 0..<8 {
                var leaf = record.leaf
                leaf[index] ^= 1 << UInt8(bit)
                #expect(
                    log.verifier.fault(of: record.with(leaf: leaf, leafHash: record.leafHash))
                        == .leafHash)
                // Whoever can change a leaf in the table changes its hash with it. What no column
                // repeats (the chains, policy and outcome) is then for the chains and the log.
                let forged = record.with(leaf: leaf)
                let read = EvidenceLeaf(decoding: leaf)
                #expect(
                    log.verifier.fault(of: forged) != nil || read?.isOnlyLinked(as: record) == true)
                #expect(forged.leafHash != record.leafHash)
            }
        }
        for index in record.leafHash.indices {
            var hash = record.leafHash
            hash[index] ^= 0x80
            #expect(log.verifier.fault(of: record.with(leafHash: hash)) == .leafHash)
        }
    }

    @Test func `notices columns that the leaf does not say`() throws {
        let record = try log.record([
            EvidenceDraft(
                .actionCancelled, action: Fixtures.id(1), credential: Fixtures.id(1000),
                body: ["a": "b"])
        ])[0]
        let wrong: [StoredEvidence] = [
            record.with(id: Fixtures.id(2)), record.with(kind: "action.expired"),
            record.with(action: .some(Fixtures.id(2))), record.with(action: .some(nil)),
            record.with(credential: .some(Fixtures.id(2))), record.with(credential: .some(nil)),
            record.with(subject: Fixtures.id(11)), record.with(bodyCommitment: Fixtures.bytes32(1)),
            record.with(recordedAt: Fixtures.at + Seconds(301)),
            record.with(recordedAt: Fixtures.at - Seconds(301)),
        ]
        for record in wrong { #expect(log.verifier.fault(of: record) == .columns) }
        for seconds in [300, -300] as [Int64] {
            let near = record.with(recordedAt: Fixtures.at + Seconds(seconds))
            #expect(log.verifier.fault(of: near) == nil)
        }
    }

    @Test func `notices leaves of no known form`() throws {
        let record = try log.record([EvidenceDraft(.evidenceRead, body: [:])])[0]
        for leaf in [[], Bytes("{}".utf8), record.leaf + [0x20]] as [Bytes] {
            #expect(log.verifier.fault(of: record.with(leaf: leaf)) == .leafForm)
        }
    }
}

extension EvidenceLeaf {
    /// Whether everything that the columns of a record repeat is as it was.
    fileprivate func isOnlyLinked(as record: StoredEvidence) -> Bool {
        id == record.id && kind == record.kind && subject == record.subject
            && action?.of == record.action?.text && credential?.of == record.credential?.text
            && bodyCommitment.bytes == record.bodyCommitment
    }
}

/// A service that lies: the record is well made, and what it says of the signature is not true.
@Suite struct `Signatures in evidence` {
    let log: TestLog

    init() throws { log = try TestLog() }

    /// What is found when members of the body of a real decision are replaced.
    private func fault(
        _ decided: Decided, kind: EvidenceKind? = nil, _ changes: [(String, JSON?)]
    ) throws -> EvidenceFault? {
        let draft = decided.drafts[0]
        let body = changes.reduce(draft.body) { $0.setting($1.0, to: $1.1) }
        let record = try log.record([draft.with(kind: kind, body: body)])[0]
        return log.verifier.fault(of: record)
    }

    private func bytes(_ path: String, of decided: Decided) throws -> Bytes {
        let value = path.split(separator: ".").reduce(Optional(decided.drafts[0].body)) {
            $0?[String($1)]
        }
        return try #require(value?.text.flatMap { Base64.decodeURL($0) })
    }

    private func text(_ bytes: Bytes) -> JSON { .string(Base64.encodeURL(bytes)) }

    @Test(arguments: [CredentialKind.deviceKey, .passkey])
    func `of any other message, key or decision are found out`(kind: CredentialKind) async throws {
        let bank = try TestBank()
        let decided = try await Decided(.approve, try Fixtures.transfer(), by: kind, bank: bank)
        let other = try await Decided(
            .approve, try Fixtures.transfer("1.00"), by: kind, bank: bank)
        let stranger = try await Decided(.approve, try Fixtures.transfer(), by: kind)
        let rejected = try await Decided(.reject, try Fixtures.transfer(), by: kind)
        func member(_ name: String, of decided: Decided) -> (String, JSON?) {
            (name, decided.drafts[0].body[name])
        }
        #expect(try fault(decided, []) == nil)
        #expect(try fault(decided, [member("message", of: other)]) == .message)
        #expect(try fault(decided, [("message", nil)]) == .message)
        #expect(try fault(decided, [("message", "e30")]) == .message)
        #expect(try fault(decided, [member("public_key", of: stranger)]) == .signature)
        #expect(try fault(decided, [("public_key", nil)]) == .publicKey)
        #expect(try fault(decided, [("public_key", "AAAA")]) == .publicKey)
        #expect(try fault(decided, [("assertion", nil)]) == .signature)
        #expect(try fault(decided, [("assertion.kind", "sms")]) == .signature)
        #expect(try fault(decided, [("assertion.signature", nil)]) == .signature)
        let wrong = try fault(decided, [member("assertion", of: other)])
        #expect(wrong == (kind == .passkey ? .challenge : .signature))
        #expect(try fault(decided, kind: .actionRejected, []) == .message)
        #expect(try fault(rejected, kind: .actionApproved, []) == .message)
        #expect(try fault(rejected, []) == nil)
    }

    @Test func `may be missing only from a rejection`() async throws {
        let decided = try await Decided(.approve, try Fixtures.transfer(), by: .deviceKey)
        for change in [("signed", .bool(false)), ("signed", nil), ("signed", "true")]
            as [(String, JSON?)]
        {
            #expect(try fault(decided, [change]) == .unsigned)
            #expect(try fault(decided, kind: .actionRefused, [change]) == .unsigned)
            #expect(try fault(decided, kind: .actionRejected, [change]) == nil)
        }
    }

    @Test func `of a device key notice every flipped bit of message and signature`() async throws {
        let decided = try await Decided(.approve, try Fixtures.transfer(), by: .deviceKey)
        for path in ["message", "assertion.signature", "public_key"] {
            let good = try bytes(path, of: decided)
            for index in good.indices {
                var flipped = good
                flipped[index] ^= 1 << UInt8(index % 8)
                #expect(try fault(decided, [(path, text(flipped))]) != nil, "\(path) \(index)")
            }
        }
    }

    @Test func `of a passkey notice every flipped bit of its three parts`() async throws {
        let decided = try await Decided(.approve, try Fixtures.transfer(), by: .passkey)
        for part in ["client_data_json", "authenticator_data", "signature"] {
            let good = try bytes("assertion.\(part)", of: decided)
            for index in good.indices {
                var flipped = good
                flipped[index] ^= 1 << UInt8(index % 8)
                #expect(try fault(decided, [("assertion.\(part)", text(flipped))]) != nil)
            }
        }
    }

    /// Good signatures over the right challenge that the service must never have taken.
    @Test func `of a passkey need the relying party, the user's presence and verification`()
        async throws
    {
        let bank = try TestBank()
        let decided = try await Decided(.approve, try Fixtures.transfer(), by: .passkey, bank: bank)
        let message = try bytes("message", of: decided)
        let wrong = try [
            bank.phone.assert(message, flags: 0x01),
            bank.phone.assert(message, flags: 0x04), bank.phone.assert(message, flags: 0),
            bank.phone.assert(message, relyingPartyID: "other.example"),
        ]
        for assertion in wrong {
            #expect(try fault(decided, [("assertion", assertion.evidence)]) == .authenticator)
        }
        let right = try bank.phone.assert(message)
        #expect(try fault(decided, [("assertion", right.evidence)]) == nil)
        let short = text(Bytes(try bytes("assertion.authenticator_data", of: decided).prefix(36)))
        #expect(try fault(decided, [("assertion.authenticator_data", short)]) == .authenticator)
    }

    @Test func `of a passkey are not those of a registration`() async throws {
        let decided = try await Decided(.approve, try Fixtures.transfer(), by: .passkey)
        let data = String(
            decoding: try bytes("assertion.client_data_json", of: decided), as: UTF8.self)
        let create = Bytes(data.replacing("webauthn.get", with: "webauthn.create").utf8)
        #expect(try fault(decided, [("assertion.client_data_json", text(create))]) == .challenge)
        let none = text(Bytes("not JSON".utf8))
        #expect(try fault(decided, [("assertion.client_data_json", none)]) == .challenge)
    }
}

@Suite struct `Chains of evidence` {
    let log: TestLog
    let records: [StoredEvidence]

    /// Two actions and one credential; every fourth record names the credential.
    init() throws {
        log = try TestLog()
        let drafts = (0..<16).map { number in
            EvidenceDraft(
                .challengeIssued, action: Fixtures.id(1 + number % 2),
                credential: number % 4 == 0 ? Fixtures.id(1000) : nil,
                body: ["n": .integer(Int64(number))])
        }
        records = try log.record(drafts)
    }

    private func broken(_ records: [StoredEvidence]) -> [ID<Countersign.Evidence>] {
        EvidenceChains(records).broken(detached: [])
    }

    @Test func `are whole in whatever order they are read`() {
        #expect(broken(records).isEmpty)
        #expect(broken(records.reversed()).isEmpty)
        #expect(broken([]).isEmpty)
        #expect(broken(records.map(\.withoutBody)).isEmpty)
    }

    @Test func `show where a record is missing`() {
        for index in records.indices.dropLast(2) {
            var rest = records
            rest.remove(at: index)
            let next = records[index + 2].id
            #expect(broken(rest).contains(next), "\(index)")
        }
    }

    /// The newest record of a chain is only missed by whoever knows the chain's head or the log.
    @Test func `do not show that their newest record is missing`() {
        #expect(broken(records.dropLast()).isEmpty)
    }

    @Test func `show a fork`() throws {
        let heads = ChainHeads(
            actions: [
                Fixtures.id(1): ChainHead(length: 2, leafHash: Digest(records[2].leafHash))
            ])
        let draft = EvidenceDraft(
            .actionCancelled, action: Fixtures.id(1), body: ["reason": "forged"])
        let forged = try log.seal([draft], heads: heads).map {
            StoredEvidence($0, wrappedKey: log.wrappedKey)
        }
        let found = broken(records + forged)
        #expect(found.contains(forged[0].id) || found.contains(records[4].id))
    }

    /// Every hash is right, and a place in the chain is left out.
    @Test func `show a number that is left out`() throws {
        let draft = EvidenceDraft(.actionExpired, action: Fixtures.id(1), body: [:])
        let last = try #require(Digest(records[14].leafHash))
        for (length, kept) in [(7, 16), (8, 16), (9, 16), (1, 0)] {
            let head = ChainHead(length: length, leafHash: kept == 0 ? nil : last)
            let sealed = try log.seal([draft], heads: ChainHeads(actions: [Fixtures.id(1): head]))
            let next = StoredEvidence(sealed[0], wrappedKey: log.wrappedKey)
            let found = broken(Array(records.prefix(kept)) + [next])
            #expect(found.isEmpty == (length == 8), "\(length)")
        }
    }

    @Test func `show records in another order, or changed`() throws {
        for (old, new) in [
            (#""aseq":"3""#, #""aseq":"4""#), (#""aseq":"3""#, #""aseq":"0""#),
            ("log.bank", "log.bonk"),
        ] {
            let leaf = String(decoding: records[4].leaf, as: UTF8.self)
            let changed = Bytes(leaf.replacing(old, with: new).utf8)
            #expect(changed != records[4].leaf)
            var forged = records
            forged[4] = records[4].with(leaf: changed)
            #expect(!broken(forged).isEmpty)
        }
        var unreadable = records
        unreadable[4] = records[4].with(leaf: [0])
        #expect(broken(unreadable).contains(records[4].id))
    }
}
