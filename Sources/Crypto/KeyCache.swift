package import Countersign

/// Parsed keys by their bytes, so that no request decodes a key that an earlier one did.
///
/// Only a cache: what it has lost is made again from the same bytes, so it never goes stale and nothing
/// but time depends on it.
package final class KeyCache<Key: Sendable>: Sendable {
    /// The keys used lately, and those of the time before.
    ///
    /// When `young` is full it becomes `old`, and what was in `old` is dropped: every step is O(1), and
    /// a key that is used at least once in every `keysMax` / 2 others stays.
    private struct Generations {
        var young: [Bytes: Key] = [:]
        var old: [Bytes: Key] = [:]
    }

    private let generations = Locked(Generations())
    private let youngMax: Int

    /// - Parameter keysMax: How many keys are kept at most; at least 2.
    package init(keysMax: Int) {
        precondition(keysMax >= 2, "a cache keeps something")
        youngMax = keysMax / 2
    }

    /// How many keys are kept.
    package var count: Int {
        generations.withLock { $0.young.count + $0.old.count }
    }

    /// The key of these bytes, made by `make` if it is not here; what cannot be made is not remembered.
    ///
    /// Two callers at once may both make it: that is harmless, and the lock is not held meanwhile.
    ///
    /// - Parameters:
    ///   - bytes: What the key is made of and nothing else, such as its SubjectPublicKeyInfo.
    ///   - make: Makes the key of those bytes.
    /// - Returns: The key.
    /// - Throws: What `make` throws.
    package func key<Failure>(
        of bytes: Bytes, orMake make: (Bytes) throws(Failure) -> Key
    ) throws(Failure) -> Key {
        if let known = generations.withLock({ Self.find(bytes, in: &$0, youngMax: youngMax) }) {
            return known
        }
        let made = try make(bytes)
        generations.withLock { Self.keep(made, for: bytes, in: &$0, youngMax: youngMax) }
        return made
    }

    private static func find(
        _ bytes: Bytes, in generations: inout Generations, youngMax: Int
    ) -> Key? {
        if let key = generations.young[bytes] { return key }
        guard let key = generations.old.removeValue(forKey: bytes) else { return nil }
        keep(key, for: bytes, in: &generations, youngMax: youngMax)
        return key
    }

    private static func keep(
        _ key: Key, for bytes: Bytes, in generations: inout Generations, youngMax: Int
    ) {
        if generations.young.count >= youngMax, generations.young[bytes] == nil {
            generations.old = generations.young
            generations.young = [:]
        }
        generations.young[bytes] = key
        generations.old.removeValue(forKey: bytes)
    }
}

extension KeyCache where Key == PublicKey {
    /// The key of a SubjectPublicKeyInfo.
    package func key(spki: Bytes) throws(KeyError) -> PublicKey {
        try key(of: spki) { (bytes) throws(KeyError) in try PublicKey(spki: bytes) }
    }
}
