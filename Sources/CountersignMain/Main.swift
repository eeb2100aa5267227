import Foundation

/// The program `countersign`: everything that an operator does, as subcommands.
///
/// There is no `main.swift`: its top-level code would be isolated to the main actor, and a C callback
/// written there would trap on the library's thread.
@main struct Main {
    static func main() async {
        ignoreBrokenPipes()
        let status = await run(
            Array(CommandLine.arguments.dropFirst()),
            environment: ProcessInfo.processInfo.environment, commands: Command.all)
        exit(status.rawValue)
    }

    /// Runs one command line to its end.
    ///
    /// - Returns: The exit status; whatever went wrong has been said in one line on standard error.
    static func run(
        _ arguments: [String], environment: [String: String], commands: [Command]
    ) async -> ExitStatus {
        do {
            switch try CommandLineRequest(arguments, commands: commands) {
            case .help(let text):
                Console.out(text)
            case .command(let command, let line):
                let configuration = try Configuration(
                    for: command, line: line, environment: environment)
                try await command.run(Invocation(line: line, configuration: configuration))
            }
            return .success
        } catch let error as UsageError {
            Console.error("\(error.message)\n\(error.hint)")
            return .usage
        } catch let error as ConfigurationError {
            Console.error(error.message)
            return .usage
        } catch {
            Console.error(explanation(of: error))
            return .failure
        }
    }

    /// What may be shown of an error: its own explanation, or only its type.
    ///
    /// The payload of an unknown error could be a connection string or a row of a customer.
    private static func explanation(of error: any Error) -> String {
        if let explained = error as? any ExplainedError { return explained.explanation }
        return "failed with \(type(of: error))"
    }
}

/// The exit statuses that the program has. Source of 64: `sysexits.h`, `EX_USAGE`.
enum ExitStatus: Int32 {
    case success = 0
    case failure = 1
    case usage = 64
}

/// An error that says what went wrong in words fit for an operator's terminal: no secret, no
/// personal data.
protocol ExplainedError: Error {
    /// One sentence without a full stop at its end.
    var explanation: String { get }
}

/// A command could not do what it was asked; the program exits with 1.
struct CommandFailure: ExplainedError {
    let explanation: String

    init(_ explanation: String) { self.explanation = explanation }
}

/// Text for a person at a terminal; what a machine reads goes through `Log`.
enum Console {
    /// Writes a line to standard output.
    static func out(_ text: String) { write(text + "\n", to: .standardOutput) }

    /// Writes a line to standard error, marked with the program's name.
    static func error(_ text: String) { write("countersign: \(text)\n", to: .standardError) }

    private static func write(_ text: String, to handle: FileHandle) {
        // A closed terminal or pipe leaves nobody to tell about it.
        do { try handle.write(contentsOf: Data(text.utf8)) } catch {}
    }
}
