/// What the API offers about published policies.
package protocol PolicyService: Sendable {
    /// All versions, newest first.
    func policies() async throws(StoreFailure) -> [PublishedPolicy]

    /// One version; `nil` when there is none.
    func policy(version: Int) async throws(StoreFailure) -> PublishedPolicy?

    /// The version in force; `nil` when there is none.
    func activePolicy() async throws(StoreFailure) -> PublishedPolicy?
}
