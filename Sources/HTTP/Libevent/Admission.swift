internal import CLibevent
internal import Countersign

/// Decides what is answered without asking the handler, and what a request is known by.
struct Admission: Sendable {
    let options: ServerOptions

    /// The caller's values where they are acceptable; an id is made where they are not.
    func correlation(of headers: HeaderFields) -> RequestCorrelation {
        let id = headers.only("x-request-id").flatMap { Correlation.isRequestID($0) ? $0 : nil }
        let trace = headers.only("traceparent").flatMap {
            Correlation.isTraceparent($0) ? $0 : nil
        }
        return RequestCorrelation(id: id ?? options.makeRequestID(), traceparent: trace)
    }

    /// Why the framing is not beyond doubt; `nil` when it is.
    func framingProblem(
        of request: UnsafeMutablePointer<evhttp_request>, on connection: Connection
    ) -> Problem? {
        if connection.hasReceivedNUL { return .malformedRequest("There is a NUL in the request.") }
        return unsafe FramingCheck.fault(in: request).map { .malformedRequest($0) }
    }

    /// That the body is too large for a handler; `nil` when it is not.
    func sizeProblem(of reading: RequestReading) -> Problem? {
        let bytesMax = options.limits.bodyBytesMax
        return reading.bodyByteCount > bytesMax ? .payloadTooLarge(bytesMax: bytesMax) : nil
    }
}
