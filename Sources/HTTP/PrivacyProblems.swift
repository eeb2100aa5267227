package import Countersign

// Refusals to whoever protects the data of customers, as problems; see DomainProblems.

extension Problem {
    /// What the data-protection role is told when a customer is not erased.
    package init(_ refusal: ErasureRefusal) {
        switch refusal {
        case .notFound: self = .notFound
        case .legalHold:
            self.init(
                "legal-hold", status: 409, title: "Legal hold",
                detail: "A legal hold on this customer stands; lift it first.")
        case .actionOpen:
            self.init(
                "action-open", status: 409, title: "Action open",
                detail: "An action of this customer is open, held, or under way to core banking.")
        case .retention(let until):
            self.init(
                "retention-not-over", status: 409, title: "Retention not over",
                detail: "The newest record of this customer has to be kept for longer.",
                members: [.init("not_before", .string(until.text))])
        }
    }
}
