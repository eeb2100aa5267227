import Foundation
import HTTP

/// A small PKI, made once per run by the `openssl` program in a temporary folder.
struct TestCertificates: Sendable {
    let folder: URL

    private static let made = Result { try TestCertificates() }

    /// Deleted when the process ends.
    static func shared() throws -> TestCertificates { try made.get() }

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
        try expiredLeaf("expired", by: "ca")
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

    private func expiredLeaf(_ name: String, by ca: String) throws {
        try request(name)
        let configuration = """
            [ca]
            default_ca = it
            [it]
            database = index.txt
            new_certs_dir = .
            rand_serial = yes
            default_md = sha256
            policy = any
            [any]
            commonName = supplied
            """
        try Data(configuration.utf8).write(to: folder.appending(path: "ca.conf"))
        try Data().write(to: folder.appending(path: "index.txt"))
        try openssl(
            "ca -batch -notext -config ca.conf -cert \(ca).crt -keyfile \(ca).key"
                + " -in \(name).csr -out \(name).crt"
                + " -startdate 20200101000000Z -enddate 20200102000000Z")
    }

    private func openssl(_ arguments: String) throws {
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/openssl")
        process.arguments = arguments.split(separator: " ").map(String.init)
        process.currentDirectoryURL = folder
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        try process.run()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else { throw OpenSSLFailure(arguments: arguments) }
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
