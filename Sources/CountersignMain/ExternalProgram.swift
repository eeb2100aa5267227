import Evidence
import Foundation

/// A program that a setting names, such as the tool of a vault or an HSM; this one runs it as itself.
struct ExternalProgram {
    let path: String
    /// The setting that named it, for messages.
    let setting: String

    /// How long a key may take: a vault is asked over the network, and nobody waits for a start.
    static let deadline = Duration.seconds(10)

    /// Runs it, without arguments and without input, for a key of 32 bytes, raw or as 64 hex digits.
    ///
    /// What it writes to standard error goes nowhere: it could hold the key.
    func keyEncryptionKey(
        within deadline: Duration = deadline
    ) throws(ConfigurationError) -> KeyEncryptionKey {
        let output: [UInt8]
        do throws(ChildProcess.FilterFailure) {
            output = try ChildProcess.filter([path], input: [], deadline: deadline)
        } catch {
            throw ConfigurationError("the program of the setting \(setting) \(error.clause)")
        }
        // 32 random bytes are never all letters and digits: that is a key in a shorter spelling.
        let isText = output.count == 32 && output.allSatisfy { (0x20...0x7E).contains($0) }
        guard !isText, let key = KeyEncryptionKey(text: output) else {
            throw ConfigurationError(
                "the program of the setting \(setting) must write 32 random bytes, raw or as 64 hex digits"
            )
        }
        return key
    }

    /// Refuses a program that belongs to neither root nor the user this runs as, or that others can change. Its folders
    /// are the operator's to keep.
    func checkOwner() throws(ConfigurationError) {
        let target = URL(filePath: path).resolvingSymlinksInPath().path
        let owner: UInt32?
        let mode: Int?
        do {
            let attributes = try FileManager.default.attributesOfItem(atPath: target)
            owner = (attributes[.ownerAccountID] as? NSNumber)?.uint32Value
            mode = (attributes[.posixPermissions] as? NSNumber)?.intValue
        } catch {
            throw ConfigurationError("the program of the setting \(setting) is not there")
        }
        guard let owner, let mode, [0, geteuid()].contains(owner), mode & 0o022 == 0 else {
            throw ConfigurationError(
                "the program of the setting \(setting) can be changed by others: it must belong to root or to "
                    + "the user who runs this, with the mode 755 or less")
        }
    }
}

extension ChildProcess.FilterFailure {
    /// What follows "the program".
    fileprivate var clause: String {
        switch self {
        case .notStarted: "cannot be started"
        case .status(let status): "ended with the status \(status)"
        case .tooLong: "writes too much"
        case .tooLate: "took too long"
        }
    }
}
