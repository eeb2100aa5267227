/// A key that somebody wants to register, with the proof of its possession; not yet believed.
package enum OfferedCredential: Hashable, Sendable {
    case deviceKey(OfferedDeviceKey)
    case passkey(PasskeyRegistration)
}

/// A key of a device, with its signature over the enrolment message.
package struct OfferedDeviceKey: Hashable, Sendable {
    /// As it came: PEM, or base64 of DER SubjectPublicKeyInfo or of the 65-byte X9.63 point.
    package let publicKey: String
    /// ECDSA P-256 with SHA-256 over the enrolment message, in that format.
    package let signature: Bytes
    /// The format of this and of every later signature of the key.
    package let signatureFormat: SignatureFormat
    /// What the client says that it runs on; `nil` when it says nothing.
    package let platform: DevicePlatform?
    /// What the device's maker says about the key; `nil` when nothing came.
    package let attestation: DeviceAttestation?

    package init(
        publicKey: String, signature: Bytes, signatureFormat: SignatureFormat = .der,
        platform: DevicePlatform?, attestation: DeviceAttestation?
    ) {
        self.publicKey = publicKey
        self.signature = signature
        self.signatureFormat = signatureFormat
        self.platform = platform
        self.attestation = attestation
    }
}

/// How a device key's ECDSA signatures are written down; fixed at enrolment, since whoever may choose
/// per signature may try twice. The raw value is the word in the API.
package enum SignatureFormat: String, CaseIterable, Sendable {
    /// DER `Ecdsa-Sig-Value`, as Secure Enclave and Android Keystore write it. RFC 3279 §2.2.3.
    case der
    /// r and s, 32 bytes each, as IEEE P1363 and JOSE have it.
    case raw
}

/// A word for what a device runs on, such as `ios`: the client's claim, believed only when attested.
package struct DevicePlatform: Hashable, Sendable {
    package let text: String

    /// Takes 1 to 32 of `[a-z0-9_-]`.
    ///
    /// - Throws: `platform_format`.
    package init(_ text: some StringProtocol) throws(InvalidValue) {
        guard let word = Word.read(text) else {
            throw InvalidValue("platform_format", "A platform is 1 to 32 of a-z, 0-9, _ and -.")
        }
        self.text = word
    }
}

/// A statement about a device key, not yet believed.
package struct DeviceAttestation: Hashable, Sendable {
    /// 1 to 32 of `[a-z0-9_-]`, such as `android-key`. An unknown one is no error of form.
    package let format: String
    /// X.509 certificates in DER, the key's own first; none for App Attest.
    package let certificates: [Bytes]
    /// The attestation object of Apple's App Attest; only in the format ``appAttestFormat``.
    package let appAttest: AppAttestStatement?

    /// The statement's bytes as they came: the object of App Attest, or the certificates.
    package var statement: [Bytes] { appAttest.map { [$0.object] } ?? certificates }

    /// Android Key Attestation: a chain of certificates.
    package static let androidKeyFormat = "android-key"
    /// Apple App Attest: an object and the ID of the key that it attests.
    package static let appAttestFormat = "app-attest"

    /// The longest chain that is looked at.
    package static let certificatesMax = 10

    /// - Throws: `attestation_format` or `attestation_certificates`.
    package init(
        format: some StringProtocol, certificates: [Bytes]
    ) throws(InvalidValue) {
        guard let word = Word.read(format) else {
            throw InvalidValue("attestation_format", "A format is 1 to 32 of a-z, 0-9, _ and -.")
        }
        guard (1...Self.certificatesMax).contains(certificates.count) else {
            throw InvalidValue(
                "attestation_certificates", "1 to \(Self.certificatesMax) certificates are needed.")
        }
        self.format = word
        self.certificates = certificates
        appAttest = nil
    }

    /// A statement of App Attest.
    package init(appAttest: AppAttestStatement) {
        format = Self.appAttestFormat
        certificates = []
        self.appAttest = appAttest
    }
}

/// What the App Attest service of iOS made, not yet believed. Source: Apple, DCAppAttestService.
package struct AppAttestStatement: Hashable, Sendable {
    /// The CBOR that `attestKey` returned.
    package let object: Bytes
    /// The ID that `generateKey` returned, decoded: the SHA-256 of the attested public key.
    package let keyID: Bytes

    /// Takes the parts as they came; nothing is checked.
    package init(object: Bytes, keyID: Bytes) {
        self.object = object
        self.keyID = keyID
    }
}
