import Countersign
import Crypto
import Foundation
import TestSupport

@testable import CountersignMain

/// What goes on the wire for a case, and what its key signs.
struct SentRequest {
    private let one: Case
    private let now: Int64
    private(set) var device: String
    var signKey: String
    private var timestamp: String
    private var signedTimestamp: String
    private let suffix: String
    /// Whether a second more or less changes the verdict.
    let isAtTheEdge: Bool

    init(_ one: Case, now: Int64, suffix: String = "") throws {
        guard let device = one.input("headers")?["X-Device-ID"]?.text,
            let signKey = one.input("signKey")?.text,
            let timestamp = one.input("headers")?["X-Timestamp"]?.text,
            let signed = one.input("signed")?["timestamp"]?.text
        else { throw UnknownStep(step: "a request without its parts") }
        self.one = one
        self.now = now
        self.device = device
        self.signKey = signKey
        self.suffix = suffix
        isAtTheEdge = timestamp.contains("W")
        self.timestamp = timestamp.filled(now: now)
        signedTimestamp = signed.filled(now: now)
    }

    /// Sends and signs as another device.
    mutating func use(_ device: String) { (self.device, signKey) = (device, device) }

    /// Sends and signs another time.
    mutating func use(time: String) {
        timestamp = time.filled(now: now)
        signedTimestamp = timestamp
    }

    /// The bytes that the case signs, whatever is sent.
    private var message: Bytes {
        func part(_ name: String) -> String { one.input("signed")?[name]?.text ?? "" }
        let lines = [
            part("method"), part("path"), signedTimestamp, part("nonce") + suffix,
            part("bodySha256Hex"),
        ]
        return Bytes(lines.joined(separator: "\n").utf8)
    }

    /// The body for the service.
    func body(_ phones: [String: RequestSigner]) throws -> JSON {
        guard let method = one.input("method"), let target = one.input("target"),
            let content = one.input("bodyB64")?.text.flatMap({ Base64.decode($0) }),
            let signer = phones[signKey]
        else { throw UnknownStep(step: "a request without its parts") }
        var members: [JSON.Member] = [
            .init("method", method), .init("target", target),
            .init("body_sha256", .string(sha256(content).hex)),
            .init("headers", fields(phones, signature: try signer.key.sign(message))),
        ]
        if one.faultKind == "cross_user" {
            // The action is of the customer of device-a, who is therefore the one to be named.
            members.append(.init("customer_id", .optional(phones["device-a"]?.customer)))
        }
        return .object(members)
    }

    /// The four fields with what the case does to them; the backend passes no others on.
    private func fields(_ phones: [String: RequestSigner], signature: Bytes) -> JSON {
        var values: [String: [String]] = ["X-Signature": [Base64.encode(signature)]]
        var spelling: (String) -> String = { $0 }
        guard case .object(let members)? = one.input("headers") else { return [:] }
        for member in members {
            let text = member.value.text ?? ""
            switch member.name {
            case "#lowercase-names": spelling = { $0.lowercased() }
            case "#uppercase-names": spelling = { $0.uppercased() }
            case "#drop": break
            case "X-Device-ID": values["X-Device-ID", default: []].insert(id(device, phones), at: 0)
            case "X-Device-ID#2": values["X-Device-ID", default: []].append(id(text, phones))
            case "X-Timestamp": values["X-Timestamp", default: []].insert(timestamp, at: 0)
            case "X-Nonce": values["X-Nonce", default: []].insert(text + suffix, at: 0)
            case "X-Nonce#2": values["X-Nonce", default: []].append(text)
            default: break
            }
        }
        if let dropped = one.input("headers")?["#drop"]?.text { values[dropped] = nil }
        return .object(
            values.sorted { $0.key < $1.key }.map { name, values in
                .init(
                    spelling(name),
                    values.count == 1 ? .string(values[0]) : .array(values.map { .string($0) }))
            })
    }

    private func id(_ name: String, _ phones: [String: RequestSigner]) -> String {
        phones[name]?.credential ?? name
    }
}

extension String {
    /// The text with each `{now…}` filled in; `W` is the window.
    fileprivate func filled(now: Int64) -> String {
        let window = DeviceRequestRules.window.count
        return replacing(/\{now((?:[+-](?:W|[0-9]+))*)\}/) { match in
            let value = match.1.matches(of: /([+-])(W|[0-9]+)/).reduce(now) { sum, term in
                let amount = term.2 == "W" ? window : Int64(term.2) ?? 0
                return term.1 == "-" ? sum - amount : sum + amount
            }
            return String(value)
        }
    }
}
