/// The count of a run over cases, one line per file and area.
package struct CaseTally: Sendable {
    private let name: String
    private var ran = 0
    private var asExpected = 0
    private var unsupported: [String: Int] = [:]
    /// The deviating cases as `id: what happened`; a test expects none.
    package private(set) var deviating: [String] = []

    /// - Parameter name: The file and area, as the report shall call them.
    package init(_ name: String) { self.name = name }

    /// Counts one case.
    package mutating func record(_ id: String, _ judgement: Judgement) {
        ran += 1
        switch judgement {
        case .asExpected: asExpected += 1
        case .unsupported(let why): unsupported[why, default: 0] += 1
        case .deviating(let what): deviating.append("\(id): \(what)")
        }
    }

    /// One line for people: ran, as expected, unsupported and why, deviating and which.
    package var line: String {
        let reasons = unsupported.sorted { $0.key < $1.key }.map { "\($0.value) \($0.key)" }
        return "\(name): \(ran) ran, \(asExpected) as expected, "
            + "\(unsupported.values.reduce(0, +)) unsupported"
            + (reasons.isEmpty ? "" : " (\(reasons.joined(separator: ", ")))")
            + ", \(deviating.count) deviating"
            + (deviating.isEmpty ? "" : ": \(deviating.joined(separator: "; "))")
    }
}

extension [Case] {
    /// Judges every case, prints the tally's line and returns the deviating cases.
    ///
    /// A case whose judging throws is deviating: a product that fails has not refused.
    package func run(_ name: String, _ judge: (Case) throws -> Judgement) -> [String] {
        var tally = CaseTally(name)
        for one in self {
            do {
                tally.record(one.id, try judge(one))
            } catch {
                tally.record(one.id, .deviating("failed with \(error)"))
            }
        }
        print(tally.line)
        return tally.deviating
    }

    /// As the synchronous `run`, for products that answer later.
    package func run(
        _ name: String, _ judge: (Case) async throws -> Judgement
    ) async -> [String] {
        var tally = CaseTally(name)
        for one in self {
            do {
                tally.record(one.id, try await judge(one))
            } catch {
                tally.record(one.id, .deviating("failed with \(error)"))
            }
        }
        print(tally.line)
        return tally.deviating
    }
}
