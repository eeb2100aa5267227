import Countersign
import Evidence
import TestSupport
import Testing

/// A log proves presence and never absence: a bundle from which later records were left out, or which is older
/// than they are, verifies for ever. So both verifiers say which these may be.
@Suite(.onAThreadOfItsOwn) struct `A bundle does not exclude what came later` {
    private let python: PythonVerifier

    init() throws { python = try PythonVerifier() }

    /// Expects that both verifiers take the bundle, and name these kinds and no others.
    private func expectNotExcluded(
        _ kinds: [EvidenceKind], by world: BundleWorld,
        of records: [BundleRole: EvidenceBundle.Record]? = nil
    ) throws {
        let bytes = try world.bundle(records).encoded
        let verified = try world.verify(bytes)
        #expect(verified.notExcluded == kinds)
        let words = kinds.map(\.rawValue)
        let sentence = try #require(verified.sentences.last)
        #expect(sentence.contains("Not excluded by this bundle"))
        #expect(sentence.contains("of the kinds " + words.joined(separator: ", ") + ":"))
        let (isValid, text) = try python.run(bytes, world.policyText)
        let line = "not excluded are later records of this action: " + words.joined(separator: " ")
        #expect(isValid && text.contains(line + "\n"), "\(text)")
    }

    @Test func `after a refusal, such as the approval of the same action`() async throws {
        let world = try await BundleWorld(Fixtures.transfer("500.01")) { $0.following = [] }
        try expectNotExcluded(
            [
                .actionApproved, .actionRejected, .actionHeld, .actionReleased, .actionCancelled,
                .orderExecuted, .orderRefused, .orderUnknown, .orderContradicted,
            ], by: world)
    }

    @Test func `after a rejection`() async throws {
        let world = try await BundleWorld {
            $0.decision = .reject
            $0.following = []
        }
        try expectNotExcluded(
            [
                .actionApproved, .actionRefused, .actionHeld, .actionReleased, .actionCancelled,
                .orderExecuted, .orderRefused, .orderUnknown, .orderContradicted,
            ], by: world)
    }

    /// Whoever strips the hold, its release or the execution from an approval has a bundle that verifies.
    @Test func `after an approval, of which anybody may leave out what followed`() async throws {
        let world = try await BundleWorld {
            $0.isHeld = true
            $0.following = [.released, .executed]
        }
        try expectNotExcluded(
            [.actionCancelled, .orderRefused, .orderUnknown, .orderContradicted], by: world)
        let stripped = world.records.filter {
            ![.held, .released, .executed].contains($0.key)
        }
        try expectNotExcluded(
            [
                .actionHeld, .actionReleased, .actionCancelled, .orderExecuted, .orderRefused,
                .orderUnknown, .orderContradicted,
            ], by: world, of: stripped)
    }

    @Test func `and the page says so`() throws {
        let page = try RepositoryFiles.text("docs/evidence-format.md")
        let part = try #require(page.split(separator: "### What a bundle cannot show").last)
        let listed = part.prefix(while: { $0 != "#" })
        let kinds: [EvidenceKind] = [
            .actionApproved, .actionRejected, .actionRefused, .actionHeld, .actionReleased,
            .actionCancelled, .orderExecuted, .orderRefused, .orderUnknown, .orderContradicted,
        ]
        for kind in kinds { #expect(listed.contains("`\(kind.rawValue)`"), "\(kind.rawValue)") }
    }
}
