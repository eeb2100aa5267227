import Countersign
import Foundation
import TestSupport

@testable import CountersignMain

/// A customer's browser on the bank's page, with an authenticator that is built into the machine.
struct Browser: Sendable {
    /// Where a page may be.
    enum Page: String, Sendable {
        /// The origin that the service is told of.
        case bank
        /// `localhost` too, on another port.
        case stranger
        /// The bank's port at 127.0.0.1, which is no domain.
        case address
    }

    private let peer: Peer
    /// The bank's page, for the service's configuration.
    let site: BankSite

    /// Starts a browser, and the bank's page to be opened in it.
    static func run<Result>(_ body: (Browser) async throws -> Result) async throws -> Result {
        let program = try Peer.environment("COUNTERSIGN_TEST_CHROMIUM")
        return try await Peer.run("browser.py", [program]) { peer in
            guard let origin = try await peer.call("pages")["bank"]?.text else {
                throw Unexpected("the browser's helper names no page")
            }
            let site = BankSite(relyingPartyID: "localhost", origin: origin)
            return try await body(Browser(peer: peer, site: site))
        }
    }

    /// Goes to the bank's page.
    ///
    /// - Parameters:
    ///   - page: Where it is.
    ///   - outer: Whose page shows it in a frame; `nil` opens it by itself.
    /// - Throws: ``Unexpected`` when it is not there.
    func open(_ page: Page, in outer: Page? = nil) async throws {
        var members = [JSON.Member("page", .string(page.rawValue))]
        if let outer { members.append(.init("in", .string(outer.rawValue))) }
        try await peer.call("open", .object(members))
    }

    /// Whether the authenticator will know the customer from now on.
    func setUserVerified(_ isVerified: Bool) async throws {
        try await peer.call("authenticator", ["verified": .bool(isVerified)])
    }

    /// Has the page make a passkey.
    ///
    /// - Returns: `JSON.stringify(credential)` as the page had it.
    func register(_ options: JSON) async throws -> String { try await call("register", options) }

    /// Has the page sign with a passkey.
    func sign(_ options: JSON) async throws -> String { try await call("sign", options) }

    /// Has the page ask the browser to show a payment and to sign it.
    ///
    /// - Parameter request: The arguments of `PaymentRequest`, with binary members in base64url.
    /// - Returns: `JSON.stringify(credential)` as the page had it.
    /// - Throws: ``Peer/Refusal`` when the browser signs nothing.
    func pay(_ request: JSON) async throws -> String { try await call("pay", request) }

    private func call(_ function: String, _ argument: JSON) async throws -> String {
        let value = try await peer.call(
            "call", ["function": .string(function), "argument": argument])
        guard let text = value.text else { throw Unexpected("\(function) gave no text") }
        return text
    }
}

extension ServiceInstance {
    /// Finishes an enrolment with what a page gave, byte for byte.
    func finishEnrolment(
        of customer: String, _ enrolment: String, passkey: String
    ) async throws -> HttpSocket.Answer {
        try await send(
            "POST", "/v1/customers/\(customer)/credentials",
            fields: ["Content-Type: application/json"],
            body: Bytes(#"{"enrolment_id":"\#(enrolment)","passkey":\#(passkey)}"#.utf8))
    }

    /// Approves with what a page gave, byte for byte, as a member of that name.
    func approve(
        _ question: Question, _ proof: String, as member: String
    ) async throws -> HttpSocket.Answer {
        try await send(
            "POST", "/v1/actions/\(question.action)/approve",
            fields: ["Content-Type: application/json"],
            body: Bytes(
                #"{"challenge_id":"\#(question.challenge)","\#(member)":\#(proof)}"#.utf8))
    }

    /// Why the proofs for an action were not believed, as evidence has it.
    func failures(of action: String) async throws -> [String] {
        try await auditor().get("/v1/evidence?action_id=\(action)&kind=attempt.failed")
            .evidence.compactMap { $0["body"]?["reason"]?.text }
    }
}
