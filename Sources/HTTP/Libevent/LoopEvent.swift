internal import CLibevent

/// One event of a loop that runs a closure on the loop's thread: woken by hand or by the clock.
@safe final class LoopEvent {
    private var event: OpaquePointer?
    private let action: () -> Void

    /// The action must not keep its owner alive: the owner frees this event.
    init(base: OpaquePointer, _ action: @escaping () -> Void) throws(ServerFailure) {
        self.action = action
        let me = unsafe Unmanaged.passUnretained(self).toOpaque()
        guard let event = unsafe event_new(base, -1, Int16(EV_PERSIST), loopEventFired, me) else {
            throw .outOfResources
        }
        unsafe self.event = event
    }

    deinit {
        if let event = unsafe event { unsafe event_free(event) }
    }

    /// Runs the action soon, within the same pass when called on the loop's thread. From any thread.
    func activate() {
        if let event = unsafe event { unsafe event_active(event, Int32(EV_READ), 0) }
    }

    /// Runs the action again and again.
    func schedule(every interval: Duration) {
        var time = timeval(interval)
        if let event = unsafe event { unsafe event_add(event, &time) }
    }

    fileprivate func fire() { action() }
}

private func loopEventFired(_: Int32, _: Int16, _ argument: UnsafeMutableRawPointer?) {
    guard let argument = unsafe argument else { return }
    unsafe Unmanaged<LoopEvent>.fromOpaque(argument).takeUnretainedValue().fire()
}

extension timeval {
    init(_ duration: Duration) {
        let (seconds, attoseconds) = duration.components
        self.init(tv_sec: Int(seconds), tv_usec: Int(attoseconds / 1_000_000_000_000))
    }
}
