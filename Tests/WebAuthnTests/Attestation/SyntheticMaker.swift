import Countersign
import Crypto
import TestSupport

@testable import WebAuthn

/// A maker of authenticators with a root of its own: certificates and statements that are good until a
/// test changes a part.
struct SyntheticMaker {
    static let aaguidExtension = "1.3.6.1.4.1.45724.1.1.4"

    let fixture: Fixture
    let root: TestAuthority
    /// The key that attests.
    let key: P256PrivateKey

    init() throws {
        fixture = try Fixture()
        root = try TestAuthority(root: "Synthetic maker")
        key = try P256PrivateKey.generate()
    }

    /// What most formats sign.
    var toBeSigned: Bytes {
        fixture.newData() + sha256(fixture.clientData("webauthn.create")).bytes
    }

    /// A certificate of the attesting key as §8.2.1 wants it.
    func certificate(
        _ change: (inout TestCertificate) -> Void = { _ in }
    ) throws -> Certificate {
        try root.certify(key.publicKey.spki) {
            $0.subject = [
                ("2.5.4.6", "DE"), ("2.5.4.10", "Maker"),
                ("2.5.4.11", "Authenticator Attestation"), ("2.5.4.3", "Model"),
            ]
            $0.extensions = [
                TestCertificate.noAuthority,
                TestCertificate.ext(Self.aaguidExtension, DER.octets(AAGUID.unknown.bytes)),
            ]
            change(&$0)
        }
    }

    /// A statement of the format `packed` with that certificate.
    func packed(_ certificate: Certificate) throws -> CBOR {
        CBOR.map([]).with("alg", CBOR(integer: -7))
            .with("sig", .bytes(try key.sign(toBeSigned)))
            .with("x5c", .array([.bytes(certificate.der)]))
    }

    /// Why a registration with that statement is refused; `nil` when it is believed.
    func refusal(_ format: String, _ statement: CBOR) -> VerificationFailure? {
        fixture.refusal(fixture.attested(format, statement))
    }

    /// What is recorded of a registration with that statement.
    func attestation(
        _ format: String, _ statement: CBOR, _ policy: AttestationPolicy, at: Instant = Fixture.at
    ) throws(VerificationFailure) -> Attestation {
        try RegistrationCeremony.verify(
            response: fixture.attested(format, statement), challenge: fixture.challenge,
            relyingParty: fixture.relyingParty,
            policy: .service(algorithms: [.es256], attestation: policy), at: at
        ).attestation
    }

    /// Trust in this maker, in certain formats and about certain models only.
    func trusting(
        _ trust: AttestationPolicy.Trust, format: AttestationFormat? = nil, model: AAGUID? = nil,
        until: Instant? = nil
    ) -> AttestationPolicy {
        AttestationPolicy(
            formats: Set(AttestationFormat.allCases), trust: trust,
            anchors: [
                AttestationAnchor(root.certificate, format: format, model: model, until: until)
            ])
    }
}

extension Fixture {
    /// A registration with a statement of any format.
    func attested(_ format: String, _ statement: CBOR, data: Bytes? = nil) -> PasskeyRegistration {
        let object = CBOR.map([]).with("fmt", .text(format)).with("attStmt", statement)
            .with("authData", .bytes(data ?? newData()))
        return PasskeyRegistration(
            rawID: authenticator.credentialID, clientDataJSON: clientData("webauthn.create"),
            attestationObject: object.encoded, transports: [])
    }
}

extension CBOR {
    /// The map with another value under that name; `nil` takes it away.
    func replacing(_ name: String, _ value: CBOR?) -> CBOR {
        value.map { without(name).with(name, $0) } ?? without(name)
    }
}
