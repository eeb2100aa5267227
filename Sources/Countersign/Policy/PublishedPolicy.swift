/// A published version of the policy, with its document byte for byte.
package struct PublishedPolicy: Sendable {
    package let version: Int
    package let digest: Digest
    package let document: Bytes
    /// The document, read.
    package let content: JSON
    package let activeFrom: Instant
    package let publishedAt: Instant
    /// Whether it was in force when it was read.
    package let isActive: Bool

    /// Takes what is recorded.
    package init(
        version: Int, digest: Digest, document: Bytes, content: JSON, activeFrom: Instant,
        publishedAt: Instant, isActive: Bool
    ) {
        self.version = version
        self.digest = digest
        self.document = document
        self.content = content
        self.activeFrom = activeFrom
        self.publishedAt = publishedAt
        self.isActive = isActive
    }
}

/// Whether new rules are at least as strict as old ones in every member, so that one person may publish
/// them in an emergency.
package typealias PolicyStrictness =
    @Sendable (_ new: PolicyRules, _ old: PolicyRules) -> Bool
