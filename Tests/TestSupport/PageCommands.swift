import Countersign
import Foundation

/// The commands of a block of a page, and what the page says that they print.
///
/// Lines after `$ ` are commands, and lines with four spaces before them continue one; all others are output. A
/// block without any `$ ` is nothing but commands.
package struct PageCommands {
    package let script: String
    package let output: String

    /// Takes a block between fences.
    ///
    /// - Parameters:
    ///   - page: The path of a page.
    ///   - text: What the block has, and none before it on the page.
    /// - Throws: `InvalidValue` when no block has it.
    package init(of page: String, with text: String) throws {
        let parts = try RepositoryFiles.text(page).components(separatedBy: "```")
        // Every other part is between two fences.
        let blocks = parts.indices.filter { $0 % 2 == 1 }.map { parts[$0] }
        guard let block = blocks.first(where: { $0.contains(text) }) else {
            throw InvalidValue("block", "\(page) has no block with “\(text)”.")
        }
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
        self.script = script
        self.output = output
    }
}
