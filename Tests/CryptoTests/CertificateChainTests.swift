import Countersign
import Crypto
import TestSupport
import Testing

/// A root, an intermediate and a leaf, all synthetic, and an instant in which they are valid.
private struct World {
    let root: TestAuthority
    let intermediate: TestAuthority
    let leaf: Certificate
    static let now = Instant(milliseconds: 1_750_000_000_500)

    init(
        intermediate: (inout TestCertificate) -> Void = { _ in },
        leaf: (inout TestCertificate) -> Void = { _ in }
    ) throws {
        root = try TestAuthority()
        self.intermediate = try TestAuthority("Intermediate", below: root, intermediate)
        self.leaf = try self.intermediate.certify(
            try P256PrivateKey.generate().publicKey.spki, leaf)
    }

    var sent: [Certificate] { [leaf, intermediate.certificate] }
}

/// What a chain of these certificates comes to; `nil` when it is accepted.
private func refusal(
    _ certificates: [Certificate], _ rules: ChainRules, at now: Instant = World.now
) -> CertificateError? {
    do {
        try CertificateChain(certificates).validate(rules, at: now)
        return nil
    } catch {
        return error
    }
}

@Suite struct `A chain of certificates` {
    @Test func `reaches its anchor, sent or not`() throws {
        let world = try World()
        let rules = ChainRules.standard(anchors: [world.root.certificate])
        let chain = try CertificateChain(world.sent)
        #expect(try chain.validate(rules, at: World.now) == world.root.certificate)
        #expect(refusal(world.sent + [world.root.certificate], rules) == nil)
        #expect(refusal([world.root.certificate], rules) == nil)
    }

    @Test func `ends at an intermediate or a leaf that is trusted itself`() throws {
        let world = try World()
        let intermediate = world.intermediate.certificate
        for anchor in [world.leaf, intermediate] {
            let rules = ChainRules.standard(anchors: [anchor])
            #expect(refusal(world.sent, rules) == nil)
            #expect(refusal([world.leaf], rules) == nil)
            #expect(refusal(world.sent + [world.root.certificate], rules) == nil)
        }
        let other = try world.intermediate.certify(world.leaf.spki)
        #expect(refusal([other], .standard(anchors: [world.leaf])) == .untrusted)
    }

    @Test func `without a way to an anchor is untrusted`() throws {
        let world = try World()
        let stranger = try TestAuthority(root: "Stranger").certificate
        let lookalike = try TestAuthority().certificate
        for anchors in [[], [stranger], [lookalike]] {
            #expect(refusal(world.sent, .standard(anchors: anchors)) == .untrusted)
            #expect(
                refusal(world.sent + [world.root.certificate], .standard(anchors: anchors))
                    == .untrusted)
        }
        let rules = ChainRules.standard(anchors: [world.root.certificate])
        #expect(refusal([world.leaf], rules) == .untrusted)
    }

    @Test func `is broken when swapped, doubled, or lengthened by a stranger`() throws {
        let world = try World()
        let (root, intermediate) = (world.root.certificate, world.intermediate.certificate)
        let rules = ChainRules.standard(anchors: [root])
        let stranger = try TestAuthority(root: "Stranger").certificate
        for certificates in [
            [world.leaf, world.leaf, intermediate], [intermediate, world.leaf],
            [world.leaf, root], [world.leaf, intermediate, stranger],
            [world.leaf, intermediate, root, stranger], [world.leaf, stranger],
            [root, intermediate, world.leaf],
        ] {
            #expect(refusal(certificates, rules) == .broken)
        }
    }

    /// Above the anchor nothing else looks at it.
    @Test func `is broken by what only seems to have issued the anchor`() throws {
        let world = try World()
        let rules = ChainRules.standard(anchors: [world.root.certificate])
        let lookalike = try TestAuthority().certificate
        var draft = TestCertificate(
            subject: TestCertificate.name("Renamed"), issuer: TestCertificate.name("Renamed"),
            spki: world.root.key.publicKey.spki)
        draft.extensions = [TestCertificate.authority()]
        let renamed = try Certificate(der: try draft.signed(by: world.root.key))
        for above in [lookalike, renamed] {
            #expect(refusal(world.sent + [world.root.certificate, above], rules) == .broken)
        }
    }

    @Test func `is broken by a wrong signature at any place`() throws {
        let world = try World()
        for index in world.sent.indices {
            var der = world.sent[index].der
            der[der.count - 1] ^= 1
            var certificates = world.sent
            certificates[index] = try Certificate(der: der)
            let rules = ChainRules.standard(anchors: [world.root.certificate])
            let error = refusal(certificates + [world.root.certificate], rules)
            #expect(error == .broken)
        }
    }

    @Test func `is broken by an issuer that is no authority`() throws {
        let world = try World(intermediate: { $0.extensions = [TestCertificate.noAuthority] })
        #expect(
            refusal(world.sent, .standard(anchors: [world.root.certificate])) == .broken)
        let silent = try World(intermediate: { $0.extensions = [] })
        #expect(
            refusal(silent.sent, .standard(anchors: [silent.root.certificate])) == .broken)
    }

    /// What the leaf says of its issuer lets OpenSSL pass over a certificate that may not issue.
    @Test func `is broken by a certificate that OpenSSL's own path leaves out`() throws {
        let world = try World()
        let intermediate = world.intermediate
        var draft = TestCertificate(
            subject: intermediate.subject, issuer: intermediate.subject,
            spki: intermediate.key.publicKey.spki)
        draft.serial = 77
        draft.extensions = [TestCertificate.noAuthority]
        let between = try Certificate(der: try draft.signed(by: intermediate.key))
        let leaf = try intermediate.certify(world.leaf.spki) {
            $0.extensions = [TestCertificate.issuerSerial(0x0ABC)]
        }
        let rules = ChainRules.standard(anchors: [world.root.certificate])
        #expect(refusal([leaf, intermediate.certificate], rules) == nil)
        #expect(refusal([leaf, between, intermediate.certificate], rules) == .broken)
    }

    @Test func `may have a leaf of any certified key where the caller says so`() throws {
        let digitalSignature = TestCertificate.ext(
            "2.5.29.15", critical: true, DER.element([3], [7, 0x80]))
        let world = try World(intermediate: {
            $0.extensions = [TestCertificate.noAuthority, digitalSignature]
        })
        var rules = ChainRules.standard(anchors: [world.root.certificate])
        #expect(refusal(world.sent, rules) == .broken)
        rules.leafIssuer = .anyKey
        #expect(refusal(world.sent, rules) == nil)
        // Not one step further up, and every other rule stays.
        let below = try TestAuthority("Below", below: world.intermediate)
        let leaf = try below.certify(world.leaf.spki)
        #expect(
            refusal([leaf, below.certificate, world.intermediate.certificate], rules) == .broken)
        let last = Instant(milliseconds: 2_019_686_400_000)
        #expect(refusal(world.sent, rules, at: last + Seconds(1)) == .expired)
    }

    @Test func `is broken when longer than an issuer allows`() throws {
        let world = try World(intermediate: {
            $0.extensions = [TestCertificate.authority(pathLength: 0)]
        })
        let rules = ChainRules.standard(anchors: [world.root.certificate])
        #expect(refusal(world.sent, rules) == nil)
        let below = try TestAuthority("Below", below: world.intermediate)
        let leaf = try below.certify(world.leaf.spki)
        #expect(
            refusal([leaf, below.certificate, world.intermediate.certificate], rules) == .broken)
    }

    @Test func `is broken by an issuer whose key may not sign certificates`() throws {
        let digitalSignature = TestCertificate.ext(
            "2.5.29.15", critical: true, DER.element([3], [7, 0x80]))
        let world = try World(intermediate: {
            $0.extensions = [TestCertificate.authority(), digitalSignature]
        })
        #expect(
            refusal(world.sent, .standard(anchors: [world.root.certificate])) == .broken)
    }

    @Test func `is broken by a critical extension that nobody reads`() throws {
        let unknown = TestCertificate.ext("1.2.3.4", critical: true, [5, 0])
        let inLeaf = try World(leaf: { $0.extensions = [unknown] })
        let inIssuer = try World(intermediate: {
            $0.extensions = [TestCertificate.authority(), unknown]
        })
        for world in [inLeaf, inIssuer] {
            var rules = ChainRules.standard(anchors: [world.root.certificate])
            #expect(refusal(world.sent, rules) == .broken)
            rules.criticalExtensionsRead = ["1.2.3.4"]
            #expect(refusal(world.sent, rules) == nil)
        }
        let harmless = try World(leaf: {
            $0.extensions = [TestCertificate.ext("1.2.3.4", [5, 0])]
        })
        #expect(
            refusal(harmless.sent, .standard(anchors: [harmless.root.certificate])) == nil)
    }

    @Test func `has at least one and at most ten certificates`() throws {
        let root = try TestAuthority().certificate
        #expect(throws: CertificateError.malformed) { try CertificateChain([]) }
        #expect(throws: CertificateError.malformed) { try CertificateChain(der: []) }
        let many = [Certificate](repeating: root, count: CertificateChain.certificatesMax + 1)
        #expect(throws: CertificateError.malformed) { try CertificateChain(many) }
        #expect(throws: CertificateError.malformed) {
            try CertificateChain(der: many.map(\.der))
        }
        #expect(throws: CertificateError.malformed) { try CertificateChain(der: [[1]]) }
    }

    @Test func `with SHA-1 or a short key is weak`() throws {
        let tool = try OpenSSLTool()
        try tool.run(
            "req -x509 -newkey rsa:2048 -nodes -keyout root.key -subj /CN=root"
                + " -days 36500 -outform DER -out root.der")
        try tool.run("x509 -inform DER -in root.der -out root.pem")
        let root = try Certificate(der: try tool.read("root.der"))
        func leaf(_ bits: Int, _ digest: String) throws -> Certificate {
            try tool.run(
                "req -newkey rsa:\(bits) -nodes -keyout leaf.key -subj /CN=leaf -out leaf.csr")
            try tool.run(
                "x509 -req -in leaf.csr -CA root.pem -CAkey root.key -days 36500 \(digest)"
                    + " -outform DER -out leaf.der")
            return try Certificate(der: try tool.read("leaf.der"))
        }
        let rules = ChainRules.standard(anchors: [root])
        let now = Instant(milliseconds: 4_000_000_000_000)
        #expect(refusal([try leaf(2048, "-sha256")], rules, at: now) == nil)
        #expect(refusal([try leaf(2048, "-sha1")], rules, at: now) == .weak)
        #expect(refusal([try leaf(1024, "-sha256")], rules, at: now) == .weak)
    }
}

@Suite struct `The dates of a chain` {
    private let first = Instant(milliseconds: 1_710_000_000_000)
    private let last = Instant(milliseconds: 1_800_000_000_000)

    private func limited(_ certificate: inout TestCertificate) {
        certificate.notBefore = first
        certificate.notAfter = last
    }

    /// The leaf, the intermediate, and the intermediate as the anchor have the dates that are judged.
    private func cases() throws -> [(certificates: [Certificate], anchors: [Certificate])] {
        let leaf = try World(leaf: limited)
        let intermediate = try World(intermediate: limited)
        return [
            (leaf.sent, [leaf.root.certificate]),
            (intermediate.sent, [intermediate.root.certificate]),
            (intermediate.sent, [intermediate.intermediate.certificate]),
        ]
    }

    @Test func `count from the first second to the end of the last`() throws {
        for (certificates, anchors) in try cases() {
            let rules = ChainRules.standard(anchors: anchors)
            let before = Instant(milliseconds: first.milliseconds - 1)
            let end = Instant(milliseconds: last.milliseconds + 999)
            #expect(refusal(certificates, rules, at: before) == .notYetValid)
            #expect(refusal(certificates, rules, at: first) == nil)
            #expect(refusal(certificates, rules, at: last) == nil)
            #expect(refusal(certificates, rules, at: end) == nil)
            #expect(refusal(certificates, rules, at: last + Seconds(1)) == .expired)
        }
    }

    @Test func `count only where the caller says so`() throws {
        let dates: [WritableKeyPath<ChainRules, ChainRules.Dates>] = [
            \.leafDates, \.intermediateDates, \.anchorDates,
        ]
        for (rule, (certificates, anchors)) in zip(dates, try cases()) {
            var rules = ChainRules.standard(anchors: anchors)
            rules[keyPath: rule] = .expiryIgnored
            #expect(refusal(certificates, rules, at: last + Seconds(1)) == nil)
            #expect(refusal(certificates, rules, at: first - Seconds(1)) == .notYetValid)
            rules[keyPath: rule] = .ignored
            #expect(refusal(certificates, rules, at: last + Seconds(1)) == nil)
            #expect(refusal(certificates, rules, at: first - Seconds(1)) == nil)
            for other in dates where other != rule {
                rules = .standard(anchors: anchors)
                rules[keyPath: other] = .ignored
                #expect(refusal(certificates, rules, at: last + Seconds(1)) == .expired)
            }
        }
    }
}

@Suite struct `Another edition of an anchor` {
    /// A root of the same name and key as `root`, with other dates.
    private func edition(
        of root: TestAuthority, signedBy key: P256PrivateKey? = nil,
        _ change: (inout TestCertificate) -> Void = { _ in }
    ) throws -> Certificate {
        var draft = TestCertificate(
            subject: root.subject, issuer: root.subject, spki: root.key.publicKey.spki)
        draft.serial = 77
        draft.extensions = [TestCertificate.authority()]
        change(&draft)
        return try Certificate(der: try draft.signed(by: key ?? root.key))
    }

    @Test func `stands for it, with the configured edition's dates`() throws {
        let world = try World()
        let reissue = try edition(of: world.root) {
            $0.notAfter = Instant(milliseconds: 1_710_000_000_000)
        }
        #expect(reissue != world.root.certificate)
        #expect(reissue.isEdition(of: world.root.certificate))
        let chain = world.sent + [reissue]
        #expect(refusal(chain, .standard(anchors: [world.root.certificate])) == nil)
        // Both are configured and one of them is still valid.
        let both = [reissue, world.root.certificate]
        #expect(refusal(chain, .standard(anchors: both)) == nil)
        #expect(refusal(world.sent, .standard(anchors: both)) == nil)
        #expect(refusal(world.sent, .standard(anchors: [reissue])) == .expired)
    }

    @Test func `is not one that the key did not sign`() throws {
        let root = try TestAuthority()
        let forged = try edition(of: root, signedBy: try P256PrivateKey.generate())
        #expect(!forged.isEdition(of: root.certificate))
        #expect(refusal([forged], .standard(anchors: [root.certificate])) == .untrusted)
        // The root's own certificate of a successor's key: issued by the root, not the root.
        let successor = try P256PrivateKey.generate().publicKey.spki
        let rollover = try edition(of: root) { $0.spki = successor }
        #expect(!rollover.isEdition(of: root.certificate))
        let renamed = try edition(of: root) {
            $0.subject = TestCertificate.name("Other")
            $0.issuer = TestCertificate.name("Other")
        }
        #expect(!renamed.isEdition(of: root.certificate))
        // Nor one whose issuer is said to be another.
        let misnamed = try edition(of: root) { $0.issuer = TestCertificate.name("Other") }
        #expect(!misnamed.isEdition(of: root.certificate))
        #expect(!misnamed.isIssued(by: root.certificate))
        #expect(refusal([renamed], .standard(anchors: [root.certificate])) == .untrusted)
    }
}
