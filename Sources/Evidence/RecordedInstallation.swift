import Countersign

/// What evidence has said so far of the installation that it is of; the raw value is the word in the record.
package enum RecordedInstallation: String, Sendable {
    /// Nothing: these records were made before installations said it, or somebody has taken the first away.
    case unstated
    /// Policies and payees come into being that nobody signed.
    case development
    /// Nothing does, from here on and for ever.
    case production

    /// Reads the body of the next record `installation.stated`.
    ///
    /// - Throws: ``EvidenceFault/installation``.
    mutating func read(_ body: JSON) throws(EvidenceFault) {
        switch (self, body["installation"]?.text.flatMap(Self.init(rawValue:))) {
        case (_, .production?): self = .production
        case (.unstated, .development?), (.development, .development?): self = .development
        // Development ends once.
        case (.production, _), (_, .unstated?), (_, nil): throw .installation
        }
    }
}
