import Foundation

/// `openssl s_client`: a TLS client that shares no code of ours.
///
/// Blocks, so it is used inside `blocking { }` only.
final class TLSClient {
    private let process = Process()
    private let input = Pipe()
    private let output = Pipe()

    /// Arguments are those of s_client; the server is verified against the CA of the tests.
    init(port: UInt16, _ certificates: TestCertificates, _ arguments: [String] = []) throws {
        process.executableURL = URL(filePath: "/usr/bin/openssl")
        process.arguments =
            [
                "s_client", "-quiet", "-verify_quiet", "-connect", "127.0.0.1:\(port)",
                "-verify_return_error", "-CAfile", certificates.path("ca.crt"),
            ] + arguments
        process.standardInput = input
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        try process.run()
    }

    deinit {
        try? input.fileHandleForWriting.close()
        // Not `terminate`: s_client inherits a thread's mask, in which SIGTERM may be blocked.
        kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
    }

    func send(_ text: String) throws {
        try input.fileHandleForWriting.write(contentsOf: Data(text.utf8))
    }

    /// What came until the text did, or until the server closed.
    func receive(until end: String) -> String {
        var received = ""
        while !received.contains(end) {
            let data = output.fileHandleForReading.availableData
            guard !data.isEmpty else { break }
            received += String(decoding: data, as: UTF8.self)
        }
        return received
    }

    /// What came until the server closed.
    func receiveAll() -> String {
        String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    }
}

extension TestCertificates {
    /// The arguments by which s_client shows this certificate.
    func showing(_ name: String) -> [String] {
        ["-cert", path("\(name).crt"), "-key", path("\(name).key")]
    }

    /// Lower-case hexadecimal SHA-256 of the certificate in DER, as `openssl` computes it.
    func fingerprint(_ name: String) async throws -> String {
        let text = try await blocking {
            try openssl("x509 -in \(name).crt -noout -fingerprint -sha256")
        }
        return text.split(separator: "=").last.map {
            $0.replacing(":", with: "").lowercased().trimmingCharacters(in: .whitespacesAndNewlines)
        } ?? ""
    }
}
