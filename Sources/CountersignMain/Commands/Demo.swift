import Foundation

extension Command {
    /// The whole story on one machine, over real HTTP, with a private database.
    static let demo = Command(
        name: "demo",
        summary: "Play the whole story on this machine: service, phone, core banking, evidence",
        options: [
            .init(
                name: "exit", placeholder: nil, what: "end after the story instead of staying up"),
            .init(
                name: "dir", placeholder: "DIR",
                what: "the folder of its database (default .countersign/demo of the checkout)"),
        ]
    ) { invocation in
        let home = try DemoHome(
            invocation.option("dir"),
            project: ProcessInfo.processInfo.environment[ReservedNames.project])
        try await DemoRun(home: home, stays: !invocation.has("exit")).run()
    }
}
