import Countersign
import Crypto
import Delivery
import Foundation
import HTTP
import Testing

@testable import CountersignMain

@Suite struct `When core banking fails` {
    @Test func `an order is booked once, whatever happens to its answers`() async throws {
        let bank = try Bank(faults: [.failBefore, .failAfter, .delay(milliseconds: 5000)])
        try await bank.announce()
        let claim = Fixture.claim(.order(try bank.deviceOrder()))
        let patient = try bank.link()
        let hasty = try bank.link(Bank.client(timeout: .milliseconds(500)))
        var causes: [UnsettledCause] = []
        for link in [patient, patient, hasty] {
            if case .retry(_, let cause) = await link.deliver(claim) { causes.append(cause) }
        }
        #expect(causes == [.status, .status, .timeout])
        let outcome = await patient.deliver(claim)
        guard case .executed("CB-1", _) = outcome else {
            Issue.record("\(outcome)")
            return
        }
        await bank.stop()
    }

    @Test func `a worker brings orders and announcements through`() async throws {
        let bank = try Bank(faults: [.failAfter, .failBefore, .failAfter])
        let queue = MemoryQueue([
            .order(try bank.deviceOrder()), .credential(bank.announcement(.passkey)),
            .credential(bank.announcement(.deviceKey)),
        ])
        let link = try bank.link()
        let worker = DeliveryWorker(
            queue: queue,
            options: .init(slots: 1, lease: Seconds(60), pollInterval: .zero),
            deliver: { await link.deliver($0) },
            sleep: { _ in
                queue.advance(Seconds(1))
                await Task.yield()
            }, report: { _ in })
        let task = Task { await worker.run() }
        while queue.outcomes.contains(nil) {
            do {
                try await Task.sleep(for: .milliseconds(5))
            } catch {
                break
            }
        }
        task.cancel()
        await task.value
        #expect(queue.outcomes.dropFirst() == [.delivered, .delivered])
        guard case .executed("CB-1", _) = queue.outcomes[0] else {
            Issue.record("\(queue.outcomes)")
            return
        }
        await bank.stop()
    }

    @Test func `a booking outlives the process that made it`() async throws {
        let folder = FileManager.default.temporaryDirectory
            .appending(path: "countersign-bank-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let journal = folder.appending(path: "journal").path
        await #expect(processExitsWith: .signal(SIGKILL)) { [journal = journal as String] in
            let bank = try Bank()
            let server = try Bank.standIn(
                journal: journal, serviceKey: bank.serviceKey, faults: [.die]
            ).start()
            let url = try #require(HTTPURL("http://127.0.0.1:\(server.port)/executions"))
            let keys = try #require(url.appending("credentials"))
            let signer = try bank.signer()
            _ = try await bank.client.send(
                signer.post(
                    OrderDocument.encode(bank.announcement(.deviceKey)), to: keys,
                    idempotencyKey: "k", at: Fixture.now))
            // The folder of a bank is deleted with it, and this process does not get that far.
            try FileManager.default.removeItem(at: bank.folder)
            _ = try await bank.client.send(
                signer.post(
                    bank.body(bank.deviceOrder()), to: url,
                    idempotencyKey: Fixture.actionID.text, at: Fixture.now))
        }
        let ledger = try Ledger(path: journal)
        let booking = try #require(await ledger.booking(Fixture.actionID))
        #expect(booking.receipt == .executed(reference: "CB-1"))
        #expect(booking.messageDigest == sha256(Fixture.message()))
        #expect(booking.members["amount"] == "120.00")
        #expect(await ledger.key(Bank.deviceCredential) != nil)
        try FileManager.default.removeItem(at: folder)
    }

    @Test func `faults are read from a list`() {
        let faults = Faults(list: "fail-before,none,delay=20,fail-after,die")
        let read = (0..<6).map { _ in faults?.next() }
        #expect(
            read == [
                .failBefore, Faults.Fault.none, .delay(milliseconds: 20), .failAfter, .die,
                Faults.Fault.none,
            ])
        for list in ["x", "delay=", "delay=-1", "delay=600001", "none,,x"] {
            #expect(Faults(list: list) == nil, "\(list)")
        }
    }
}
