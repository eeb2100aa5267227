extension Command {
    /// Every subcommand of the program, in the order of its help.
    static let all: [Command] = [
        demo, serve, migrate,
        clientAdd, payeeImport, payeePrepare, payeePropose, payeeApprove,
        policyShow, policyDiff, policyValidate, policyPropose, policyApprove, policySign,
        policySimulate, policyShadow, policyShadowList, policyShadowShow, policyShadowEnd,
        personKeyRevoke, personKeyRefound,
        evidenceList, evidenceShow, evidenceVerify, evidenceFsck, evidenceVerifyBundle,
        evidenceReconcile, evidencePromises, evidenceDetach,
        coreBanking, bench,
        postgresStart, postgresStop, postgresURL,
        settings, help, version,
    ]

    /// Only shown in the list: the command line knows `help` by itself.
    static let help = Command(
        name: "help", summary: "Show the commands, or what one of them takes",
        positionals: [.init(name: "COMMAND", what: "its words", count: .any)]
    ) { _ in }

    static let version = Command(name: "version", summary: "Show the version of this build") { _ in
        Console.out(Version.text)
    }
}

/// What this build calls itself.
enum Version {
    /// Semantic version of the API and of the evidence formats.
    static let number = "1.0.0"
    static let text = "countersign \(number)"
}
