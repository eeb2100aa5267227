import Countersign
import Foundation

extension Command {
    static let policyShow = Command(
        name: "policy show", summary: "Show the policy in force, or another version",
        positionals: [.init(name: "VERSION", what: "its number", count: .optional)],
        options: ServiceAccess.options
    ) { invocation in
        let client = try ServiceAccess.client(invocation)
        let policy = try await PolicyText.policy(invocation.positionals.first, from: client)
        Console.out(PolicyText.head(policy))
        Console.out("")
        for line in PolicyText.lines(policy["document"] ?? .null) { Console.out(line) }
    }

    static let policyDiff = Command(
        name: "policy diff", summary: "Show what is different between two versions",
        positionals: [
            .init(name: "A", what: "a version"),
            .init(name: "B", what: "another, or a file with a document"),
        ],
        options: ServiceAccess.options
    ) { invocation in
        let client = try ServiceAccess.client(invocation)
        let old = try await PolicyText.policy(invocation.positionals[0], from: client)
        let other = invocation.positionals[1]
        let new =
            Int(other) == nil
            ? try ServiceAccess.json(other)
            : try await PolicyText.policy(other, from: client)["document"] ?? .null
        let found = JSONDifference.between(old["document"] ?? .null, new)
        for line in PolicyText.lines(found.map(\.json)) { Console.out(line) }
    }

    static let policyValidate = Command(
        name: "policy validate", summary: "Check a policy document, without any service",
        positionals: [.init(name: "FILE", what: "the document, JSON")]
    ) { invocation in
        do throws(InvalidActMember) {
            let document = try JSONFile.read(invocation.positionals[0])
            _ = try PolicyProposal(["policy": document], newest: 0)
        } catch {
            throw CommandFailure("\(error.pointer): \(error.value.detail)")
        }
        Console.out("valid")
    }

    static let policyPropose = Command(
        name: "policy propose",
        summary: "Propose a policy: shows what changes, and asks for the proposer's signature",
        positionals: [.init(name: "FILE", what: "the document, JSON")],
        options: ServiceAccess.options + [
            .init(
                name: "active-from", placeholder: "TIME",
                what: "from when it holds, as 2026-01-31T06:00:00Z; without it, as soon as possible"
            ),
            .init(
                name: "base", placeholder: "VERSION",
                what: "the version that it was written against; without it the newest"),
            .init(
                name: "tighten", placeholder: nil,
                what: "at least as strict in every member: one person's signature is enough"),
            ActQuestion.option,
        ]
    ) { invocation in
        let client = try ServiceAccess.client(invocation)
        var document: [JSON.Member] = [
            .init("policy", try ServiceAccess.json(invocation.positionals[0]))
        ]
        if let time = invocation.option("active-from") {
            document.append(.init("active_from", .string(time)))
        }
        if let base = invocation.option("base") {
            guard let version = Int64(base) else { throw UsageError("--base is not a version") }
            document.append(.init("base_version", .integer(version)))
        }
        let kind: ActKind = invocation.has("tighten") ? .tightenPolicy : .publishPolicy
        let answer = try ServiceAccess.demand(
            await client.post(
                "/v1/acts",
                ["kind": .string(kind.rawValue), "document": .object(document)]))
        try ActQuestion.show(answer, invocation)
    }

    static let policyApprove = Command(
        name: "policy approve",
        summary: "Show an act that somebody proposed, and ask for this person's signature",
        positionals: [.init(name: "ACT", what: "its ID")],
        options: ServiceAccess.options + [ActQuestion.option]
    ) { invocation in
        let client = try ServiceAccess.client(invocation)
        let id = try ActQuestion.act(invocation.positionals[0])
        let answer = try ServiceAccess.demand(
            await client.post("/v1/acts/\(id)/challenge", [:]))
        try ActQuestion.show(answer, invocation)
    }

    static let policySign = Command(
        name: "policy sign", summary: "Send the signature that a browser made of an act",
        positionals: [.init(name: "ACT", what: "its ID")],
        options: ServiceAccess.options + [
            .init(
                name: "challenge", placeholder: "ID", what: "the question that it answers",
                isRequired: true),
            .init(
                name: "assertion", placeholder: "FILE",
                what: "what the browser's PublicKeyCredential.toJSON() made", isRequired: true),
        ]
    ) { invocation in
        let client = try ServiceAccess.client(invocation)
        let id = try ActQuestion.act(invocation.positionals[0])
        let passkey = try ServiceAccess.json(invocation.option("assertion") ?? "")
        let answer = try ServiceAccess.demand(
            await client.post(
                "/v1/acts/\(id)/signatures",
                [
                    "challenge_id": .string(invocation.option("challenge") ?? ""),
                    "passkey": passkey,
                ]))
        for line in PolicyText.act(answer["act"] ?? .null) { Console.out(line) }
    }
}

/// A document on this machine, for a command that asks no service.
private enum JSONFile {
    static func read(_ path: String) throws(InvalidActMember) -> JSON {
        do { return try ServiceAccess.json(path) } catch {
            let explained = (error as? CommandFailure)?.explanation ?? "it cannot be read"
            throw InvalidActMember(path, InvalidValue("file", explained))
        }
    }
}

/// A question about an act, on its way to a browser.
enum ActQuestion {
    static let option = Command.Option(
        name: "question-out", placeholder: "FILE",
        what: "write what the browser is asked to this file instead of showing it")

    /// The ID as it goes into a path.
    static func act(_ text: String) throws(UsageError) -> String {
        guard let id = ID<Act>(text) else { throw UsageError("ACT is not an ID") }
        return id.text
    }

    /// Shows the act and the question, and what to do with it.
    static func show(_ answer: JSON, _ invocation: Invocation) throws {
        let act = answer["act"] ?? .null
        for line in PolicyText.act(act) { Console.out(line) }
        let challenge = answer["challenge"] ?? .null
        let options = (challenge["webauthn"] ?? .null).encoded
        Console.out("")
        if let path = invocation.option("question-out") {
            guard FileManager.default.createFile(atPath: path, contents: Data(options)) else {
                throw CommandFailure("the file \(path) cannot be written")
            }
            Console.out("The browser is asked what \(path) holds.")
        } else {
            Console.out("PublicKeyCredential.parseRequestOptionsFromJSON takes this:")
            Console.out(String(decoding: options, as: UTF8.self))
        }
        Console.out(
            "Sign by \(challenge["expires_at"]?.text ?? "") and send it with: countersign policy "
                + "sign \(act["id"]?.text ?? "") --challenge \(challenge["id"]?.text ?? "") "
                + "--assertion FILE")
    }
}
