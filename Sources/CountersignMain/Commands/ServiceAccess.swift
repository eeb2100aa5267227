import Countersign
import Crypto
import Delivery
import Foundation
import HTTP

/// How a person's command reaches a running service, as every other client does.
enum ServiceAccess {
    static let options: [Command.Option] = [
        .init(
            name: "service", placeholder: "URL", what: "the service, as https://countersign.bank",
            isRequired: true),
        .init(
            name: "client-key-file", placeholder: "FILE",
            what: "the file with the person's API key, as client add printed it",
            isRequired: true),
        .init(
            name: "service-ca", placeholder: "FILE",
            what: "the authorities that the service's certificate must come from, PEM"),
        .init(
            name: "certificate", placeholder: "FILE",
            what: "the client certificate to show, PEM; with --certificate-key"),
        .init(name: "certificate-key", placeholder: "FILE", what: "its private key, PEM"),
    ]

    /// - Throws: ``ConfigurationError`` for a file that cannot be read, ``CommandFailure``.
    static func client(_ invocation: Invocation) throws -> APIClient {
        guard let service = invocation.option("service"),
            let file = invocation.option("client-key-file")
        else { throw UsageError("--service and --client-key-file are needed") }
        let key = try SecretFile(path: file, setting: "--client-key-file").text()
        var certificate: HTTPClient.ClientCertificate?
        switch (invocation.option("certificate"), invocation.option("certificate-key")) {
        case (let chain?, let key?): certificate = .init(certificateFile: chain, keyFile: key)
        case (nil, nil): break
        default: throw UsageError("--certificate and --certificate-key go together")
        }
        return try APIClient(
            base: service.hasSuffix("/") ? String(service.dropLast()) : service, key: key,
            authorities: invocation.option("service-ca"), certificate: certificate)
    }

    /// An answer that says yes; any other ends the command with the problem's own words.
    ///
    /// - Throws: ``CommandFailure``.
    static func demand(_ answer: APIClient.Answer) throws -> JSON {
        guard (200...299).contains(answer.status) else {
            var lines = [
                "the service answered \(answer.status) \(answer.problem ?? "")",
                answer.text("detail") ?? "",
            ]
            if case .array(let faults)? = answer.json["errors"] {
                lines += faults.map { fault in
                    "  \(fault["pointer"]?.text ?? ""): \(fault["detail"]?.text ?? "")"
                }
            }
            for name in ["newest", "not_before", "state"] {
                if let value = answer.json[name] { lines.append("  \(name): \(value.shown)") }
            }
            throw CommandFailure(lines.filter { !$0.isEmpty }.joined(separator: "\n"))
        }
        return answer.json
    }

    /// The JSON of a file, read as strictly as a request.
    ///
    /// - Throws: ``CommandFailure`` that says where it is wrong.
    static func json(_ path: String) throws -> JSON {
        let data: Data
        do { data = try Data(contentsOf: URL(filePath: path)) } catch {
            throw CommandFailure("the file \(path) cannot be read")
        }
        do throws(MalformedJSON) { return try StrictJSON.parse(Bytes(data)) } catch {
            throw CommandFailure("\(path): \(error.pointer.text) \(error.detail)")
        }
    }
}

extension JSON {
    /// As a person reads it on one line.
    var shown: String {
        switch self {
        case .string(let text): text
        default: String(decoding: encoded, as: UTF8.self)
        }
    }
}
