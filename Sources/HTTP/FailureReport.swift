import Countersign

/// Turns failures into problems, and tells the operator what the caller must not know.
package struct FailureReport: Sendable {
    private let report: @Sendable (_ code: String, _ requestID: String) -> Void

    /// - Parameter report: Takes note of a defect: its code (an SQLSTATE or the name of a
    ///   constraint, never data) and the request that met it.
    package init(_ report: @escaping @Sendable (_ code: String, _ requestID: String) -> Void) {
        self.report = report
    }

    func problem(_ failure: StoreFailure, in request: Request) -> Problem {
        switch failure {
        case .internalFailure(let code): report(code, request.id)
        case .unavailable, .outcomeUnknown: break
        }
        return Problem(failure)
    }
}
