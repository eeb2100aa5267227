/// Gives the service's signed word that a record with that leaf hash will be in the log, as text; `nil` where nothing
/// signs. The same record always gets the same.
package typealias PromiseMaker = @Sendable (ID<Evidence>, Digest) -> String?
