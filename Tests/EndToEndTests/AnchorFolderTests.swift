import Countersign
import Crypto
import Foundation
import TestSupport
import Testing
import WebAuthn

@testable import CountersignMain

/// A folder of its own, gone when the test ends.
private final class Folder {
    let path = NSTemporaryDirectory() + "countersign-anchors-" + UUID().uuidString

    init() throws { try makeFolder("") }
    deinit { try? FileManager.default.removeItem(atPath: path) }

    /// A method, so that the folder lives as long as it is read.
    func anchors() throws(ConfigurationError) -> [AttestationAnchor] {
        try AnchorFolder(path).anchors()
    }

    func makeFolder(_ name: String) throws {
        try FileManager.default.createDirectory(
            atPath: "\(path)/\(name)", withIntermediateDirectories: true)
    }

    func write(_ name: String, _ bytes: some Sequence<UInt8>) throws {
        try makeFolder((name as NSString).deletingLastPathComponent)
        try Data(bytes).write(to: URL(filePath: "\(path)/\(name)"))
    }

    func write(_ name: String, _ certificates: Certificate...) throws {
        try write(name, certificates.map(pem).joined().utf8)
    }
}

private func pem(_ certificate: Certificate) -> String {
    "-----BEGIN CERTIFICATE-----\n\(Base64.encode(certificate.der))\n-----END CERTIFICATE-----\n"
}

@Suite struct `The folder of trusted certificates` {
    private static let model = "01020304-0506-0708-090a-0b0c0d0e0f10"
    private static let secret = "what-the-file-says"

    /// What the refusal of a folder says; `nil` when it is read.
    private func refusal(_ prepare: (Folder) throws -> Void) throws -> String? {
        let folder = try Folder()
        try prepare(folder)
        do throws(ConfigurationError) {
            _ = try folder.anchors()
            return nil
        } catch {
            // It may be a log's line: neither content nor the place where the folder is.
            #expect(!error.message.contains(Self.secret) && !error.message.contains(folder.path))
            return error.message
        }
    }

    @Test func `tells by its names what each certificate counts for`() throws {
        let folder = try Folder()
        let certificates = try (0..<4).map { try TestAuthority(root: "Maker \($0)").certificate }
        try folder.write("packed/a.pem", certificates[0], certificates[1])
        try folder.write("packed/\(Self.model.uppercased())/b.pem", certificates[2])
        try folder.write("android-key/c.pem", certificates[3])
        try folder.write(".hidden", "of an editor".utf8)
        try folder.write("packed/.hidden", "of an editor".utf8)
        let model = try #require(AAGUID(text: Self.model))
        let anchors = try folder.anchors()
        #expect(anchors.count == 4)
        #expect(
            Set(anchors) == [
                AttestationAnchor(certificates[0], format: .packed, model: nil, until: nil),
                AttestationAnchor(certificates[1], format: .packed, model: nil, until: nil),
                AttestationAnchor(certificates[2], format: .packed, model: model, until: nil),
                AttestationAnchor(certificates[3], format: .androidKey, model: nil, until: nil),
            ])
    }

    @Test func `may be empty, and then nobody is trusted`() throws {
        let folder = try Folder()
        #expect(try folder.anchors().isEmpty)
    }

    @Test(arguments: ["README.pem", "packet", "none", "Packed"])
    func `has no name but those of the formats that have certificates`(name: String) throws {
        let message = try refusal { try $0.write("\(name)/a.pem", Self.secret.utf8) }
        #expect(message?.contains("\(name) is no attestation format") == true)
    }

    @Test(arguments: ["packed/README", "packed/a.crt", "packed/\(model)0/a.pem"])
    func `has nothing in a format's folder but certificates and models`(name: String) throws {
        let message = try refusal { try $0.write(name, Self.secret.utf8) }
        let place = name.split(separator: "/").prefix(2).joined(separator: "/")
        #expect(message?.contains("\(place) is neither") == true)
    }

    @Test func `has nothing in a model's folder but certificates`() throws {
        let certificate = try TestAuthority().certificate
        let name = "packed/\(Self.model)/a.crt"
        #expect(try refusal { try $0.write(name, certificate) }?.contains(name) == true)
    }

    @Test(arguments: ["packed/a.pem", "packed/\(model)/a.pem"])
    func `has certificates in every file`(name: String) throws {
        let broken = "-----BEGIN CERTIFICATE-----\n\(Self.secret)\n-----END CERTIFICATE-----\n"
        let none = "-----BEGIN CERTIFICATE-----\nMAA=\n-----END CERTIFICATE-----\n"
        for content in ["", Self.secret, broken, none] {
            let message = try refusal { try $0.write(name, content.utf8) }
            #expect(message?.contains(name) == true)
        }
        let good = pem(try TestAuthority().certificate)
        let mixed = try refusal { try $0.write(name, (good + broken).utf8) }
        #expect(mixed?.contains(name) == true)
        let binary = try refusal { try $0.write(name, [0xFF, 0xFE, 0x80]) }
        #expect(binary?.contains(name) == true)
    }

    @Test func `can be read throughout`() throws {
        let missing = try refusal { try FileManager.default.removeItem(atPath: $0.path) }
        #expect(missing?.contains("cannot be read") == true)
        let file = try refusal { try $0.write("packed", Self.secret.utf8) }
        #expect(file?.contains("packed cannot be read") == true)
        let model = try refusal { try $0.write("packed/\(Self.model)", Self.secret.utf8) }
        #expect(model?.contains("packed/\(Self.model) cannot be read") == true)
        let folder = try refusal { try $0.makeFolder("packed/a.pem") }
        #expect(folder?.contains("packed/a.pem cannot be read") == true)
        let dangling = try refusal {
            try $0.makeFolder("packed")
            try FileManager.default.createSymbolicLink(
                atPath: "\($0.path)/packed/b.pem", withDestinationPath: "nowhere")
        }
        #expect(dangling?.contains("packed/b.pem cannot be read") == true)
    }
}
