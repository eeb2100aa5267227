import Countersign
import Crypto
import Foundation
import TestSupport
import Testing

/// The published vectors of RFC 8785, all of them. What leaves and signed messages are made of is flat objects of
/// strings; everything else is refused, and never read as something that it is not.
@Suite struct `Canonical JSON, by the published vectors` {
    /// What came of the vectors of one kind.
    private struct Tally {
        var asExpected = 0
        /// Refused, with why it is not supported, by name.
        var unsupported: [(name: String, reason: String)] = []
        var deviating: [String] = []

        func line(_ kind: String) -> String {
            let ran = asExpected + unsupported.count + deviating.count
            let reasons = Dictionary(grouping: unsupported, by: \.reason).sorted { $0.key < $1.key }
            let named = reasons.map { reason, vectors in
                let names = vectors.map(\.name)
                return (names.count > 3 ? "\(names.count) vectors" : names.joined(separator: ", "))
                    + ": \(reason)"
            }
            return "rfc8785-jcs.json \(kind): \(ran) ran, \(asExpected) as expected, "
                + "\(unsupported.count) unsupported and refused"
                + (named.isEmpty ? "" : " (\(named.joined(separator: "; ")))")
                + ", \(deviating.count) deviating" + deviating.map { " " + $0 }.joined()
        }
    }

    private let file: JSON?

    init() throws { file = try Cases.vectors("rfc8785-jcs.json") }

    private func vectors(_ kind: String) throws -> [JSON]? {
        guard let file else { return nil }
        guard case .array(let vectors)? = file[kind] else {
            throw InvalidValue("vectors", "The file holds no \(kind).")
        }
        return vectors
    }

    @Test func `has the published form, and is refused with anything but strings`() throws {
        guard let vectors = try vectors("objects") else { return }
        var tally = Tally()
        for vector in vectors {
            let name = try #require(vector["name"]?.text)
            let input = Bytes(try #require(vector["input"]?.text).utf8)
            let output = try #require(vector["output_hex"]?.text.flatMap { Hex.decode($0) })
            #expect(sha256(output).hex == vector["output_sha256"]?.text)
            let json = try JSONDecoder().decode(JSON.self, from: Data(input))
            // Its own spelling is not the canonical one, of whatever it is.
            var isRight = CanonicalJSON.decode(input) == nil
            if let reason = unsupported(json) {
                isRight = isRight && CanonicalJSON.decode(output) == nil
                if isRight { tally.unsupported.append((name, reason)) }
            } else {
                let members = try #require(flat(json))
                isRight =
                    isRight && CanonicalJSON.encode(members) == output
                    && CanonicalJSON.decode(output) == members
                if isRight { tally.asExpected += 1 }
            }
            if !isRight { tally.deviating.append(name) }
        }
        print(tally.line("objects"))
        #expect(tally.deviating == [])
        #expect(tally.asExpected == 3)
        #expect(
            tally.unsupported.map { "\($0.name): \($0.reason)" } == [
                "arrays: an array", "structures: an object in an object", "values: a literal",
            ])
    }

    @Test(arguments: [("numbers_ieee754_hex", 168), ("rfc8785_appendix_b", 24)])
    func `is refused with a number, however it is spelled`(kind: String, count: Int) throws {
        guard let vectors = try vectors(kind) else { return }
        var tally = Tally()
        for vector in vectors {
            guard case .array(let pair) = vector, let text = pair.last?.text,
                let bits = pair.first?.text.flatMap({ UInt64($0, radix: 16) })
            else { throw InvalidValue("vector", "A vector is no pair.") }
            // So that it is the number that is refused: the text is one, and the same one.
            let value = try #require(Double(text))
            #expect(value == Double(bitPattern: bits), "\(text)")
            let isRefused = spellings(of: text).allSatisfy { CanonicalJSON.decode($0) == nil }
            if isRefused {
                tally.unsupported.append((text, "a number, and every value is a string"))
            } else {
                tally.deviating.append(text)
            }
            // As a string it is none, and is kept as it is.
            let asText = Bytes(#"{"n":"\#(text)"}"#.utf8)
            #expect(CanonicalJSON.decode(asText) == ["n": text])
            #expect(CanonicalJSON.encode(["n": text]) == asText)
        }
        print(tally.line(kind))
        #expect(tally.deviating == [])
        #expect(tally.unsupported.count == count)
    }

    /// Infinity and what is not a number: RFC 8785 §3.2.2.3 demands that they end it.
    @Test func `is refused with what is no number`() throws {
        guard let vectors = try vectors("must_reject_numbers_ieee754_hex") else { return }
        var tally = Tally()
        for vector in vectors {
            let hex = try #require(vector.text)
            let bits = try #require(UInt64(hex, radix: 16))
            let value = Double(bitPattern: bits)
            #expect(!value.isFinite)
            let texts =
                value.isNaN ? ["NaN", "nan", "-NaN"] : ["Infinity", "inf", "-Infinity", "1e999"]
            let isRefused = texts.flatMap(spellings).allSatisfy { bytes in
                CanonicalJSON.decode(bytes) == nil && isRefusedByFoundation(bytes)
            }
            if isRefused { tally.asExpected += 1 } else { tally.deviating.append(hex) }
        }
        print(tally.line("must_reject_numbers_ieee754_hex"))
        #expect(tally.deviating == [])
        #expect(tally.asExpected == 2)
    }

    /// The digests are of sequences of numbers as text, made by a generator. Nothing here writes a number.
    @Test func `has no writer of numbers, whose sequences the last digests are of`() throws {
        guard let file else { return }
        guard case .object(let digests)? = file["published_sequence_sha256"] else {
            throw InvalidValue("vectors", "The file holds no sequences.")
        }
        var tally = Tally()
        for digest in digests {
            // As a line of such a sequence is: the bits, and the number.
            let line = Bytes("4340000000000000,9007199254740992\n".utf8)
            #expect(CanonicalJSON.decode(line) == nil)
            tally.unsupported.append(
                (digest.name, "a sequence of numbers, and none is ever written"))
        }
        print(tally.line("published_sequence_sha256"))
        #expect(tally.unsupported.count == 3)
    }

    /// Where a number could stand: as a member, in an array, and alone.
    private func spellings(of number: String) -> [Bytes] {
        [#"{"n":\#(number)}"#, #"{"a":"b","n":\#(number)}"#, #"{"n":[\#(number)]}"#, number]
            .map { Bytes($0.utf8) }
    }

    private func isRefusedByFoundation(_ bytes: Bytes) -> Bool {
        do {
            _ = try JSONDecoder().decode(JSON.self, from: Data(bytes))
            return false
        } catch { return true }
    }

    /// Why a value is none of ours; `nil` for a flat object of strings.
    private func unsupported(_ json: JSON) -> String? {
        guard case .object(let members) = json else { return name(json) }
        return members.lazy.compactMap { member -> String? in
            if case .object = member.value { return "an object in an object" }
            if case .array(let values) = member.value {
                return values.lazy.compactMap(name).first ?? "an array"
            }
            return name(member.value)
        }.first
    }

    private func name(_ json: JSON) -> String? {
        switch json {
        case .array: "an array"
        case .integer, .fraction: "a number"
        case .bool, .null: "a literal"
        case .object: "an object"
        case .string: nil
        }
    }

    private func flat(_ json: JSON) -> [String: String]? {
        guard case .object(let members) = json else { return nil }
        var flat: [String: String] = [:]
        for member in members { flat[member.name] = member.value.text }
        return flat.count == members.count ? flat : nil
    }
}
