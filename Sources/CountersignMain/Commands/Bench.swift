extension Command {
    static let bench = Command(
        name: "bench", summary: "Measure approvals per second against a private database"
    ) { _ in
        throw CommandFailure.notInThisBuild
    }
}
