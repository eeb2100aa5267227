import Countersign
import Crypto
import TestSupport
import Testing

@testable import WebAuthn

/// Each rule of standards f3 on a synthetic device, with the one thing wrong that the rule is about.
@Suite struct `A statement of App Attest` {
    private static let clientData = Bytes("message and key".utf8)
    /// Within the dates of every synthetic certificate.
    private static let at = Instant(milliseconds: 1_760_000_000_000)

    private func failure(
        _ device: TestAppAttest, clientData: Bytes = clientData, at: Instant = at,
        trust: AppAttestTrust? = nil, _ change: (inout AppAttestStatement) -> Void = { _ in }
    ) throws -> AppAttestFailure? {
        var statement = try device.attest(Self.clientData)
        change(&statement)
        do throws(AppAttestFailure) {
            _ = try AppAttestAttestation.verify(
                statement, clientData: clientData, at: at, trust: trust ?? device.trust)
            return nil
        } catch {
            return error
        }
    }

    @Test func `is believed when everything is right, and says what it does not prove`() throws {
        let device = try TestAppAttest()
        let believed = try AppAttestAttestation.verify(
            try device.attest(Self.clientData), clientData: Self.clientData, at: Self.at,
            trust: device.trust)
        #expect(believed.key == device.key.publicKey.spki)
        #expect(believed.facts["app_id"] == .string(TestAppAttest.appID))
        #expect(believed.facts["environment"] == "production")
        #expect(
            believed.facts["not_proven"] == [
                "secure_enclave", "biometric_gate", "device_integrity",
            ])
    }

    @Test func `needs a chain that reaches the pinned root`() throws {
        let device = try TestAppAttest()
        let strange = try TestAppAttest()
        #expect(try failure(device, trust: strange.trust) == .rootUntrusted)
        var swapped = try TestAppAttest()
        swapped.isChainSwapped = true
        #expect(try failure(swapped) == .chainBroken)
    }

    @Test func `needs certificates that are valid when the key is enrolled`() throws {
        var device = try TestAppAttest()
        let end = Self.at + Seconds(60)
        device.leaf = { $0.notAfter = end }
        #expect(try failure(device) == nil)
        #expect(try failure(device, at: end + Seconds(2)) == .certificateExpired)
        device.leaf = { $0.notBefore = end }
        #expect(try failure(device) == .certificateExpired)
    }

    @Test func `needs an issuer and a root that are valid then too`() throws {
        let end = Self.at + Seconds(60)
        let issued = try TestAppAttest { $0.notAfter = end }
        #expect(try failure(issued, at: end) == nil)
        #expect(try failure(issued, at: end + Seconds(1)) == .certificateExpired)
        let device = try TestAppAttest()
        var draft = TestCertificate(
            subject: device.root.subject, issuer: device.root.subject,
            spki: device.root.key.publicKey.spki)
        draft.extensions = [TestCertificate.authority()]
        draft.notAfter = end
        let trust = AppAttestTrust(
            appID: TestAppAttest.appID, environments: [.production],
            root: try Certificate(der: try draft.signed(by: device.root.key)))
        #expect(try failure(device, at: end, trust: trust) == nil)
        #expect(try failure(device, at: end + Seconds(1), trust: trust) == .certificateExpired)
    }

    @Test func `needs an issuer that is an authority, and no critical word that nobody reads`()
        throws
    {
        let plain = try TestAppAttest { $0.extensions = [TestCertificate.noAuthority] }
        #expect(try failure(plain) == .chainBroken)
        var device = try TestAppAttest()
        device.leaf = {
            $0.extensions.append(TestCertificate.ext("1.2.3.4", critical: true, [5, 0]))
        }
        #expect(try failure(device) == .chainBroken)
    }

    @Test func `counts only for the message and the key that it was made over`() throws {
        let device = try TestAppAttest()
        #expect(try failure(device, clientData: Bytes("another".utf8)) == .nonceMismatch)
        let key = try P256PrivateKey.generate().publicKey.spki
        let other = try P256PrivateKey.generate().publicKey.spki
        let message = Bytes("enrol".utf8)
        #expect(
            AppAttestAttestation.clientData(message: message, deviceKey: key)
                != AppAttestAttestation.clientData(message: message, deviceKey: other))
    }

    @Test(arguments: [0, 2]) func `has its nonce in one extension`(count: Int) throws {
        var device = try TestAppAttest()
        device.nonceExtensions = count
        #expect(try failure(device) == .nonceMismatch)
    }

    @Test func `has nothing beside its nonce in that extension`() throws {
        var device = try TestAppAttest()
        device.leaf = {
            $0.extensions = [
                TestCertificate.ext(
                    TestAppAttest.nonceExtension,
                    DER.sequence(DER.explicit(1, DER.octets([1])), DER.null()))
            ]
        }
        #expect(try failure(device) == .certificateInvalid)
    }

    @Test func `is about the key whose ID was sent, outside and inside`() throws {
        let device = try TestAppAttest()
        let sent = try failure(device) {
            $0 = AppAttestStatement(object: $0.object, keyID: Bytes(repeating: 7, count: 32))
        }
        #expect(sent == .keyIDMismatch)
        var inside = try TestAppAttest()
        inside.keyIDInside = Bytes(repeating: 7, count: 32)
        #expect(try failure(inside) == .keyIDMismatch)
        // The same outside and inside, and of another key than the certified one.
        let both = try failure(inside) {
            $0 = AppAttestStatement(object: $0.object, keyID: Bytes(repeating: 7, count: 32))
        }
        #expect(both == .keyIDMismatch)
        var key = try TestAppAttest()
        key.keyInside = try P256PrivateKey.generate().publicKey
        #expect(try failure(key) == .keyMismatch)
    }

    @Test func `is about a P-256 key in whole coordinates`() throws {
        var device = try TestAppAttest()
        let point = device.key.publicKey.x963.dropFirst()
        let wrong: [[Int64: CBOR?]] = [
            [1: .unsigned(1)], [1: nil], [-1: .unsigned(2)], [-1: nil], [-2: nil], [-3: nil],
            // The same 64 bytes, cut in another place.
            [-2: .bytes(Bytes(point.prefix(31))), -3: .bytes(Bytes(point.dropFirst(31)))],
        ]
        for changes in wrong {
            device.coseChange = { members in changes.forEach { members[$0.key] = $0.value } }
            #expect(try failure(device) == .keyMismatch)
        }
    }

    @Test func `is of our app`() throws {
        var device = try TestAppAttest()
        device.appID = "ABCDE12345.com.bank.other"
        #expect(try failure(device) == .appIDMismatch)
    }

    @Test func `is of a key that never signed`() throws {
        var device = try TestAppAttest()
        device.counter = 1
        #expect(try failure(device) == .counterNotZero)
    }

    @Test func `is of the configured environment`() throws {
        var device = try TestAppAttest()
        device.environment = AppAttestTrust.Environment.development.model
        #expect(try failure(device) == .environment)
        device.environment = Bytes(repeating: 0, count: 16)
        #expect(try failure(device) == .environment)
    }

    @Test func `is of its own format, and nothing trails`() throws {
        var device = try TestAppAttest()
        device.format = "packed"
        #expect(try failure(device) == .format)
        var trailing = try TestAppAttest()
        trailing.trailing = [0]
        #expect(try failure(trailing) == .cborMalformed)
        var inside = try TestAppAttest()
        inside.dataChange = { $0.append(0) }
        #expect(try failure(inside) == .malformed)
    }

    @Test func `has all its parts, in their types and not too long`() throws {
        var device = try TestAppAttest()
        device.chainEnd = [.unsigned(1)]
        #expect(try failure(device) == .malformed)
        var bare = try TestAppAttest()
        bare.receipt = nil
        #expect(try failure(bare) == .malformed)
        var long = try TestAppAttest()
        long.receipt = Bytes(repeating: 0, count: 60_000)
        #expect(try failure(long) == nil)
        long.receipt = Bytes(repeating: 0, count: 65_536)
        #expect(try failure(long) == .cborMalformed)
    }

    @Test func `is refused wherever its authenticator data is cut off`() throws {
        var device = try TestAppAttest()
        // 37 fixed bytes, 16 of the environment, 2 of a length, an ID of 32.
        for count in 0...100 {
            device.dataChange = { $0 = Bytes($0.prefix(count)) }
            #expect(try failure(device) == (count < 87 ? .malformed : .cborMalformed), "\(count)")
        }
    }

    @Test func `is refused, and nothing breaks, wherever it is cut off`() throws {
        let device = try TestAppAttest()
        let statement = try device.attest(Self.clientData)
        for count in 0..<statement.object.count {
            #expect(
                throws: AppAttestFailure.self, "\(count) bytes",
                performing: {
                    _ = try AppAttestAttestation.verify(
                        AppAttestStatement(
                            object: Bytes(statement.object.prefix(count)), keyID: device.keyID),
                        clientData: Self.clientData, at: Self.at, trust: device.trust)
                })
        }
    }
}

@Suite struct `An assertion of App Attest` {
    private static let clientData = Bytes("signed message".utf8)

    private func verify(
        _ device: TestAppAttest, _ assertion: Bytes, clientData: Bytes = clientData,
        stored: UInt32 = 0, appID: String = TestAppAttest.appID
    ) -> Result<UInt32, AppAttestFailure> {
        do throws(AppAttestFailure) {
            return .success(
                try AppAttestAssertion.verify(
                    assertion, clientData: clientData, key: device.key.publicKey, counter: stored,
                    appID: appID))
        } catch {
            return .failure(error)
        }
    }

    @Test func `tells the counter to store`() throws {
        let device = try TestAppAttest()
        let assertion = try device.assert(Self.clientData, counter: 1)
        #expect(verify(device, assertion) == .success(1))
    }

    @Test func `counts only once, and upwards`() throws {
        let device = try TestAppAttest()
        for counter in [UInt32(0), 4, 5] {
            let assertion = try device.assert(Self.clientData, counter: counter)
            #expect(verify(device, assertion, stored: 5) == .failure(.counterRegression))
        }
        let last = try device.assert(Self.clientData, counter: .max)
        #expect(verify(device, last, stored: .max - 1) == .success(.max))
    }

    @Test func `is over the stored message, by the attested key`() throws {
        let device = try TestAppAttest()
        let assertion = try device.assert(Self.clientData, counter: 1)
        #expect(verify(device, assertion, clientData: [1]) == .failure(.signatureInvalid))
        #expect(verify(try TestAppAttest(), assertion) == .failure(.signatureInvalid))
    }

    @Test func `is of our app`() throws {
        let device = try TestAppAttest()
        let assertion = try device.assert(Self.clientData, counter: 1)
        #expect(verify(device, assertion, appID: "ABCDE12345.x") == .failure(.appIDMismatch))
    }

    @Test func `has the fixed part of the data and nothing else`() throws {
        let device = try TestAppAttest()
        let longer = try device.assert(Self.clientData, counter: 1, extra: [0])
        #expect(verify(device, longer) == .failure(.malformed))
        let assertion = try device.assert(Self.clientData, counter: 1)
        #expect(verify(device, assertion + [0]) == .failure(.cborMalformed))
        for count in 0..<assertion.count {
            #expect(verify(device, Bytes(assertion.prefix(count))) == .failure(.cborMalformed))
        }
    }

    @Test func `is not longer than any real one`() throws {
        let device = try TestAppAttest()
        for (count, isTaken) in [(500, true), (1024, false)] {
            let padding = CBOR.Pair(
                key: .text("more"), value: .bytes(Bytes(repeating: 0, count: count)))
            let assertion = try device.assert(Self.clientData, counter: 1, beside: [padding])
            #expect(
                verify(device, assertion)
                    == (isTaken ? .success(1) : .failure(.cborMalformed)))
        }
    }
}
