import Countersign
import Foundation

/// The commands of a block of a page, and what the page says that they print.
///
/// Lines after `$ ` are commands, and lines with four spaces before them continue one; all others are output. A
/// block without any `$ ` is nothing but commands.
package struct PageCommands {
    package let script: String
    package let output: String
    /// The script, block by block.
    package let blocks: [String]

    /// Takes a block between fences.
    ///
    /// - Parameters:
    ///   - page: The path of a page.
    ///   - text: What the block has, and none before it on the page.
    /// - Throws: `InvalidValue` when no block has it.
    package init(of page: String, with text: String) throws {
        guard let block = try Self.blocks(of: page).first(where: { $0.contains(text) }) else {
            throw InvalidValue("block", "\(page) has no block with “\(text)”.")
        }
        self.init(block)
    }

    /// Takes all blocks of a section, one after the other.
    ///
    /// - Parameters:
    ///   - page: The path of a page.
    ///   - heading: The line with which the section begins; it ends with the next of its kind.
    /// - Throws: `InvalidValue` when there is no such section with a block.
    package init(of page: String, under heading: String) throws {
        let blocks = try Self.blocks(of: page, under: heading).map(Self.init)
        guard !blocks.isEmpty else {
            throw InvalidValue("section", "\(page) has no blocks under “\(heading)”.")
        }
        self.blocks = blocks.map(\.script)
        script = self.blocks.joined()
        output = blocks.map(\.output).joined()
    }

    private static func blocks(of page: String, under heading: String? = nil) throws -> [String] {
        var text = try RepositoryFiles.text(page)
        if let heading {
            let sections = text.components(separatedBy: "\n## ")
            text = sections.first { "## \($0)".hasPrefix(heading + "\n") } ?? ""
        }
        let parts = text.components(separatedBy: "```")
        // Every other part is between two fences.
        return parts.indices.filter { $0 % 2 == 1 }.map { parts[$0] }
    }

    private init(_ block: String) {
        // A block in a list is indented as its fence is, which the line of the last fence shows.
        let lines = block.split(separator: "\n", omittingEmptySubsequences: false)
        let indent = (lines.last ?? "").count
        var script = ""
        var output = ""
        let isMarked = lines.contains { $0.dropFirst(indent).hasPrefix("$ ") }
        for line in lines.dropFirst().dropLast().map({ $0.dropFirst(indent) }) {
            if !isMarked || line.hasPrefix("    ") {
                script += line + "\n"
            } else if line.hasPrefix("$ ") {
                script += line.dropFirst(2) + "\n"
            } else {
                output += line + "\n"
            }
        }
        blocks = [script]
        self.script = script
        self.output = output
    }
}
