import Countersign
import Crypto
import Foundation

extension Command {
    static let payeePrepare = Command(
        name: "payee prepare",
        summary: "Make a file of payees ready to be signed: each line gets a salt of its own",
        positionals: [
            .init(
                name: "FILE",
                what: "one payee per line: {\"customer_id\", \"name\", \"account\": {\"iban\": …}, "
                    + "\"alias\"?}; or - for standard input")
        ],
        options: [
            .init(
                name: "out", placeholder: "FILE",
                what: "the prepared file; whoever has it can read what is signed",
                isRequired: true)
        ]
    ) { invocation in
        let file = try PayeeFile(invocation.positionals[0])
        guard file.lines.allSatisfy({ $0.salt == nil }) else {
            throw CommandFailure("the file is prepared already")
        }
        let lines = file.lines.map { line -> Bytes in
            let salt = Base64.encodeURL(EntropySource.openSSL(PayeeRow.saltSize))
            guard case .object(let members) = line.json else { return line.json.encoded }
            return JSON.object(members + [.init("salt", .string(salt))]).encoded
        }
        let text = Data(lines.flatMap { $0 + [UInt8(ascii: "\n")] })
        let path = invocation.option("out") ?? ""
        guard
            FileManager.default.createFile(
                atPath: path, contents: text, attributes: [.posixPermissions: 0o600])
        else { throw CommandFailure("the file \(path) cannot be written") }
        // What was written is what the other commands will read.
        let count = try PayeeFile(path).rows().count
        Console.out("\(count) payees are prepared in \(path)")
    }

    static let payeePropose = Command(
        name: "payee propose",
        summary: "Propose the import of a prepared file, and ask for the proposer's signature",
        positionals: [.init(name: "FILE", what: "what payee prepare made")],
        options: ServiceAccess.options + [Invocation.reasonOption, ActQuestion.option]
    ) { invocation in
        let file = try PayeeFile(invocation.positionals[0])
        let digests = try file.digests()
        let client = try ServiceAccess.client(invocation)
        let answer = try ServiceAccess.demand(
            await client.post(
                "/v1/acts",
                [
                    "kind": .string(ActKind.importPayees.rawValue),
                    "document": [
                        "reason": .string(invocation.option("reason") ?? ""),
                        "rows": .array(digests.map { .string($0) }),
                    ],
                ]))
        try ActQuestion.show(answer, invocation)
    }

    static let payeeApprove = Command(
        name: "payee approve",
        summary: "Compare a proposed import with the file, and ask for this person's signature",
        positionals: [
            .init(name: "FILE", what: "what payee prepare made, as this person got it"),
            .init(name: "ACT", what: "the act's ID"),
        ],
        options: ServiceAccess.options + [ActQuestion.option]
    ) { invocation in
        let file = try PayeeFile(invocation.positionals[0])
        let digests = try file.digests()
        let client = try ServiceAccess.client(invocation)
        let id = try ActQuestion.act(invocation.positionals[1])
        let act = try ServiceAccess.demand(await client.get("/v1/acts/\(id)"))["act"]
        guard act?["kind"]?.text == ActKind.importPayees.rawValue,
            PayeeImportRequest.rows(recorded: act?["document"] ?? .null) == digests
        else { throw CommandFailure("the act is not about the payees of this file") }
        for line in file.lines {
            Console.out(
                "\(line.customer.text)  \(line.identity.account.text)  \(line.identity.name.text)")
        }
        Console.out("")
        let answer = try ServiceAccess.demand(
            await client.post("/v1/acts/\(id)/challenge", [:]))
        try ActQuestion.show(answer, invocation)
    }
}
