import Countersign
import Crypto
import TestSupport

@testable import WebAuthn

/// A synthetic iPhone: an App Attest key with a chain of its own root. What a test changes, it changes
/// before the statement is made, so that everything else stays right.
struct TestAppAttest {
    static let appID = "ABCDE12345.com.bank.app"
    static let nonceExtension = "1.2.840.113635.100.8.2"

    let root: TestAuthority
    let issuer: TestAuthority
    let key: P256PrivateKey

    var format = "apple-appattest"
    var appID = Self.appID
    var counter: UInt32 = 0
    var environment = AppAttestTrust.Environment.production.model
    /// What the authenticator data says; `nil` for the right ones.
    var keyIDInside: Bytes?
    var keyInside: P256PublicKey?
    /// Changes the authenticator data as a whole, and what is in the key's COSE form.
    var dataChange: (inout Bytes) -> Void = { _ in }
    var coseChange: (inout [Int64: CBOR]) -> Void = { _ in }
    /// `nil` for a statement without one.
    var receipt: Bytes? = [1, 2, 3]
    var trailing: Bytes = []
    /// The certificates above the leaf, and how the leaf is made.
    var isChainSwapped = false
    var chainEnd: [CBOR] = []
    var nonceExtensions = 1
    var leaf: (inout TestCertificate) -> Void = { _ in }

    init(issuer change: (inout TestCertificate) -> Void = { _ in }) throws {
        root = try TestAuthority(root: "Synthetic App Attestation root")
        issuer = try TestAuthority("Synthetic App Attestation CA", below: root, change)
        key = try P256PrivateKey.generate()
    }

    var keyID: Bytes { sha256(key.publicKey.x963).bytes }

    /// Trust in this device's own root.
    var trust: AppAttestTrust {
        AppAttestTrust(appID: Self.appID, environments: [.production], root: root.certificate)
    }

    private func data(counter: UInt32, flags: UInt8 = 0x40) -> Bytes {
        sha256(Bytes(appID.utf8)).bytes + [flags]
            + (0..<4).map { UInt8(truncatingIfNeeded: counter >> (24 - 8 * $0)) }
    }

    /// The statement over client data.
    func attest(_ clientData: Bytes) throws -> AppAttestStatement {
        let id = keyIDInside ?? keyID
        var raw =
            data(counter: counter) + environment + [UInt8(id.count >> 8), UInt8(id.count & 0xFF)]
            + id + cose(of: keyInside ?? key.publicKey)
        dataChange(&raw)
        let nonce = sha256(raw + sha256(clientData).bytes).bytes
        let certificate = try issuer.certify(key.publicKey.spki, name: "Synthetic credCert") {
            $0.extensions = Array(
                repeating: TestCertificate.ext(
                    Self.nonceExtension,
                    DER.sequence(DER.explicit(1, DER.octets(nonce)))), count: nonceExtensions)
            leaf(&$0)
        }
        let chain = [certificate.der, issuer.certificate.der]
        let members = [
            CBOR.Pair(
                key: .text("x5c"),
                value: .array(
                    (isChainSwapped ? chain.reversed() : chain).map(CBOR.bytes) + chainEnd))
        ]
        let receipt = receipt.map { [CBOR.Pair(key: .text("receipt"), value: .bytes($0))] } ?? []
        let object = CBOR.map([
            .init(key: .text("fmt"), value: .text(format)),
            .init(key: .text("attStmt"), value: .map(members + receipt)),
            .init(key: .text("authData"), value: .bytes(raw)),
        ])
        return AppAttestStatement(object: object.encoded + trailing, keyID: keyID)
    }

    /// An assertion over client data, with more in its authenticator data or beside it.
    func assert(
        _ clientData: Bytes, counter: UInt32, extra: Bytes = [], beside: [CBOR.Pair] = []
    ) throws -> Bytes {
        let raw = data(counter: counter) + extra
        let nonce = sha256(raw + sha256(clientData).bytes).bytes
        return CBOR.map(
            [
                .init(key: .text("signature"), value: .bytes(try key.sign(nonce))),
                .init(key: .text("authenticatorData"), value: .bytes(raw)),
            ] + beside
        ).encoded
    }

    /// A COSE key of P-256.
    private func cose(of key: P256PublicKey) -> Bytes {
        var members: [Int64: CBOR] = [
            1: .unsigned(2), 3: CBOR(integer: -7), -1: .unsigned(1),
            -2: .bytes(Bytes(key.x963[1..<33])), -3: .bytes(Bytes(key.x963[33..<65])),
        ]
        coseChange(&members)
        return CBOR.map(members.map { CBOR.Pair(key: CBOR(integer: $0.key), value: $0.value) })
            .encoded
    }
}
