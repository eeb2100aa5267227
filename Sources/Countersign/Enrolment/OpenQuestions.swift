/// What a customer was asked and has not answered. All of it ends with any of the customer's keys: the
/// loss of one makes it doubtful who would answer.
package struct OpenQuestions: Hashable, Sendable {
    /// The live challenges of pending actions.
    package let challenges: [ID<Challenge>]
    /// What active keys were asked to vouch for.
    package let authorizations: [ID<Challenge>]

    package init(challenges: [ID<Challenge>], authorizations: [ID<Challenge>]) {
        self.challenges = challenges
        self.authorizations = authorizations
    }

    /// That nothing is open, or that nobody looked.
    package static let none = OpenQuestions(challenges: [], authorizations: [])
}
