extension Command {
    /// The demo's counterpart; it verifies every signature itself and trusts nobody.
    static let coreBanking = Command(
        name: "core-banking", summary: "Run the stand-in for core banking that the demo uses"
    ) { _ in
        throw CommandFailure.notInThisBuild
    }
}
