package import Countersign
package import Crypto

/// What another said of a checkpoint, as the database has it.
package struct LoggedTestimony: Sendable {
    /// Who said it, in bytes that anybody can verify.
    package enum Word: Sendable {
        /// A witness, by the policy's name, in a signature line.
        case cosignature(witness: String, line: String)
        /// An authority, in a TimeStampResp.
        case timestamp(authority: String, response: Bytes)
    }

    /// Of the checkpoint.
    package let size: Int64
    /// The checkpoint's signed note; `nil` when there is none of that size.
    package let note: Bytes?
    package let word: Word
    /// The time that it states, in microseconds since 1970.
    package let microseconds: Int64
    package let link: LogLink

    package init(size: Int64, note: Bytes?, word: Word, microseconds: Int64, link: LogLink) {
        self.size = size
        self.note = note
        self.word = word
        self.microseconds = microseconds
        self.link = link
    }

    /// The columns that ``link`` covers.
    var columns: [String] {
        switch word {
        case .cosignature(let witness, let line):
            ["\(size)", witness, "\(microseconds)", line]
        case .timestamp(let authority, let response):
            ["\(size)", authority, "\(microseconds)", Hex.encode(response)]
        }
    }
}

/// Checks all cosignatures, or all timestamps, in the order in which they were recorded.
package struct TestimonyCheck: Sendable {
    private let fault: LogFault.What
    private let witnesses: TrustPolicy?
    private let anchors: [Certificate]
    private let policies: [String]
    private var link = LogLink.none
    private var last: Int64 = 0
    /// How many were taken.
    package private(set) var count = 0
    /// How many of them were verified with a key that is trusted here.
    package private(set) var verified = 0

    /// - Parameter witnesses: Whose policy has the witnesses' keys; without it no cosignature is verified.
    /// - Returns: A check before the first row.
    package static func cosignatures(by witnesses: TrustPolicy?) -> TestimonyCheck {
        TestimonyCheck(fault: .cosignature, witnesses: witnesses, anchors: [], policies: [])
    }

    /// - Parameters:
    ///   - anchors: In which authorities' paths may end; without any, no timestamp is verified.
    ///   - policies: Of those authorities, to be taken; none for every one.
    /// - Returns: A check before the first row.
    package static func timestamps(
        under anchors: [Certificate], policies: [String]
    ) -> TestimonyCheck {
        TestimonyCheck(fault: .timestamp, witnesses: nil, anchors: anchors, policies: policies)
    }

    private init(
        fault: LogFault.What, witnesses: TrustPolicy?, anchors: [Certificate], policies: [String]
    ) {
        self.fault = fault
        self.witnesses = witnesses
        self.anchors = anchors
        self.policies = policies
    }

    /// Takes the next one, by number.
    ///
    /// - Throws: ``LogFault`` at the last position of its checkpoint: it, or the one before it, is not as it was.
    package mutating func take(_ testimony: LoggedTestimony) throws(LogFault) {
        let position = max(0, testimony.size - 1)
        guard testimony.link == link.next(testimony.columns), let note = testimony.note,
            let isVerified = verify(testimony, of: note)
        else { throw LogFault(fault, at: position) }
        if isVerified { verified += 1 }
        count += 1
        link = testimony.link
        last = position
    }

    /// Whether the chain ends where it should.
    ///
    /// - Throws: ``LogFault``: the last is gone, or one was put in after it.
    package func finish(chain: LogLink) throws(LogFault) {
        guard chain == link else { throw LogFault(fault, at: last) }
    }

    /// What is wrong when there are rows after the end of the chain, of which this is the first.
    package func beyond(_ testimony: LoggedTestimony?) -> LogFault {
        LogFault(fault, at: testimony.map { max(0, $0.size - 1) } ?? last)
    }

    /// Whether it is true; `nil` when it is not, and `false` when nobody here can tell.
    private func verify(_ testimony: LoggedTestimony, of note: Bytes) -> Bool? {
        let at = Instant(milliseconds: testimony.microseconds / 1000)
        switch testimony.word {
        case .cosignature(let name, let line):
            guard let witness = witnesses?.witnesses.first(where: { $0.name == name }) else {
                return false
            }
            guard let note = SignedNote(decoding: note + Bytes(line.utf8)) else { return nil }
            switch witness.key.verdict(on: note) {
            case .signed(at: at): return true
            // Of a key that the witness had before.
            case .unsigned: return false
            case .signed, .invalid: return nil
            }
        case .timestamp(_, let response):
            guard !anchors.isEmpty else { return false }
            do throws(TimestampFault) {
                let stamped = try TimestampToken.verify(
                    response: response, over: note, anchors: anchors)
                try stamped.demand(policies: policies)
                return stamped.at == at ? true : nil
            } catch {
                // Of an authority under another anchor, or of a policy that is not taken, perhaps of before.
                return error == .signer || error == .policy ? false : nil
            }
        }
    }
}
