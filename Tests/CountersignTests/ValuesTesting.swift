import Countersign

/// A value, or `nil` when its text is refused.
func accepted<Value>(_ make: () throws(InvalidValue) -> Value) -> Value? {
    do { return try make() } catch { return nil }
}

/// The code with which a text is refused, or `nil` when it is accepted.
func refusal<Value>(_ make: () throws(InvalidValue) -> Value) -> String? {
    do {
        _ = try make()
        return nil
    } catch {
        return error.code
    }
}
