import Countersign
import Crypto
import Foundation
import TestSupport
import Testing

@testable import CountersignMain

@Suite struct `The demo` {
    @Test func `has a folder that nobody else can enter, with keys that nobody else can read`()
        throws
    {
        try withFolder { folder in
            let home = try DemoHome(folder, project: nil)
            _ = try home.makeKeys()
            #expect(try mode(home.directory) == 0o700)
            #expect(try mode(home.run) == 0o700)
            #expect(try mode(home.mirror) == 0o700)
            let names = try FileManager.default.contentsOfDirectory(atPath: home.run)
                .filter { home.run + "/" + $0 != home.mirror }
            #expect(names.count == 6)
            for name in names { #expect(try mode(home.run + "/" + name) == 0o600) }
        }
    }

    @Test func `has its folder to itself, and clears it`() throws {
        try withFolder { folder in
            let home = try DemoHome(folder, project: nil)
            #expect(throws: CommandFailure.self) { _ = try DemoHome(folder, project: nil) }
            try home.write("x", to: home.payees)
            try home.clear()
            #expect(try FileManager.default.contentsOfDirectory(atPath: home.run) == [])
            #expect(throws: CommandFailure.self) { _ = try DemoHome(folder, project: nil) }
        }
    }

    @Test func `lives in the checkout when no folder is named`() throws {
        try withFolder { folder in
            let home = try DemoHome(nil, project: folder)
            #expect(home.directory == folder + "/.countersign/demo")
        }
    }

    @Test func `writes a configuration that serve accepts`() throws {
        try withFolder { folder in
            let home = try DemoHome(folder, project: nil)
            _ = try home.makeKeys()
            try home.writeConfiguration(database: "host='/x' dbname='y'", corePort: 7)
            var line = CommandLineArguments()
            line.configurationFile = home.configuration
            let configuration = try Configuration(for: .serve, line: line, environment: [:])
            #expect(configuration.firstEnrolment == .needsAuthorization)
            #expect(configuration.core.url == "http://127.0.0.1:7/executions")
            #expect(try configuration.identityKey() != nil)
        }
    }

    @Test func `fails without a program that it verifies with`() throws {
        #expect(try Story.required("sh", path: "/nowhere:/bin") == "/bin/sh")
        #expect(throws: CommandFailure.self) { _ = try Story.required("sh", path: "/nowhere") }
    }

    @Test func `verifies by hand with the commands that the page shows, and no others`() throws {
        let blocks = PageSection.blocks(
            of: try RepositoryFiles.text("docs/auditor.md"), under: "By hand")
        let shown = try PageCommands(of: "docs/auditor.md", under: "## By hand")
        #expect(!blocks.isEmpty && blocks.joined() == shown.script)
        #expect(PageSection.blocks(of: "## By hand\n```\n", under: "By foot").isEmpty)
    }

    @Test func `has its programs installed by the launcher`() throws {
        let launcher = try RepositoryFiles.text("countersign")
        #expect(launcher.contains("auditor_packages=(python3)\n"))
        #expect(launcher.contains(#"[[ $1 != demo ]] || packages+=("${auditor_packages[@]}")"#))
        #expect(launcher.contains("pkg-config openssl binutils"))
    }

    private func mode(_ path: String) throws -> Int? {
        let attributes = try FileManager.default.attributesOfItem(atPath: path)
        return (attributes[.posixPermissions] as? NSNumber)?.intValue
    }

    private func withFolder(_ body: (String) throws -> Void) throws {
        let folder = FileManager.default.temporaryDirectory
            .appending(path: "countersign-demo-\(UUID())").path
        try body(folder)
        try FileManager.default.removeItem(atPath: folder)
    }
}

@Suite struct `The software phone` {
    @Test func `signs with its own key`() throws {
        let phone = try SoftwarePhone(
            relyingPartyID: "bank.example", origin: "https://bank.example")
        let message = Bytes("a message".utf8)
        #expect(phone.publicKey.isValid(signature: try phone.sign(message), for: message))
    }

    @Test func `shows what the bytes say, and nothing for bytes that say nothing`() throws {
        let message = SignedMessage(
            actionID: ID(at: Instant(milliseconds: 1), random: Bytes(repeating: 1, count: 10)),
            audience: "bank.example",
            challengeID: ID(at: Instant(milliseconds: 1), random: Bytes(repeating: 2, count: 10)),
            customerID: try CustomerID("c-1"), decision: .reject,
            expiresAt: Instant(milliseconds: 1000), nonce: Bytes(repeating: 3, count: 32),
            content: .contactChange(
                ContactChange(
                    oldValueDigest: nil, newValue: .phone(try PhoneNumber("+4915187654321")))))
        #expect(PhoneScreen(message.bytes)?.text == "Reject: change the phone to +4915187654321")
        #expect(PhoneScreen(message.bytes + [0x20]) == nil)
        #expect(PhoneScreen(Bytes("{}".utf8)) == nil)
    }
}

@Suite struct `A failure of the database` {
    @Test func `is explained to the operator`() {
        #expect(StoreFailure.internalFailure(code: "42501").explanation.contains("role"))
        #expect(StoreFailure.internalFailure(code: "23505").explanation.contains("23505"))
        #expect(StoreFailure.unavailable.explanation.contains("cannot be reached"))
    }
}
