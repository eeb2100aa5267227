import Countersign
import Crypto
import Foundation
import Postgres

extension Command {
    /// A named system or person that may call the API, and its first key.
    static let clientAdd = Command(
        name: "client add", summary: "Add a client of the API and print its key, once",
        positionals: [
            .init(name: "NAME", what: "the system or person: 1 to 64 of A-Z a-z 0-9 . _ -")
        ],
        options: [
            .init(
                name: "role", placeholder: "ROLE",
                what: "backend, core, auditor, risk, officer, privacy or operator",
                isRequired: true),
            .init(
                name: "certificate", placeholder: "SAN",
                what: "bind to a certificate's name instead of a key, as DNS:core.bank.example"),
        ],
        settings: evidenceSettings, required: evidenceRequired
    ) { invocation in
        let role = invocation.option("role").flatMap(AuthenticatedClient.Role.init(rawValue:))
        guard let role else { throw UsageError("--role is not a role") }
        let name = invocation.positionals[0]
        guard name.wholeMatch(of: /[A-Za-z0-9._-]{1,64}/) != nil else {
            throw UsageError("NAME is not 1 to 64 of A-Z a-z 0-9 . _ -")
        }
        let certificate = invocation.option("certificate")
        let key = certificate == nil ? APIKey.make(for: role) : nil
        let added = try await invocation.configuration.administer { administration in
            try await administration.addClient(
                ID(at: systemTime(), random: EntropySource.openSSL(10)), name: name, role: role,
                keyDigest: key.map { sha256(Bytes($0.utf8)) },
                subjectAlternativeName: certificate)
        }
        guard added else { throw CommandFailure("there is a client of that name or certificate") }
        // The only time that it is shown: the database keeps its SHA-256.
        if let key { Console.out(key) }
    }
}

/// A key by which a client calls the API.
enum APIKey {
    /// 256 random bits in base64url, with the role in front for the reader's sake.
    static func make(for role: AuthenticatedClient.Role) -> String {
        "cs_\(role.rawValue)_\(Base64.encodeURL(EntropySource.openSSL(32)))"
    }
}
