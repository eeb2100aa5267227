import Countersign
import TestSupport
import Testing

/// `docs/policy.schema.json` and the reader say the same: every document here is given to both.
@Suite struct `The schema of policies` {
    private let schema: JSONSchema
    private let schemaJSON: JSON
    /// Every word in quotation marks and every number in the reader's own text.
    private let words: [String]
    private let numbers: [Int64]

    init() throws {
        schemaJSON = try RepositoryFiles.json("docs/policy.schema.json")
        schema = JSONSchema(schemaJSON)
        let source = try RepositoryFiles.text("Sources/Countersign/Policy/PolicyDocument.swift")
        let enumWords = schemaJSON.strings
        words =
            Set(source.matches(of: /"([a-z0-9_\-]+)"/).map { String($0.1) }).union(enumWords)
            .union(["", "unheard_of", "EUR", "1.00", "-1.00", "01.00", "1.", "1e3", "0", "0.00"])
            .sorted()
        let bounds = source.matches(of: /[0-9][0-9_]*/).compactMap {
            Int64($0.0.replacing("_", with: ""))
        }
        numbers = Set(bounds + schemaJSON.integers).flatMap { [$0 - 1, $0, $0 + 1] }.sorted()
    }

    /// Which document a test changes; by name, or every line of the log would show all of it.
    enum Sample: CaseIterable {
        case whole
        case segments

        var document: JSON {
            self == .whole ? `The schema of policies`.whole : `The schema of policies`.segments
        }
    }

    /// A document with every member that there is.
    static let whole: JSON = {
        let measure: JSON = [
            "kinds": ["transfer", "new_payee"], "refuse": .bool(false), "hold_s": .integer(60),
            "at_hold_end": "cancel", "max": ["EUR": "10.00"], "factors": ["passkey"],
        ]
        let changes: [(String, JSON)] = [
            ("daily_window", "rolling_24h"), ("payee.unknown", "as_new"),
            ("payee.new_per_day_max", .integer(4)),
            ("velocity", ["transfers_max": .integer(3), "window_s": .integer(3600)]),
            ("new_credential_cooling_off_s.limit_change", .integer(60)),
            (
                "recovery",
                [
                    "hold_s": .integer(86_400), "payee_age_s": .integer(60),
                    "held_approvals": "keep",
                ]
            ),
            ("factors.limit_change", ["passkey"]),
            ("factors_above", ["EUR": [["above": "100.00", "kinds": ["device_key"]]]]),
            (
                "required_attestation",
                .object(
                    ActionKind.allCases.map { .init($0.rawValue, ["app-attest", "fido-trusted"]) })
            ),
            (
                "backup_eligible",
                [
                    "transfer": ["allowed": .bool(true), "max": ["EUR": "10.00"]],
                    "new_payee": ["allowed": .bool(true)],
                    "contact_change": ["allowed": .bool(false)],
                    "limit_change": ["allowed": .bool(true)],
                ]
            ),
            ("signals", ["new_device": measure]),
            (
                "name_check",
                [
                    "match": [:], "close_match": ["refuse": .bool(true)], "no_match": [:],
                    "not_possible": [:],
                ]
            ),
            (
                "limit_change",
                [
                    "delay_s": .integer(60), "single_max": ["EUR": "10.00"],
                    "daily_max": ["EUR": "10.00"],
                ]
            ),
            ("assisted", ["hold_s": .integer(86_400), "max": ["EUR": "10.00"]]),
        ]
        let all = changes.reduce(Fixtures.policyDocument) { $0.setting($1.0, to: $1.1) }
        return all.setting("currencies.JPY", to: nil)
    }()

    /// What a segment may say instead; the window of the velocity alone has to be the bank's.
    static let segments: JSON = whole.setting(
        "segments",
        to: [
            "vip": [
                "payee": whole["payee"] ?? .null, "velocity": ["transfers_max": .integer(9)],
                "new_credential_cooling_off_s": whole["new_credential_cooling_off_s"] ?? .null,
                "contact_change_hold_s": .integer(60), "recovery": whole["recovery"] ?? .null,
                "factors": whole["factors"] ?? .null,
                "factors_above": whole["factors_above"] ?? .null,
                "required_attestation": whole["required_attestation"] ?? .null,
                "backup_eligible": ["new_payee": ["allowed": .bool(false)]],
                "currencies": ["EUR": ["single_max": "900.00", "daily_max": "900.00"]],
                "signals": ["new_device": ["hold_s": .integer(5)]],
                "name_check": ["match": ["refuse": .bool(true)]],
                "limit_change": whole["limit_change"] ?? .null,
                "assisted": whole["assisted"] ?? .null,
            ]
        ])

    private func fault(_ document: JSON) -> PolicyFault? {
        do throws(PolicyFault) {
            _ = try PolicyRules(document: document)
            return nil
        } catch {
            return error
        }
    }

    /// Both take it, or neither does; and both say of the same members that there are none of that name.
    private func compare(_ document: JSON, _ what: @autoclosure () -> String) throws -> Bool {
        let read = fault(document)
        let checked = try schema.faults(document)
        guard (read == nil) == checked.isEmpty else {
            let said = read.map { "\($0)" } ?? "yes"
            Issue.record("\(what()): the reader says \(said), the schema \(checked)")
            return false
        }
        guard let read else { return true }
        // The reader tells the first fault; of a member that there is none of, the schema tells the same.
        let isUnknown =
            read.detail.hasPrefix("Only ") || read.detail.hasPrefix("There is no result")
        let unknown = checked.filter { $0.kind == .unknownMember }.map(\.pointer)
        let isAlike =
            isUnknown
            ? unknown.contains(read.pointer) : unknown.allSatisfy { $0 == read.pointer }
        if !isAlike {
            Issue.record("\(what()): the reader says \(read), the schema \(checked)")
        }
        return isAlike
    }

    @Test func `knows every member of a document that has them all`() throws {
        for document in [Self.whole, Self.segments, Fixtures.policyDocument] {
            #expect(fault(document) == nil)
            #expect(try schema.faults(document) == [])
        }
        #expect(try schema.faults(RepositoryFiles.firstPolicy()) == [])
        // None of the schema's members is missing above, so that each of them is tried below.
        let present = Self.segments.names
        #expect(schemaJSON.propertyNames.subtracting(present) == [])
        #expect(words.count > 60 && numbers.count > 60)
    }

    @Test(arguments: Sample.allCases)
    func `has the members of the reader and no others`(sample: Sample) throws {
        let document = sample.document
        var tried = 0
        for place in document.places(document == Self.segments ? "/segments" : "") {
            guard case .object(let members) = place.value else { continue }
            for name in words where place.value[name] == nil && !name.isEmpty {
                let changed = JSON.object(members + [.init(name, [:])])
                let isAlike = try compare(place.put(changed), "\(place.pointer) with \(name)")
                if !isAlike { return }
                tried += 1
            }
            for member in members where place.mayLose(member.name) {
                let changed = JSON.object(members.filter { $0.name != member.name })
                let isAlike = try compare(
                    place.put(changed), "\(place.pointer) without \(member.name)")
                if !isAlike { return }
                tried += 1
            }
        }
        #expect(tried > 500)
    }

    @Test(arguments: Sample.allCases)
    func `has the bounds, words and types of the reader`(sample: Sample) throws {
        let document = sample.document
        let odd: [JSON] = [
            .null, .bool(true), .bool(false), .integer(1), .fraction, "x", [], [:], ["x"], [.null],
        ]
        for place in document.places(document == Self.segments ? "/segments" : "") {
            let candidates: [JSON]
            switch place.value {
            case .integer: candidates = numbers.map { .integer($0) } + odd
            // A segment's words are read by what reads the bank's.
            case .string where document == Self.whole:
                candidates = words.map { .string($0) } + odd
            default: candidates = odd
            }
            for value in candidates where place.mayBe(value) {
                let isAlike = try compare(place.put(value), "\(place.pointer) = \(value)")
                if !isAlike { return }
            }
        }
    }

    @Test func `is compared by a check that finds what is missing`() throws {
        let narrow = JSONSchema(
            schemaJSON.setting("$defs.recovery.properties.hold_s.maximum", to: .integer(604_799)))
        let document = Self.whole.setting("recovery.hold_s", to: .integer(604_800))
        #expect(fault(document) == nil)
        #expect(try narrow.faults(document).map(\.pointer) == ["/recovery/hold_s"])
        #expect(throws: JSONSchema.UnknownKeyword.self) {
            try JSONSchema(["multipleOf": .integer(2)]).faults(.integer(2))
        }
    }
}

/// A value in a document, which can be put to another.
private struct Place {
    let pointer: String
    let value: JSON
    let put: (JSON) -> JSON

    /// Not for what one document says in two places: the home currency needs its own limits.
    func mayLose(_ name: String) -> Bool { !(pointer == "/currencies" && name == "EUR") }

    /// As above. And nothing but the schema of a currency's name is known of currencies there.
    func mayBe(_ value: JSON) -> Bool { !(pointer == "/home_currency" && value == "EUR") }
}

extension JSON {
    /// Every value in this document from a pointer on.
    fileprivate func places(_ prefix: String) -> [Place] {
        places("") { $0 }.filter { $0.pointer.hasPrefix(prefix) }
    }

    private func places(_ pointer: String, _ put: @escaping (JSON) -> JSON) -> [Place] {
        let own = Place(pointer: pointer, value: self, put: put)
        switch self {
        case .object(let members):
            return [own]
                + members.enumerated().flatMap { index, member in
                    member.value.places("\(pointer)/\(member.name)") { value in
                        var changed = members
                        changed[index] = Member(member.name, value)
                        return put(.object(changed))
                    }
                }
        case .array(let values):
            return [own]
                + values.enumerated().flatMap { index, value in
                    value.places("\(pointer)/\(index)") { value in
                        var changed = values
                        changed[index] = value
                        return put(.array(changed))
                    }
                }
        default: return [own]
        }
    }

    /// All names of members, at any depth.
    fileprivate var names: Set<String> {
        switch self {
        case .object(let members):
            members.reduce(into: []) { $0.formUnion($1.value.names.union([$1.name])) }
        case .array(let values): values.reduce(into: []) { $0.formUnion($1.names) }
        default: []
        }
    }

    /// The names under every `properties`, at any depth.
    fileprivate var propertyNames: Set<String> {
        guard case .object(let members) = self else { return [] }
        return members.reduce(into: []) { names, member in
            names.formUnion(member.value.propertyNames)
            if member.name == "properties", case .object(let properties) = member.value {
                names.formUnion(properties.map(\.name))
            }
        }
    }

    /// All texts, at any depth.
    fileprivate var strings: Set<String> {
        switch self {
        case .string(let text): [text]
        case .object(let members): members.reduce(into: []) { $0.formUnion($1.value.strings) }
        case .array(let values): values.reduce(into: []) { $0.formUnion($1.strings) }
        default: []
        }
    }

    /// All numbers, at any depth.
    fileprivate var integers: [Int64] {
        switch self {
        case .integer(let number): [number]
        case .object(let members): members.flatMap(\.value.integers)
        case .array(let values): values.flatMap(\.integers)
        default: []
        }
    }
}
