import Countersign
import Foundation
import Postgres
import Testing

@testable import CountersignMain

@Suite struct `A comparison with core banking's list` {
    private static func id(_ number: Int) -> ID<Action> { ID(rawValue: UInt128(number)) }

    private func here(_ number: Int, reference: String? = "R", isErased: Bool = false)
        -> ExecutedAction
    {
        ExecutedAction(
            action: Self.id(number), evidence: ID(rawValue: UInt128(100 + number)),
            reference: isErased ? nil : reference, isErased: isErased,
            amount: isErased ? nil : "10.00", currency: isErased ? nil : "EUR")
    }

    private func line(
        _ number: Int, evidence: Int? = nil, reference: String = "R", status: String = "executed",
        amount: String? = nil, currency: String = "EUR"
    ) -> String {
        let proof = ID<Countersign.Evidence>(rawValue: UInt128(100 + (evidence ?? number)))
        let more = amount.map { #","amount":"\#($0)","currency":"\#(currency)""# } ?? ""
        return
            #"{"action_id":"\#(Self.id(number))","evidence_id":"\#(proof)","reference":"\#(reference)","#
            + #""status":"\#(status)"\#(more)}"#
    }

    private func differences(_ here: [ExecutedAction], _ lines: [String]) throws -> [String] {
        let file = try TemporaryFile(lines.joined(separator: "\n"))
        defer { file.delete() }
        let reader = try #require(LineReader(path: file.path))
        var reconciliation = Reconciliation()
        var rest = here[...]
        var found: [String] = []
        var booking = try reader.booking(after: nil)
        while rest.first != nil || booking != nil {
            let (difference, takesHere, takesThere) = reconciliation.compare(rest.first, booking)
            if let difference { found.append(difference.line) }
            if takesHere { rest.removeFirst() }
            if takesThere { booking = try reader.booking(after: booking?.action) }
            try #require(takesHere || takesThere)
        }
        return found
    }

    @Test func `finds nothing where both say the same`() throws {
        #expect(try differences([], []) == [])
        #expect(try differences([here(1), here(2)], [line(1), line(2, amount: "10.00")]) == [])
        // What neither has executed.
        #expect(try differences([here(2)], [line(1, status: "refused"), line(2)]) == [])
    }

    @Test func `finds what is only on one side, at the beginning, in the middle and at the end`()
        throws
    {
        #expect(
            try differences([here(1), here(3), here(5)], [line(3)]) == [
                "only here   \(Self.id(1))", "only here   \(Self.id(5))",
            ])
        #expect(
            try differences([here(3)], [line(1), line(3), line(5)]) == [
                "only there  \(Self.id(1))", "only there  \(Self.id(5))",
            ])
    }

    @Test func `finds what is different, member by member`() throws {
        #expect(
            try differences(
                [here(1), here(2), here(3), here(4), here(5)],
                [
                    line(1, evidence: 9), line(2, reference: "S"), line(3, status: "refused"),
                    line(4, amount: "10.01"), line(5, amount: "10.00", currency: "USD"),
                ]) == [
                    "different   \(Self.id(1))  evidence_id",
                    "different   \(Self.id(2))  reference",
                    "different   \(Self.id(3))  status", "different   \(Self.id(4))  amount",
                    "different   \(Self.id(5))  currency",
                ])
    }

    @Test func `asks of an erased customer only what is still known`() throws {
        #expect(
            try differences([here(1, isErased: true)], [line(1, reference: "X", amount: "7.00")])
                == [])
        #expect(
            try differences([here(1, isErased: true)], [line(1, evidence: 9)]) == [
                "different   \(Self.id(1))  evidence_id"
            ])
    }

    @Test(arguments: ["{}", "x", #"{"action_id":"x","status":"executed"}"#, ""])
    func `stops at a line that is none`(text: String) throws {
        #expect(throws: CommandFailure.self) { try differences([], [line(1), text, line(3)]) }
    }

    /// Each would compare with nothing.
    @Test(arguments: [
        (#""status":"executed""#, #""status":"EXECUTED""#),
        (#""status":"executed""#, #""status":"booked""#), (#""status":"executed""#, #""status":1"#),
        (#""amount":"10.00""#, #""amount":10.00"#), (#""currency":"EUR""#, #""currency":978"#),
        (#","currency":"EUR""#, ""), (#""amount":"10.00","#, ""),
        (#""reference":"R""#, #""reference":7"#),
    ])
    func `stops at a member that says nothing here`(member: String, other: String) throws {
        let whole = line(1, amount: "10.00")
        let changed = whole.replacing(member, with: other)
        try #require(changed != whole)
        #expect(try differences([here(1)], [whole]) == [])
        #expect(throws: CommandFailure.self) { try differences([here(1)], [changed]) }
    }

    @Test func `stops at a line in the wrong place, or twice the same`() throws {
        #expect(throws: CommandFailure.self) { try differences([], [line(2), line(1)]) }
        #expect(throws: CommandFailure.self) { try differences([], [line(2), line(2)]) }
    }

    @Test func `reads lines whatever the pieces are that they come in`() throws {
        let lines = (1...5000).map { line($0) }
        let file = try TemporaryFile(lines.joined(separator: "\n") + "\n")
        defer { file.delete() }
        let reader = try #require(LineReader(path: file.path))
        var read: [String] = []
        while let line = try reader.line() { read.append(String(decoding: line, as: UTF8.self)) }
        #expect(read == lines)
    }
}
