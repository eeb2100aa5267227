/// What one connection is doing, and until when it may.
///
/// ```
/// (plain) idle ⇄ reading ─▶ handling ─▶ writing ─▶ idle
/// (TLS)   handshaking ─▶ idle …
/// ```
///
/// Evhttp's own time-outs start again with each byte, so a client that sends one byte now and then
/// could hold a connection for ever. The deadlines here do not move. A handler has none: it is ours.
enum ConnectionPhase: Equatable {
    case handshaking(until: ContinuousClock.Instant)
    /// Between requests; evhttp's time-out ends it.
    case idle
    case reading(until: ContinuousClock.Instant)
    case handling
    case writing(until: ContinuousClock.Instant)

    init(isTLS: Bool, at now: ContinuousClock.Instant, limits: ServerLimits) {
        self = isTLS ? .handshaking(until: now + limits.handshakeDeadline) : .idle
    }

    mutating func handshakeCompleted() {
        if case .handshaking = self { self = .idle }
    }

    /// The first byte of a request starts its deadline; those that follow do not move it.
    mutating func bytesArrived(at now: ContinuousClock.Instant, limits: ServerLimits) {
        if case .idle = self { self = .reading(until: now + limits.readDeadline) }
    }

    mutating func requestCompleted() { self = .handling }

    mutating func replyStarted(at now: ContinuousClock.Instant, limits: ServerLimits) {
        self = .writing(until: now + limits.writeDeadline)
    }

    mutating func replyCompleted() { self = .idle }

    /// Whether closing now interrupts nothing.
    var isIdle: Bool { self == .idle }

    /// Whether a whole request is here and its answer is not wholly sent.
    var isAnswering: Bool {
        switch self {
        case .handling, .writing: true
        case .handshaking, .idle, .reading: false
        }
    }

    func isOverdue(at now: ContinuousClock.Instant) -> Bool {
        switch self {
        case .handshaking(let end), .reading(let end), .writing(let end): end <= now
        case .idle, .handling: false
        }
    }
}
