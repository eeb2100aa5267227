package import Countersign

/// What a signature of this service covers and says, the same for signing and for verifying.
///
/// RFC 9421 leaves all of this to the application (§1.4) and has it enforced on verification (§3.2.1).
package enum SignatureProfile {
    /// Everything that decides what the request does: a covered component cannot be changed or dropped.
    package static let components = [
        "@method", "@target-uri", "content-type", "content-digest", "idempotency-key",
    ]
    /// Keeps a signature made for another purpose with the same key from serving as an order.
    package static let tag = "countersign-execution"
    /// The label that ties `Signature` to `Signature-Input`.
    package static let label = "countersign"
    /// From `created` to `expires`; an order that waits longer is signed anew.
    package static let lifetime = Seconds(60)
    /// The longest lifetime that is accepted, so that a nonce need not be remembered for longer.
    static let lifetimeMax = Seconds(300)
    /// How far `created` may lie from the verifier's clock: room for a clock that is minutes off.
    static let createdTolerance = Seconds(300)
    static let nonceBytes = 16
    /// Characters of a nonce that is accepted; 22 are written.
    static let nonceLengths = 16...128
}
