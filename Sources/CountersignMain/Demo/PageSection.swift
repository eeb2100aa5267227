import Foundation

/// The commands that a page of `docs/` shows, so that the demo runs those and no others.
enum PageSection {
    /// The blocks between fences below a heading of the second level, up to the next one.
    ///
    /// - Parameters:
    ///   - page: The text of the page.
    ///   - heading: Without `## `.
    /// - Returns: Each block with its line feeds; none when there is no such section.
    static func blocks(of page: String, under heading: String) -> [String] {
        let section = page.components(separatedBy: "\n## ").dropFirst()
            .first { $0.hasPrefix(heading + "\n") }
        let parts = (section ?? "").components(separatedBy: "```\n")
        // Every other part is between two fences.
        return parts.indices.filter { $0 % 2 == 1 }.map { parts[$0] }
    }
}
