package import Countersign

/// Which logs are believed, and which witnesses must have cosigned a checkpoint. Source: C2SP tlog-policy.
///
/// Stricter than C2SP: the text is UTF-8, since the names of keys are.
package struct TrustPolicy: Hashable, Sendable {
    /// A log that is believed; its key's name is its origin.
    package struct Log: Hashable, Sendable {
        package let key: VerifierKey
        package let url: String?
    }

    /// Somebody who sees that the log only grows.
    package struct Witness: Hashable, Sendable {
        /// What the policy calls it; the key has its own name.
        package let name: String
        package let key: VerifierKey
        package let url: String?
    }

    /// Witnesses or groups of which so many must have cosigned.
    package struct Group: Hashable, Sendable {
        package let name: String
        package let threshold: Int
        package let members: [String]
    }

    /// The name that stands for no witness at all.
    package static let none = "none"
    /// Of a policy's text.
    package static let bytesMax = 65_536

    package let logs: [Log]
    package let witnesses: [Witness]
    /// Each names only witnesses, and groups before it.
    package let groups: [Group]
    /// A witness, a group, or ``none``.
    package let quorum: String

    /// Reads the text of a policy.
    ///
    /// - Throws: ``TrustPolicyFault``, the first in the text.
    package init(text: Bytes) throws(TrustPolicyFault) {
        guard text.count <= Self.bytesMax else { throw TrustPolicyFault(1, .tooLong) }
        guard let string = String(validating: text, as: UTF8.self) else {
            throw TrustPolicyFault(1, .characters)
        }
        var reader = TrustPolicyReader()
        let lines = string.utf8.split(
            separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        for (index, line) in lines.enumerated() {
            guard index + 1 < lines.count || line.isEmpty else {
                throw TrustPolicyFault(index + 1, .unended)
            }
            do throws(TrustPolicyFault.Reason) {
                try reader.read(Substring(line))
            } catch { throw TrustPolicyFault(index + 1, error) }
        }
        guard let quorum = reader.quorum else { throw TrustPolicyFault(lines.count, .noQuorum) }
        logs = reader.logs
        witnesses = reader.witnesses
        groups = reader.groups
        self.quorum = quorum
    }

    /// Whether these witnesses are enough.
    ///
    /// - Parameter cosigned: The policy's names of the witnesses whose cosignatures verify.
    /// - Returns: Whether the quorum is among them.
    package func isQuorum(_ cosigned: Set<String>) -> Bool {
        guard quorum != Self.none else { return true }
        var met = cosigned
        for group in groups where group.members.count(where: met.contains) >= group.threshold {
            met.insert(group.name)
        }
        return met.contains(quorum)
    }
}

/// What is wrong with a policy's text, and where.
package struct TrustPolicyFault: Error, Hashable, Sendable {
    /// From 1.
    package let line: Int
    package let reason: Reason

    init(_ line: Int, _ reason: Reason) {
        self.line = line
        self.reason = reason
    }

    /// The sentence for whoever wrote the policy.
    package var sentence: String { "line \(line): \(reason.rawValue)" }

    /// The raw value is for a person.
    package enum Reason: String, Error, Sendable {
        case tooLong = "the policy has more than 65,536 bytes"
        case characters = "only UTF-8 without control characters but tab and line feed is allowed"
        case unended = "the last line has no line feed"
        case keyword = "a line begins with log, witness, group or quorum"
        case form = "the line does not have the words of its kind"
        case key = "this is no verifier key, or its ID is not that of the key"
        case logKey = "the key of a log is of type 01"
        case witnessKey = "the key of a witness is of type 04"
        case keyTwice = "this public key was named before"
        case nameTwice = "this name was given before, or is none"
        case unknownName = "no witness or group before has this name"
        case memberTwice = "this witness or group is in a group already"
        case threshold = "a group takes all, any, or a number from 1 to that of its members"
        case quorumTwice = "there was a quorum before"
        case noQuorum = "the policy has no quorum"
    }
}

/// Reads a policy line by line.
private struct TrustPolicyReader {
    var logs: [TrustPolicy.Log] = []
    var witnesses: [TrustPolicy.Witness] = []
    var groups: [TrustPolicy.Group] = []
    var quorum: String?
    private var names: Set<String> = [TrustPolicy.none]
    private var grouped: Set<String> = []

    mutating func read(_ line: Substring) throws(TrustPolicyFault.Reason) {
        guard line.utf8.allSatisfy({ $0 == 0x09 || $0 >= 0x20 && $0 != 0x7F }) else {
            throw .characters
        }
        let words = line.utf8.split { $0 == 0x20 || $0 == 0x09 }.map { String(Substring($0)) }
        guard let keyword = words.first, !keyword.hasPrefix("#") else { return }
        switch keyword {
        case "log": try readLog(words)
        case "witness": try readWitness(words)
        case "group": try readGroup(words)
        case "quorum": try readQuorum(words)
        default: throw .keyword
        }
    }

    private mutating func readLog(_ words: [String]) throws(TrustPolicyFault.Reason) {
        guard 2...3 ~= words.count else { throw .form }
        let key = try key(words[1])
        guard key.kind == .ed25519 else { throw .logKey }
        guard !logs.contains(where: { $0.key.publicKey == key.publicKey }) else {
            throw .keyTwice
        }
        logs.append(.init(key: key, url: words.count == 3 ? words[2] : nil))
    }

    private mutating func readWitness(_ words: [String]) throws(TrustPolicyFault.Reason) {
        guard 3...4 ~= words.count else { throw .form }
        let key = try key(words[2])
        guard key.kind == .cosignature else { throw .witnessKey }
        guard !witnesses.contains(where: { $0.key.publicKey == key.publicKey }) else {
            throw .keyTwice
        }
        try define(words[1])
        witnesses.append(
            .init(name: words[1], key: key, url: words.count == 4 ? words[3] : nil))
    }

    private mutating func readGroup(_ words: [String]) throws(TrustPolicyFault.Reason) {
        guard words.count >= 4 else { throw .form }
        let members = Array(words[3...])
        for member in members {
            guard names.contains(member), member != TrustPolicy.none else { throw .unknownName }
            guard grouped.insert(member).inserted else { throw .memberTwice }
        }
        let threshold: Int
        switch words[2] {
        case "all": threshold = members.count
        case "any": threshold = 1
        case let number:
            guard let count = PlainDecimal.parse(number), 1...Int64(members.count) ~= count else {
                throw .threshold
            }
            threshold = Int(count)
        }
        try define(words[1])
        groups.append(.init(name: words[1], threshold: threshold, members: members))
    }

    private mutating func readQuorum(_ words: [String]) throws(TrustPolicyFault.Reason) {
        guard words.count == 2 else { throw .form }
        guard quorum == nil else { throw .quorumTwice }
        guard names.contains(words[1]) else { throw .unknownName }
        quorum = words[1]
    }

    private func key(_ text: String) throws(TrustPolicyFault.Reason) -> VerifierKey {
        guard let key = VerifierKey(text: text) else { throw .key }
        return key
    }

    private mutating func define(_ name: String) throws(TrustPolicyFault.Reason) {
        guard names.insert(name).inserted else { throw .nameTwice }
    }
}
