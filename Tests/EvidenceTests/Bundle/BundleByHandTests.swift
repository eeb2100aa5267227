import Countersign
import Crypto
import Evidence
import TestSupport
import Testing

/// What `docs/auditor.md` shows under *By hand*: every block of it, as one shell, on real bundles.
@Suite(.onAThreadOfItsOwn) struct `A bundle verified by hand` {
    private let page: PageCommands

    init() throws { page = try PageCommands(of: "docs/auditor.md", under: "## By hand") }

    private func run(_ bundle: Bytes, _ policy: Bytes) throws -> String {
        let tool = try OpenSSLTool()
        try tool.write(bundle, to: "bundle.json")
        try tool.write(policy, to: "policy")
        return try tool.shell(page.script)
    }

    /// A bundle in which another key signed what the customer's phone would have.
    private func world(
        _ credential: CredentialKind = .deviceKey, signedBy key: OtherKey? = nil,
        _ change: (inout BundleWorld.Story) -> Void = { _ in }
    ) async throws -> BundleWorld {
        try await BundleWorld {
            $0.credential = credential
            change(&$0)
            if let key { $0.alter = key.sign }
        }
    }

    @Test(arguments: zip([CredentialKind.deviceKey, .passkey], [SignedDecision.approve, .reject]))
    func
        `leads from each record to the checkpoint that the log has signed, and to the customer's signature`(
            credential: CredentialKind, decision: SignedDecision
        ) async throws
    {
        let world = try await world(credential) {
            $0.decision = decision
            $0.following = decision == .approve ? [.executed] : []
        }
        let printed = try run(world.bundle().encoded, world.policyText)
        #expect(printed.contains("Signature Verified Successfully\n"))
        for (role, record) in world.records {
            #expect(
                printed.contains(
                    "same: the root above \(role.rawValue), position \(record.position)\n"))
            #expect(printed.contains("same: the body of \(role.rawValue)\n"))
        }
        #expect(printed.contains(#""decision":"\#(decision.rawValue)""#))
        #expect(printed.hasSuffix("Verified OK\n"))
    }

    /// P-384 hashes with SHA-384, and Ed25519 by itself; of RSA it is PKCS #1 v1.5 with SHA-256.
    @Test(arguments: [
        "-algorithm EC -pkeyopt ec_paramgen_curve:P-384",
        "-algorithm RSA -pkeyopt rsa_keygen_bits:2048",
        "-algorithm ed25519",
    ])
    func `takes the keys of each kind that a passkey may have, as both programs do`(
        options: String
    ) async throws {
        let world = try await world(.passkey, signedBy: try OtherKey(options))
        let bytes = try world.bundle().encoded
        #expect(try world.fault(bytes) == nil)
        let python = try PythonVerifier().run(bytes, world.policyText)
        #expect(python.isValid, "\(python.text)")
        let last = try #require(try run(bytes, world.policyText).split(separator: "\n").last)
        #expect(["Verified OK", "Signature Verified Successfully"].contains(last))
    }

    @Test func `takes a device key whose signatures are raw`() async throws {
        let world = try await world {
            $0.alter = { role, draft in
                guard role == .approved || role == .enrolled else { return draft }
                var body = draft.body.setting("signature_format", to: "raw")
                if let der = body["assertion"]?.bytes("signature"),
                    let raw = P256Signature(der: der)?.raw
                {
                    body = body.setting("assertion.signature", to: .string(Base64.encodeURL(raw)))
                }
                return draft.with(body: body)
            }
        }
        let bytes = try world.bundle().encoded
        #expect(try world.fault(bytes) == nil)
        #expect(try run(bytes, world.policyText).hasSuffix("Verified OK\n"))
    }

    @Test func `ends before the signature when the customer was erased`() async throws {
        let world = try await world { $0.following = [.executed, .erased] }
        let tool = try OpenSSLTool()
        try tool.write(world.bundle(world.bare).encoded, to: "bundle.json")
        try tool.write(world.policyText, to: "policy")
        let end = try #require(page.script.firstRange(of: "decision="))
        let printed = try tool.shell(String(page.script[..<end.lowerBound]))
        #expect(printed.contains("same: the root above erased, position 606\n"))
        #expect(printed.hasSuffix("same: the body of policy\n"))
    }

    @Test func `fails wherever something is another`() async throws {
        let world = try await world(.passkey) { $0.following = [] }
        let bundle = try world.bundle()
        let text = String(decoding: bundle.encoded, as: UTF8.self)
        let checkpoint = try #require(Checkpoint(text: bundle.checkpoint.text))
        let size = checkpoint.size
        let hashes = try #require(bundle.entries[.created]?.hashes)
        func sibling(_ index: Int) -> String { Base64.encode(hashes[index].bytes) }
        let opened = try #require(bundle.entries[.approved]?.body)
        let body = try #require(JSON(recorded: opened.bytes))
        let signature = try #require(body["assertion"]?["signature"]?.text)
        let changes: [(String, String)] = [
            (#"log.bank.example\n\#(size)\n"#, #"log.bank.example\n\#(size + 1)\n"#),
            (Base64.encode(checkpoint.root.bytes), Base64.encode(sha256([]).bytes)),
            ("index 602", "index 603"), (sibling(0), sibling(1)),
            (#"\"outcome\":\"approved\""#, #"\"outcome\":\"approvee\""#),
            (#"\"assurance\""#, #"\"assuranse\""#),
            (signature, String(signature.reversed())),
            (Base64.encodeURL(opened.salt), Base64.encodeURL(sha256(opened.salt).bytes)),
        ]
        for (old, new) in changes {
            let altered = text.replacing(old, with: new)
            try #require(altered != text, "\(old)")
            #expect(throws: (any Error).self, "\(old)") {
                try run(Bytes(altered.utf8), world.policyText)
            }
        }
        // Another key of a log of this name is not the one that is trusted.
        let policy = "log \(try NoteSigner(TestLog.origin, seed: 8).key.text)\nquorum none\n"
        #expect(throws: (any Error).self) { try run(bundle.encoded, Bytes(policy.utf8)) }
    }

    /// Of records that are in the log as they are, and do not belong together.
    @Test func `fails for a signature over something else`() async throws {
        func altered(
            _ role: BundleRole, _ path: String, _ value: JSON
        ) async throws -> BundleWorld {
            try await world {
                $0.following = []
                $0.alter = {
                    $0 == role ? $1.with(body: $1.body.setting(path, to: value)) : $1
                }
            }
        }
        let other = try P256PrivateKey.generate().publicKey.spki
        for (role, path, value) in [
            (.approved, "public_key", .string(Base64.encodeURL(other))),
            (.enrolled, "public_key", .string(Base64.encodeURL(other))),
            (.approved, "message", "e30"), (.approved, "enrolment_evidence_id", "x"),
            (.created, "action.customer_id", "c-1002"),
        ] as [(BundleRole, String, JSON)] {
            let world = try await altered(role, path, value)
            #expect(throws: (any Error).self, "\(role) \(path)") {
                try run(world.bundle().encoded, world.policyText)
            }
        }
    }
}

/// A passkey's key that the `openssl` program has made.
private final class OtherKey: Sendable {
    private let tool: OpenSSLTool
    private let isEd25519: Bool
    private let isP384: Bool
    private let publicKey: Bytes

    init(_ options: String) throws {
        tool = try OpenSSLTool()
        isEd25519 = options.contains("ed25519")
        isP384 = options.contains("P-384")
        try tool.run("genpkey \(options) -out key.pem")
        try tool.run("pkey -in key.pem -pubout -outform DER -out public")
        publicKey = try tool.read("public")
    }

    /// The draft as it would be if this were the customer's key.
    func sign(_ role: BundleRole, _ draft: EvidenceDraft) -> EvidenceDraft {
        guard role == .approved || role == .enrolled else { return draft }
        var body = draft.body.setting(
            "public_key", to: .string(Base64.encodeURL(publicKey)))
        if let data = body["assertion"]?.bytes("authenticator_data"),
            let client = body["assertion"]?.bytes("client_data_json")
        {
            do {
                try tool.write(data + sha256(client).bytes, to: "signed")
                try tool.run(
                    "pkeyutl -sign -inkey key.pem -rawin -in signed -out signature"
                        + (isEd25519 ? "" : " -digest sha" + (isP384 ? "384" : "256")))
                body = body.setting(
                    "assertion.signature", to: .string(Base64.encodeURL(try tool.read("signature")))
                )
            } catch {
                Issue.record(error)
            }
        }
        return draft.with(body: body)
    }
}
