import Foundation
import HTTP

/// A small PKI, made once per run by the `openssl` program in a temporary folder.
struct TestCertificates: Sendable {
    let folder: URL

    private static let made = Task { try await blocking { try TestCertificates() } }

    /// Deleted when the process ends.
    static func shared() async throws -> TestCertificates { try await made.value }

    private init() throws {
        folder = FileManager.default.temporaryDirectory
            .appending(path: "countersign-http-\(ProcessInfo.processInfo.processIdentifier)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        temporaryFolder.set(folder)
        try authority("ca")
        try authority("foreign-ca")
        try leaf("server", by: "ca", "subjectAltName=DNS:localhost,IP:127.0.0.1")
        try leaf("server2", by: "ca", "subjectAltName=DNS:localhost,IP:127.0.0.1")
        try leaf(
            "client", by: "ca",
            "subjectAltName=URI:spiffe://bank.example/core,DNS:core.bank.example,"
                + "email:nobody@bank.example")
        try leaf("foreign", by: "foreign-ca", "subjectAltName=DNS:core.bank.example")
        try leaf("wrong-use", by: "ca", "extendedKeyUsage=serverAuth")
        try leaf("expired", by: "ca", until: "20200102000000Z")
        try openssl(
            "req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=other -keyout other.key"
                + " -out other.crt")
    }

    func options(
        _ policy: TLSOptions.ClientCertificatePolicy, server: String = "server", ca: String? = "ca"
    ) -> TLSOptions {
        TLSOptions(
            certificateChainFile: path("\(server).crt"), privateKeyFile: path("\(server).key"),
            clientCAFile: ca.map { path("\($0).crt") }, clientCertificate: policy)
    }

    func path(_ name: String) -> String { folder.appending(path: name).path }

    private func authority(_ name: String) throws {
        try openssl(
            "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=\(name)"
                + " -keyout \(name).key -out \(name).crt")
    }

    private func request(_ name: String) throws {
        try openssl(
            "req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj /CN=\(name)"
                + " -keyout \(name).key -out \(name).csr")
    }

    private func leaf(_ name: String, by ca: String, _ extensions: String) throws {
        try request(name)
        try Data(extensions.utf8).write(to: folder.appending(path: "\(name).ext"))
        try openssl(
            "x509 -req -in \(name).csr -CA \(ca).crt -CAkey \(ca).key -CAcreateserial -days 2"
                + " -extfile \(name).ext -out \(name).crt")
    }

    /// A certificate with a given end, `YYYYMMDDHHMMSSZ`.
    func leaf(_ name: String, by ca: String, until end: String) throws {
        try request(name)
        let configuration = """
            [ca]
            default_ca = it
            [it]
            database = \(name).index
            new_certs_dir = .
            rand_serial = yes
            default_md = sha256
            policy = any
            [any]
            commonName = supplied
            """
        try Data(configuration.utf8).write(to: folder.appending(path: "\(name).conf"))
        try Data().write(to: folder.appending(path: "\(name).index"))
        try openssl(
            "ca -batch -notext -config \(name).conf -cert \(ca).crt -keyfile \(ca).key"
                + " -in \(name).csr -out \(name).crt -startdate 20200101000000Z -enddate \(end)")
    }

    @discardableResult func openssl(_ arguments: String) throws -> String {
        let process = Process()
        let output = Pipe()
        process.executableURL = URL(filePath: "/usr/bin/openssl")
        process.arguments = arguments.split(separator: " ").map(String.init)
        process.currentDirectoryURL = folder
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        try process.run()
        let data = output.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else { throw OpenSSLFailure(arguments: arguments) }
        return String(decoding: data, as: UTF8.self)
    }
}

struct OpenSSLFailure: Error { let arguments: String }

/// The folder to delete at exit; a C handler can reach a global only.
private let temporaryFolder = FolderToDelete()

private final class FolderToDelete: @unchecked Sendable {
    // Sendable: set once, before the handler that reads it is registered.
    private var folder: URL?

    func set(_ folder: URL) {
        self.folder = folder
        atexit { temporaryFolder.delete() }
    }

    func delete() {
        if let folder { try? FileManager.default.removeItem(at: folder) }
    }
}
