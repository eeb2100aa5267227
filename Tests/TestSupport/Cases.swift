package import Countersign

/// Inputs that nobody of this project wrote, read from outside the repository.
///
/// The folder is `COUNTERSIGN_CASES`, or `../shared/cases` beside the package. Each file holds one
/// JSON object a line; its README says how a case is scored.
package enum Cases {
    /// The cases of one file, in its order, that `isIncluded`.
    ///
    /// - Returns: `nil`, after printing a line that says so, when there is no such file.
    /// - Throws: When a line is not JSON.
    package static func read(
        _ file: String, where isIncluded: (Case) -> Bool = { _ in true }
    ) throws -> [Case]? {
        guard let bytes = TestFiles.cases.contents(of: file) else { return nil }
        return try bytes.split(separator: UInt8(ascii: "\n"))
            .map { Case(json: try TestFiles.json($0)) }
            .filter(isIncluded)
    }

    /// The cases of one area of `domain.jsonl`; see ``read(_:where:)``.
    package static func domain(_ area: String) throws -> [Case]? {
        try read("domain.jsonl") { $0.json["area"]?.text == area }
    }

    /// One JSON document of the folder, such as a file of Wycheproof.
    ///
    /// - Returns: `nil`, after printing a line that says so, when there is no such file.
    /// - Throws: When it is not JSON.
    package static func document(_ file: String) throws -> JSON? {
        try TestFiles.cases.contents(of: file).map { try TestFiles.json($0) }
    }

    /// One JSON document of `COUNTERSIGN_VECTORS`, or `../shared/vectors` beside the package.
    ///
    /// - Returns: `nil`, after printing a line that says so, when there is no such file.
    /// - Throws: When it is not JSON.
    package static func vectors(_ file: String) throws -> JSON? {
        try TestFiles.vectors.contents(of: file).map { try TestFiles.json($0) }
    }

    /// Any file of the folder as it is, such as a PEM of `anchors/`; `nil` as above.
    package static func bytes(_ file: String) -> Bytes? { TestFiles.cases.contents(of: file) }
}

/// One case: what goes in, and what should come of it.
package struct Case: Sendable {
    package let json: JSON

    /// A case read from a file, or one made of a document that is not written line by line.
    package init(json: JSON) { self.json = json }

    package var id: String { json["id"]?.text ?? "?" }
    /// What the case is about: `area` in `domain.jsonl`, `kind` elsewhere.
    package var area: String { json["area"]?.text ?? json["kind"]?.text ?? "?" }
    package var faultKind: String { json["faultKind"]?.text ?? "?" }
    /// A member of `input`.
    package func input(_ name: String) -> JSON? { json["input"]?[name] }
    /// A member of `expect`.
    package func expect(_ name: String) -> JSON? { json["expect"]?[name] }
    package var verdict: String { expect("verdict")?.text ?? "?" }

    /// Scores a plain verdict; `either` leaves the choice to the product.
    ///
    /// The verdict is the member `name` of `expect`: cases of device keys have two, `enrol` and
    /// `verify`.
    package func judge(accepted: Bool, by name: String = "verdict") -> Judgement {
        let verdict = expect(name)?.text ?? "?"
        return switch verdict {
        case "either": .asExpected
        case "accept": accepted ? .asExpected : .deviating("refused")
        case "reject": accepted ? .deviating("accepted") : .asExpected
        default: .deviating("unknown verdict \(verdict)")
        }
    }

    /// Scores what the product made of the input, `normal`, which is `nil` when it refused.
    ///
    /// What it made must be, byte by byte, each of those `members` of `expect` that the case has.
    package func judge(_ normal: String?, mustEqual members: String...) -> Judgement {
        guard let normal else { return judge(accepted: false) }
        let stated = members.compactMap { expect($0)?.text }
        guard stated.allSatisfy({ $0.utf8.elementsEqual(normal.utf8) }) else {
            return .deviating("became another value")
        }
        return judge(accepted: true)
    }
}

/// How one case went.
package enum Judgement: Sendable {
    case asExpected
    /// The product does not have what the case asks about and says so cleanly; why.
    case unsupported(String)
    /// The product did something else; what.
    case deviating(String)
}

extension Case {
    /// A case of `payee_hold` that takes several requests, or the database's clock.
    package var isOfPayeesOverTime: Bool {
        ["batch", "clock-forward", "rename-only"].contains(input("scenario")?.text)
    }
}
