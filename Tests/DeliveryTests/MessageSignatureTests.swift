import Countersign
import Crypto
import Delivery
import Testing

@Suite struct `A signed request` {
    private let key: Ed25519PrivateKey
    private let request: HTTPRequest
    private let url: HTTPURL
    private let body = Bytes("{\"amount\":\"1.00\"}".utf8)
    private let now = Fixture.now

    init() throws {
        key = try .generate()
        url = try #require(Fixture.url)
        let signer = try #require(MessageSigner(key: key, keyID: "service-1", entropy: .openSSL))
        request = try signer.post(body, to: url, idempotencyKey: "k-1", at: now)
    }

    @Test func `is believed`() throws {
        try verify(request.fields)
    }

    @Test func `has the documented fields`() throws {
        let input = try #require(field("Signature-Input"))
        let created = now.milliseconds / 1000
        #expect(
            input.hasPrefix(
                "countersign=(\"@method\" \"@target-uri\" \"content-type\" \"content-digest\" "
                    + "\"idempotency-key\");created=\(created);expires=\(created + 60);nonce=\""))
        #expect(
            input.hasSuffix("\";keyid=\"service-1\";alg=\"ed25519\";tag=\"countersign-execution\""))
        #expect(field("Idempotency-Key") == "\"k-1\"")
        #expect(field("Content-Digest") == ContentDigest.value(for: body))
        #expect(field("Content-Type") == "application/json")
    }

    @Test func `is believed beside a signature for another purpose, and of a field sent twice`()
        throws
    {
        try verify(replacing("Signature-Input") { "other=();tag=\"x\", " + $0 })
        try verify(request.fields + [HTTPField("X-Other", "1"), HTTPField("X-Other", "2")])
    }

    @Test(arguments: [
        "@method", "@target-uri", "content-type", "content-digest", "idempotency-key",
    ])
    func `is refused when a component is not covered`(name: String) throws {
        let fields = try resigned { input in
            let items = input.items.filter { $0.item != .string(name) }
            return StructuredFields.InnerList(items, input.parameters)
        }
        #expect(throws: SignatureRefusal.componentMissing) { try verify(fields) }
    }

    @Test(arguments: ["created", "expires", "nonce", "keyid"])
    func `is refused without a parameter`(key: String) throws {
        let fields = try resigned { input in
            StructuredFields.InnerList(input.items, input.parameters.filter { $0.key != key })
        }
        #expect(throws: SignatureRefusal.parameterMissing) { try verify(fields) }
    }

    @Test(
        arguments: [
            ("alg", .string("ecdsa-p256-sha256"), .wrongAlgorithm),
            ("alg", .token("ed25519"), .malformed), ("keyid", .string("service-2"), .unknownKey),
            ("nonce", .string("short"), .parameterMissing), ("tag", .string("other"), .missing),
        ] as [(String, StructuredFields.Item, SignatureRefusal)])
    func `is refused with another parameter`(
        key: String, value: StructuredFields.Item, refusal: SignatureRefusal
    ) throws {
        let fields = try resigned { changing($0, key, value) }
        #expect(throws: refusal) { try verify(fields) }
    }

    @Test func `is believed until it expires and not after`() throws {
        let created = now.wholeSeconds
        try verify(request.fields, now: Instant(milliseconds: created.milliseconds + 59_999))
        for time in [created + Seconds(60), created - Seconds(301)] {
            #expect(throws: SignatureRefusal.stale) { try verify(request.fields, now: time) }
        }
    }

    @Test func `is refused when it is meant to live for long`() throws {
        let created = now.milliseconds / 1000
        let fields = try resigned { changing($0, "expires", .integer(created + 301)) }
        #expect(throws: SignatureRefusal.stale) { try verify(fields) }
    }

    @Test func `is refused with an altered part`() throws {
        let other = try #require(HTTPURL("https://core.bank.example/other"))
        #expect(throws: SignatureRefusal.invalidSignature) {
            try verify(request.fields, url: other)
        }
        #expect(throws: SignatureRefusal.invalidSignature) {
            try verify(request.fields, method: "PUT")
        }
        for name in ["Content-Type", "Idempotency-Key"] {
            let fields = replacing(name) { $0 + "x" }
            #expect(throws: SignatureRefusal.invalidSignature) { try verify(fields) }
        }
        let extended = replacing("Signature-Input") {
            $0.replacing("created=", with: "extra;created=")
        }
        #expect(throws: SignatureRefusal.invalidSignature) { try verify(extended) }
    }

    @Test func `is refused with another body, with its digest adapted or not`() throws {
        let other = body + [0x20]
        #expect(throws: SignatureRefusal.digestMismatch) { try verify(request.fields, body: other) }
        let adapted = replacing("Content-Digest") { _ in ContentDigest.value(for: other) }
        #expect(throws: SignatureRefusal.invalidSignature) { try verify(adapted, body: other) }
    }

    @Test func `is refused when signed with another key`() throws {
        let stranger = try Ed25519PrivateKey.generate()
        let fields = try resigned(with: stranger) { $0 }
        #expect(throws: SignatureRefusal.invalidSignature) { try verify(fields) }
    }

    @Test func `is refused when its nonce was seen, and asks about the nonce last`() throws {
        let asked = Locked<[(String, Instant)]>([])
        let verifier = verifier { nonce, until in
            asked.withLock { $0.append((nonce, until)) }
            return false
        }
        #expect(throws: SignatureRefusal.replayed) {
            try verifier.verify(parts(request.fields), body: body, now: now)
        }
        #expect(throws: SignatureRefusal.digestMismatch) {
            try verifier.verify(parts(request.fields), body: [], now: now)
        }
        #expect(asked.current.count == 1)
        #expect(asked.current.first?.1 == now.wholeSeconds + Seconds(60))
    }

    @Test func `is refused with two signatures for this purpose`() throws {
        let input = try #require(field("Signature-Input"))
        let signature = try #require(field("Signature"))
        let fields =
            request.fields + [
                HTTPField("Signature-Input", "b" + input), HTTPField("Signature", "b" + signature),
            ]
        #expect(throws: SignatureRefusal.ambiguous) { try verify(fields) }
    }

    @Test func `is refused when its fields are missing or malformed`() throws {
        #expect(throws: SignatureRefusal.missing) { try verify([]) }
        #expect(throws: SignatureRefusal.missing) {
            try verify(request.fields.filter { $0.name != "Signature" })
        }
        let cases: [(String, (String) -> String)] = [
            ("Signature", { $0.replacing("countersign=", with: "else=") }),
            ("Signature", { $0 + "," }), ("Signature", { _ in "countersign=\"text\"" }),
            ("Signature-Input", { "\($0), \($0)" }), ("Signature-Input", { "x=1, \($0)" }),
            ("Signature-Input", { $0.replacing("\"@method\"", with: "\"@method\";req") }),
            ("Signature-Input", { $0.replacing("\"@method\"", with: "\"@method\" \"@method\"") }),
            ("Signature-Input", { $0.replacing("content-type", with: "Content-Type") }),
        ]
        for (name, change) in cases {
            let fields = replacing(name, change)
            #expect(throws: SignatureRefusal.malformed, "\(name)") { try verify(fields) }
        }
    }

    @Test func `cannot be made under a key name that does not fit a field`() {
        for name in ["", "a b", "é", String(repeating: "a", count: 65)] {
            #expect(MessageSigner(key: key, keyID: name, entropy: .openSSL) == nil)
        }
    }

    // MARK: Helpers

    private func field(_ name: String) -> String? {
        request.fields.first { $0.name == name }?.value
    }

    private func replacing(_ name: String, _ change: (String) -> String) -> [HTTPField] {
        request.fields.map { $0.name == name ? HTTPField(name, change($0.value)) : $0 }
    }

    private func changing(
        _ input: StructuredFields.InnerList, _ key: String, _ value: StructuredFields.Item
    ) -> StructuredFields.InnerList {
        StructuredFields.InnerList(
            input.items,
            input.parameters.map { $0.key == key ? StructuredFields.Parameter(key, value) : $0 })
    }

    /// The request with other signature parameters, validly signed over them.
    private func resigned(
        with key: Ed25519PrivateKey? = nil,
        _ change: (StructuredFields.InnerList) -> StructuredFields.InnerList
    ) throws -> [HTTPField] {
        guard let text = field("Signature-Input"),
            case .innerList(let old) = StructuredFields.dictionary(text)?.first?.value
        else { throw SignatureRefusal.malformed }
        let input = change(old)
        let base = try #require(SignatureBase.build(input, over: parts(request.fields)))
        let signature = StructuredFields.Item.bytes(try (key ?? self.key).sign(base)).text
        return request.fields.map {
            switch $0.name {
            case "Signature-Input": HTTPField($0.name, "countersign=\(input.text)")
            case "Signature": HTTPField($0.name, "countersign=\(signature)")
            default: $0
            }
        }
    }

    private func parts(_ fields: [HTTPField], method: String = "POST", url: HTTPURL? = nil)
        -> SignedParts
    {
        SignedParts(.request(method: method, url: url ?? self.url), fields: fields)
    }

    private func verifier(_ isFirstUse: @escaping @Sendable (String, Instant) -> Bool)
        -> MessageVerifier
    {
        MessageVerifier(keys: ["service-1": .ed25519(key.publicKey)], isFirstUse: isFirstUse)
    }

    private func verify(
        _ fields: [HTTPField], method: String = "POST", url: HTTPURL? = nil, body: Bytes? = nil,
        now: Instant? = nil
    ) throws {
        try verifier { _, _ in true }.verify(
            parts(fields, method: method, url: url), body: body ?? self.body,
            now: now ?? self.now)
    }
}
