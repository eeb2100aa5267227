import Foundation

/// A small PKI made by the `openssl` program in a temporary folder, deleted with this value.
final class Certificates: Sendable {
    private let folder: URL

    init() throws {
        folder = FileManager.default.temporaryDirectory
            .appending(path: "countersign-delivery-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        for name in ["ca", "foreign-ca"] {
            try openssl("req -x509 \(Self.newKey) -days 2 -subj /CN=\(name)", name, to: "crt")
        }
        try leaf("server", "subjectAltName=DNS:localhost,IP:127.0.0.1")
        try leaf("other-name", "subjectAltName=DNS:other.example")
        try leaf("client", "subjectAltName=DNS:countersign.bank.example")
    }

    deinit {
        do {
            try FileManager.default.removeItem(at: folder)
        } catch {
            print("left behind: \(folder.path)")
        }
    }

    func path(_ name: String) -> String { folder.appending(path: name).path }

    private static let newKey = "-newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes"

    private func leaf(_ name: String, _ extensions: String) throws {
        try openssl("req \(Self.newKey) -subj /CN=\(name)", name, to: "csr")
        try Data(extensions.utf8).write(to: folder.appending(path: "\(name).ext"))
        try run(
            "x509 -req -in \(name).csr -CA ca.crt -CAkey ca.key -CAcreateserial -days 2"
                + " -extfile \(name).ext -out \(name).crt")
    }

    private func openssl(_ command: String, _ name: String, to suffix: String) throws {
        try run("\(command) -keyout \(name).key -out \(name).\(suffix)")
    }

    private func run(_ arguments: String) throws {
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/openssl")
        process.arguments = arguments.split(separator: " ").map(String.init)
        process.currentDirectoryURL = folder
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        try process.run()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else { throw CocoaError(.executableLoad) }
    }
}
