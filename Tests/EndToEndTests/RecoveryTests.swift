import Countersign
import Crypto
import Foundation
import TestSupport
import Testing

@testable import CountersignMain

/// A customer who has lost control, and what the bank learns of it, on the running service.
@Suite struct `Payees, recovery and events of the running service` {
    @Test func `end what was trusted, and are told in order`() async throws {
        try await withBank { bank in
            let instance = try await bank.serve()
            let customer = try await bank.customer("c-1", at: instance)
            let backend = try instance.backend()
            let payees = "/v1/customers/c-1/payees"
            guard case .array(let listed)? = try await backend.payees(of: "c-1").value(["payees"]),
                let payee = listed.first?["id"]?.text
            else { throw Unexpected("no payee") }
            for _ in 1...2 {
                let removed = try await instance.send("DELETE", "\(payees)/\(payee)")
                #expect(removed.status == 200)
            }
            let refused = try await backend.create(customer.transfer())
            let question = try #require(refused.question)
            let unknown = try await backend.approve(
                question.action, try customer.approval(question))
            #expect(unknown.problem == "payee-unknown")

            let open = try await backend.create(BankCustomer.contactChange(of: "c-1"))
            let asked = try #require(open.question)
            // Without a key of an identity system, development needs no token.
            let recovered = try await backend.api.post("/v1/customers/c-1/recovery", [:])
            #expect(recovered.status == 200)
            #expect(
                recovered.value(["recovery", "revoked_credentials"])
                    == [.string(customer.credential)])
            let late = try await backend.approve(asked.action, try customer.approval(asked))
            #expect(late.problem == "challenge-consumed")
            let nobody = try await backend.api.post("/v1/customers/c-9/recovery", [:])
            #expect(nobody.problem == "not-found")

            let feed = try await backend.api.get("/v1/events")
            guard case .array(let events)? = feed.value(["events"]) else {
                throw Unexpected("no events")
            }
            #expect(
                events.compactMap { $0["kind"]?.text } == [
                    "credential.enrolled", "payee.removed", "credential.revoked", "recovery",
                ])
            #expect(events.allSatisfy { $0["customer_id"] == "c-1" })
            let next = try #require(feed.text("next_cursor"))
            let rest = try await backend.api.get("/v1/events?after=\(next)")
            #expect(rest.value(["events"]) == [])
            #expect(try await backend.api.get("/v1/events?after=99").status == 400)
            // Orders are sent here, so they are not for fetching.
            let core = try APIClient(base: instance.base, key: bank.coreAPIKey)
            #expect(try await core.post("/v1/executions/lease", [:]).problem == "not-pulled")
            #expect(!instance.process.hasLogged("request.failed"), "\(instance.process.text)")
        }
    }
}
