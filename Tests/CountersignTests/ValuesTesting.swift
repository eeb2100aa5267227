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

/// The code of the fault for which a policy document is refused; `nil` when it is taken.
func fault<Value>(_ make: () throws(PolicyFault) -> Value) -> String? {
    do {
        _ = try make()
        return nil
    } catch {
        return error.code
    }
}
