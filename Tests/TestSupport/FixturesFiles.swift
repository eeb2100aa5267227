package import Countersign
import Foundation

/// Files of this repository that tests compare the code with.
package enum RepositoryFiles {
    private static let root = URL(filePath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

    /// The bytes of a file, by its path from the repository's root.
    package static func bytes(_ path: String) throws -> Bytes {
        Bytes(try Data(contentsOf: root.appending(path: path)))
    }

    package static func text(_ path: String) throws -> String {
        String(decoding: try bytes(path), as: UTF8.self)
    }

    package static func json(_ path: String) throws -> JSON {
        try TestFiles.json(try bytes(path))
    }

    /// The policy that an installation starts with, cut out of its migration.
    package static func firstPolicy() throws -> JSON {
        let parts = try text("sql/migrations/V0007_first_policy.sql").components(
            separatedBy: "$policy$")
        guard parts.count == 3 else {
            throw InvalidValue("policy", "The migration holds no one document.")
        }
        return try TestFiles.json(parts[1].utf8)
    }
}
