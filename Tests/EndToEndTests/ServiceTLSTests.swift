import Countersign
import Delivery
import Foundation
import TestSupport
import Testing

@testable import CountersignMain

@Suite struct `A service behind TLS` {
    private static let path = "/v1/actions?customer_id=c-1"

    @Test func `knows a client by its certificate, and no stranger`() async throws {
        try await withBank { bank in
            let pki = try await Certificates(bank.folder)
            let instance = try await serve(bank, pki)
            let (ending, output) = try await bank.run(
                [
                    "client", "add", "core-backend", "--role", "backend", "--certificate",
                    "DNS:backend.bank.example",
                ], as: "countersign_operator")
            #expect(ending == .exited(0))
            #expect(output == "", "a certificate needs no key")
            func status(_ name: String?, key: String? = nil) async throws -> Int {
                try await pki.get(
                    Self.path, port: instance.port, as: name, key: key, trusting: "ca")
            }
            #expect(try await status("bound") == 200)
            #expect(try await status("unbound") == 401)
            #expect(try await status(nil) == 401)
            #expect(try await status(nil, key: bank.backendKey) == 200)
            // Its issuer is no authority here, although the name is the bound one.
            await #expect(throws: TransportFailure.self) { try await status("foreign") }
            await #expect(throws: TransportFailure.self) {
                try await status("foreign", key: bank.backendKey)
            }
            #expect(
                try await HttpMessage("GET", "/healthz").send(to: instance.port).status != 200,
                "plain HTTP is not answered")
        }
    }

    @Test func `takes new certificates at SIGHUP and serves on, and keeps the old if they are bad`()
        async throws
    {
        try await withBank { bank in
            let pki = try await Certificates(bank.folder)
            let instance = try await serve(bank, pki)
            func isAnswered(trusting authority: String) async throws -> Bool {
                do {
                    return try await pki.get(
                        Self.path, port: instance.port, as: nil, key: bank.backendKey,
                        trusting: authority) == 200
                } catch TransportFailure.tls {
                    return false
                }
            }
            #expect(try await isAnswered(trusting: "ca"))
            #expect(try await !isAnswered(trusting: "other-ca"))
            try pki.replaceServer(by: "other-server")
            instance.process.signal(SIGHUP)
            try await instance.process.logged("certificates.reloaded")
            #expect(try await isAnswered(trusting: "other-ca"))
            #expect(try await !isAnswered(trusting: "ca"))
            try TestBank.write("no certificate", to: pki.path("server.crt"))
            instance.process.signal(SIGHUP)
            try await instance.process.logged("certificates.refused")
            #expect(try await isAnswered(trusting: "other-ca"))
        }
    }

    private func serve(_ bank: TestBank, _ pki: Certificates) async throws -> ServiceInstance {
        try await bank.serve(
            "--tls-certificate", pki.path("server.crt"), "--tls-key", pki.path("server.key"),
            "--tls-client-ca", pki.path("ca.crt"), "--tls-client-certificate", "optional")
    }
}

/// A small PKI made by the `openssl` program.
private struct Certificates {
    private let folder: String

    init(_ folder: String) async throws {
        self.folder = folder
        for authority in ["ca", "other-ca"] {
            try await openssl(
                "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2"
                    + " -subj /CN=\(authority) -keyout \(authority).key -out \(authority).crt")
        }
        let server = "DNS:localhost,IP:127.0.0.1"
        for (name, authority, names) in [
            ("server", "ca", server), ("other-server", "other-ca", server),
            ("bound", "ca", "DNS:backend.bank.example"),
            ("unbound", "ca", "DNS:other.bank.example"),
            ("foreign", "other-ca", "DNS:backend.bank.example"),
        ] {
            try await leaf(name, by: authority, names)
        }
    }

    func path(_ name: String) -> String { "\(folder)/\(name)" }

    func replaceServer(by name: String) throws {
        for suffix in ["crt", "key"] {
            let text = try String(contentsOfFile: path("\(name).\(suffix)"), encoding: .utf8)
            try TestBank.write(text, to: path("server.\(suffix)"))
        }
    }

    /// The status of the answer to a request over TLS.
    func get(
        _ target: String, port: UInt16, as client: String?, key: String?, trusting authority: String
    ) async throws -> Int {
        let http = try HTTPClient(
            .init(
                connectTimeout: .seconds(30), totalTimeout: .seconds(60),
                authoritiesFile: path("\(authority).crt"),
                clientCertificate: client.map {
                    .init(certificateFile: path("\($0).crt"), keyFile: path("\($0).key"))
                }, plainHTTP: .toLoopbackOnly, slots: 1))
        let url = try #require(HTTPURL("https://localhost:\(port)\(target)"))
        let fields = key.map { [HTTPField("Authorization", "Bearer \($0)")] } ?? []
        return try await http.send(HTTPRequest(.get, url, fields: fields)).status
    }

    private func leaf(_ name: String, by authority: String, _ names: String) async throws {
        try await openssl(
            "req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj /CN=\(name)"
                + " -keyout \(name).key -out \(name).csr")
        try TestBank.write("subjectAltName=\(names)", to: path("\(name).ext"))
        try await openssl(
            "x509 -req -in \(name).csr -CA \(authority).crt -CAkey \(authority).key"
                + " -CAcreateserial -days 2 -extfile \(name).ext -out \(name).crt")
        // The service takes no key file that others can read.
        try FileManager.default.setAttributes(
            [.posixPermissions: 0o600], ofItemAtPath: path("\(name).key"))
    }

    private func openssl(_ arguments: String) async throws {
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/openssl")
        process.arguments = arguments.split(separator: " ").map(String.init)
        process.currentDirectoryURL = URL(filePath: folder)
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        try process.run()
        try await until("openssl ends") { !process.isRunning }
        guard process.terminationStatus == 0 else { throw Unexpected("openssl \(arguments)") }
    }
}
