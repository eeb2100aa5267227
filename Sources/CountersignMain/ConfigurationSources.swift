import Foundation

extension Configuration {
    /// Reads the settings of a command: a file, then the environment, then flags; later ones win.
    ///
    /// - Throws: ``ConfigurationError`` for the first setting that is unknown, wrong or missing.
    init(
        for command: Command, line: CommandLineArguments, environment: [String: String]
    ) throws(ConfigurationError) {
        self.init()
        guard !command.settings.isEmpty else { return }
        var given: [String: GivenValue] = [:]
        if let path = line.configurationFile ?? environment[ReservedNames.configurationFile] {
            given = try ConfigurationFile(path: path).values
        }
        given.merge(try Self.values(of: environment)) { $1 }
        for (name, text) in line.settings {
            given[name] = GivenValue(text: text, source: .flag)
        }
        // In the order of the table, so that the first complaint is always the same one.
        for setting in Setting.all where command.uses(setting) {
            guard let value = given[setting.name] else { continue }
            try assign(value, to: setting)
        }
        try Self.checkPresence(of: given, command: command)
        try checkSecrecy(given, command: command)
        try command.check(self)
    }

    /// Of a setting and the one that takes its place there is one at most, and one where it is required.
    private static func checkPresence(
        of given: [String: GivenValue], command: Command
    ) throws(ConfigurationError) {
        let given = given.filter { name, _ in Setting.named(name).map(command.uses) == true }
        for setting in Setting.all where given[setting.name] != nil {
            guard let other = setting.insteadOf, given[other] != nil else { continue }
            throw ConfigurationError("\(other) and \(setting.name) exclude each other")
        }
        for name in command.required where given[name] == nil {
            guard let setting = Setting.named(name) else { continue }
            let alternative = setting.alternative?.name
            if let alternative, given[alternative] != nil { continue }
            throw ConfigurationError(
                "\(command.name) needs the setting \(name) "
                    + "(\(setting.flag), or \(setting.environmentName))"
                    + (alternative.map { ", or \($0) in its place" } ?? ""))
        }
    }

    private mutating func assign(
        _ value: GivenValue, to setting: Setting
    ) throws(ConfigurationError) {
        var text = value.text
        if setting.isSecret, text.hasPrefix("file:") {
            text = try SecretFile(
                path: String(text.dropFirst("file:".count)), setting: setting.name
            )
            .text()
        }
        guard setting.assign(&self, text) else {
            throw ConfigurationError(
                "the setting \(setting.name) (\(value.source.description(of: setting))) "
                    + "must be \(setting.expects)")
        }
    }

    private static func values(
        of environment: [String: String]
    ) throws(ConfigurationError) -> [String: GivenValue] {
        var values: [String: GivenValue] = [:]
        for (name, text) in environment.sorted(by: { $0.key < $1.key })
        where name.hasPrefix("COUNTERSIGN_") && !ReservedNames.contains(name) {
            guard let setting = Setting.all.first(where: { $0.environmentName == name }) else {
                throw ConfigurationError("there is no setting for \(name) in the environment")
            }
            values[setting.name] = GivenValue(text: text, source: .environment)
        }
        return values
    }
}

/// The text of a setting and where it came from.
struct GivenValue: Sendable {
    let text: String
    let source: Source

    enum Source: Sendable {
        case file(path: String, line: Int)
        case environment
        case flag

        /// Says to a person where to look.
        func description(of setting: Setting) -> String {
            switch self {
            case .file(let path, let line): "\(path), line \(line)"
            case .environment: setting.environmentName
            case .flag: setting.flag
            }
        }
    }
}

/// Names in the environment that begin like settings and are none.
enum ReservedNames {
    static let configurationFile = "COUNTERSIGN_CONFIG"
    /// The folder of the checkout, set by the launcher; the demo keeps its database there.
    static let project = "COUNTERSIGN_PROJECT"

    static func contains(_ name: String) -> Bool {
        [configurationFile, project, "COUNTERSIGN_CASES", "COUNTERSIGN_VECTORS"].contains(name)
            || name.hasPrefix("COUNTERSIGN_TEST_")
    }
}

/// A file of `name = value` lines; lines that begin with `#` are comments.
struct ConfigurationFile {
    private(set) var values: [String: GivenValue] = [:]

    /// Reads a file; every name in it must be a setting, and none may stand twice.
    init(path: String) throws(ConfigurationError) {
        let text: String
        do {
            text = try String(contentsOfFile: path, encoding: .utf8)
        } catch {
            throw ConfigurationError("the configuration file \(path) cannot be read as UTF-8 text")
        }
        try self.init(text: text, path: path)
    }

    /// - Parameters:
    ///   - text: The content of the file.
    ///   - path: Where it came from, for messages.
    /// - Throws: ``ConfigurationError`` with the line, never with a value.
    init(text: String, path: String) throws(ConfigurationError) {
        let lines = text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
        for (index, line) in lines.enumerated() {
            let place = "\(path), line \(index + 1)"
            let trimmed = line.trimmingCharacters(in: .whitespaces)
            if trimmed.isEmpty || trimmed.hasPrefix("#") { continue }
            guard let equals = trimmed.firstIndex(of: "=") else {
                throw ConfigurationError("\(place): not of the form `name = value`")
            }
            let name = trimmed[..<equals].trimmingCharacters(in: .whitespaces)
            guard let setting = Setting.named(name) else {
                throw ConfigurationError("\(place): there is no setting \(Self.shown(name))")
            }
            let value = trimmed[trimmed.index(after: equals)...]
                .trimmingCharacters(in: .whitespaces)
            let given = GivenValue(text: value, source: .file(path: path, line: index + 1))
            guard values.updateValue(given, forKey: setting.name) == nil else {
                throw ConfigurationError("\(place): \(setting.name) is set twice")
            }
        }
    }

    /// Shows an unknown name only when it looks like one: a mistyped line may hold a secret.
    private static func shown(_ name: String) -> String {
        let isName =
            (1...40).contains(name.utf8.count)
            && name.utf8.allSatisfy { (0x61...0x7A).contains($0) || $0 == 0x2E || $0 == 0x5F }
        return isName ? name : "of the name before the `=`"
    }
}
