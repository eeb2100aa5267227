package import Countersign
import Crypto

/// A believed statement that our app, on a genuine device of Apple's, made a key for App Attest and bound
/// it to one enrolment and one device key.
///
/// It says nothing about the device key's own protection: keys of the Secure Enclave have no attestation
/// (SE-01), so that a biometric gates it remains the app's word. Source: standards f3, AA-01…AA-10.
package struct AppAttestAttestation: Sendable {
    /// SubjectPublicKeyInfo of the key that later assertions are signed with.
    package let key: Bytes
    /// What was read off, and what is not proven.
    package let facts: JSON

    /// What cannot be shown by App Attest.
    package static let notProven = ["secure_enclave", "biometric_gate", "device_integrity"]

    /// The longest object that is read; real ones have about 6 KB, most of it the receipt.
    private static let bytesMax = 65_536

    /// The bytes whose SHA-256 the app passes to `attestKey` as the hash of its client data: the
    /// enrolment's message, and the DER of the device key that is enrolled with it.
    ///
    /// With the message alone, a genuine app could vouch for a key that it never saw (SE-02). The key's
    /// DER always has the same length, so the two cannot run together.
    package static func clientData(message: Bytes, deviceKey: Bytes) -> Bytes {
        message + deviceKey
    }

    /// Verifies a statement.
    ///
    /// - Parameters:
    ///   - statement: As it came.
    ///   - clientData: Of which the app passed the SHA-256; see ``clientData(message:deviceKey:)``.
    ///   - at: When the certificates must be valid: they live for days.
    ///   - trust: Which app, which service, which root.
    /// - Returns: What was believed.
    /// - Throws: ``AppAttestFailure``, the first that applies.
    package static func verify(
        _ statement: AppAttestStatement, clientData: Bytes, at: Instant, trust: AppAttestTrust
    ) throws(AppAttestFailure) -> AppAttestAttestation {
        let object = try Object(parsing: statement.object)
        // AA-01: the chain, to the pinned root.
        let chain = try judge(object.certificates, at, trust)
        let data = try AppAttestKeyData(parsing: object.authenticatorData)
        // AA-02…AA-04: the nonce is of this data and this client data.
        let nonce = sha256(data.fixed.raw + sha256(clientData).bytes).bytes
        guard try Self.nonce(in: chain.leaf) == nonce else { throw .nonceMismatch }
        // AA-05: the key's ID is the digest of the certified key.
        guard let key = chain.leaf.publicKey?.p256 else { throw .keyMismatch }
        guard sha256(key.x963).bytes == statement.keyID else { throw .keyIDMismatch }
        // AA-06: our app.
        guard data.fixed.appIDHash == sha256(Bytes(trust.appID.utf8)).bytes else {
            throw .appIDMismatch
        }
        // AA-07: never used.
        guard data.fixed.counter == 0 else { throw .counterNotZero }
        // AA-08: the service that is configured.
        guard let environment = trust.environments.first(where: { $0.model == data.environment })
        else { throw .environment }
        // AA-09: the same ID inside; and the same key.
        guard data.keyID == statement.keyID else { throw .keyIDMismatch }
        guard data.point == key.x963 else { throw .keyMismatch }
        return AppAttestAttestation(
            key: key.spki, facts: facts(object, chain.leaf, environment, trust))
    }

    private static func judge(
        _ certificates: [Bytes], _ at: Instant, _ trust: AppAttestTrust
    ) throws(AppAttestFailure) -> CertificateChain {
        do {
            let chain = try CertificateChain(der: certificates)
            try chain.validate(.standard(anchors: [trust.root]), at: at)
            return chain
        } catch {
            switch error {
            case .malformed, .weak: throw .certificateInvalid
            case .broken: throw .chainBroken
            case .untrusted: throw .rootUntrusted
            case .expired, .notYetValid: throw .certificateExpired
            }
        }
    }

    private static func nonce(in certificate: Certificate) throws(AppAttestFailure) -> Bytes {
        do throws(AppleNonce.Failure) {
            return try AppleNonce.read(from: certificate)
        } catch {
            switch error {
            case .notOnce: throw .nonceMismatch
            case .malformed: throw .certificateInvalid
            }
        }
    }

    /// AA-10: the receipt stays in the statement's bytes; its digest lets it be found there.
    private static func facts(
        _ object: Object, _ leaf: Certificate, _ environment: AppAttestTrust.Environment,
        _ trust: AppAttestTrust
    ) -> JSON {
        [
            "app_id": .string(trust.appID),
            "environment": .string(environment.rawValue),
            "certificate": [
                "serial": .string(leaf.serial), "not_before": .string(leaf.notBefore.text),
                "not_after": .string(leaf.notAfter.text),
            ],
            "receipt_sha256": .string(sha256(object.receipt).hex),
            "not_proven": .array(notProven.map { .string($0) }),
        ]
    }

    /// The CBOR that `attestKey` returns.
    private struct Object {
        let certificates: [Bytes]
        let receipt: Bytes
        let authenticatorData: Bytes

        init(parsing bytes: Bytes) throws(AppAttestFailure) {
            var rest = bytes[...]
            guard bytes.count <= bytesMax, let object = CBOR(takingFrom: &rest), rest.isEmpty,
                case .text(let format)? = object["fmt"]
            else { throw .cborMalformed }
            guard format.utf8.elementsEqual("apple-appattest".utf8) else { throw .format }
            guard let statement = object["attStmt"], case .array(let chain)? = statement["x5c"],
                let receipt = statement["receipt"]?.bytes, let data = object["authData"]?.bytes
            else { throw .malformed }
            var certificates: [Bytes] = []
            for one in chain {
                guard let der = one.bytes else { throw .malformed }
                certificates.append(der)
            }
            self.certificates = certificates
            self.receipt = receipt
            authenticatorData = data
        }
    }
}
