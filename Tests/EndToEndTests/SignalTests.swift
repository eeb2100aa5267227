import Foundation
import Testing

@testable import CountersignMain

@Suite struct `A signal` {
    /// SIGUSR1 would end the process if it were not taken in place of its default action, and its
    /// handler would trap if it belonged to the main actor.
    @Test func `arrives in its stream instead of ending the process`() async {
        var signals = await signalStream([SIGUSR1]).makeAsyncIterator()
        _ = kill(getpid(), SIGUSR1)
        #expect(await signals.next() == SIGUSR1)
        _ = kill(getpid(), SIGUSR1)
        #expect(await signals.next() == SIGUSR1)
    }
}
