package import Crypto

/// Why a bundle proves nothing.
package enum BundleFault: Error, Hashable, Sendable {
    case form
    case checkpoint(CheckpointFault)
    /// With the number of the timestamp response, from 1.
    case timestamp(Int, TimestampFault)
    case missing(BundleRole)
    case noDecision
    case unexpected(BundleRole)
    case notInLog(BundleRole)
    case otherLog(BundleRole)
    case otherKind(BundleRole)
    case otherAction(BundleRole)
    case otherCustomer(BundleRole)
    case otherKey(BundleRole)
    case otherContent(BundleRole)
    case notBefore(BundleRole)
    case noReceipt(BundleRole)
    /// Its body was left out.
    case stripped(BundleRole)
    /// What is wrong with the record by itself.
    case record(BundleRole, EvidenceFault)

    /// The sentence for a person.
    package var sentence: String {
        switch self {
        case .form: "this is no bundle, or not in the one spelling that a bundle has"
        case .checkpoint(let fault): fault.sentence
        case .timestamp(let number, let fault):
            "the timestamp \(number) is not believed: \(fault.sentence)"
        case .missing(let role): "the bundle has no record “\(role.rawValue)”, and must have one"
        case .noDecision: "the bundle has no decision, or more than one"
        case .unexpected(let role): "the decision leaves no place for “\(role.rawValue)”"
        case .notInLog(let role): say(role, "is not in the log of the checkpoint at its position")
        case .otherLog(let role): say(role, "is of another log")
        case .otherKind(let role): say(role, "is of another kind")
        case .otherAction(let role): say(role, "is about another action")
        case .otherCustomer(let role): say(role, "is about another customer")
        case .otherKey(let role): say(role, "is of another key than signed the decision")
        case .otherContent(let role): say(role, "says something else than was signed or decided")
        case .notBefore(let role): say(role, "is not in the log before the decision")
        case .noReceipt(let role): say(role, "holds no answer of core banking")
        case .stripped(let role):
            say(role, "has no body, and others of the customer have theirs: nothing is erased so")
        case .record(let role, let fault): say(role, "has a fault: " + fault.rawValue)
        }
    }

    private func say(_ role: BundleRole, _ what: String) -> String {
        "the record “\(role.rawValue)” \(what)"
    }
}
