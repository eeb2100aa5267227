import Countersign
import Crypto
import Foundation
import WebAuthn

/// Whom to believe about new keys, read from the files that the settings name.
extension Configuration {
    /// The verifier of every proof, with all that it believes by.
    func makeProofVerifier(
        _ party: WebAuthn.RelyingParty, payments: PaymentParty?, trust: AttestationTrust
    ) -> CustomerProofVerifier {
        CustomerProofVerifier(
            relyingParty: party, payments: payments, algorithms: webauthn.algorithms,
            attestation: trust.passkeys, devices: trust.devices)
    }

    /// Anchors from the folder and from the metadata; without any, every chain is `untrusted`. And the
    /// bank's apps.
    ///
    /// - Throws: ``ConfigurationError`` for a file that cannot be used: a service that trusts less than
    ///   it was told to would refuse customers, and one that trusts more, nobody.
    func attestationTrust() throws(ConfigurationError) -> AttestationTrust {
        var anchors: [AttestationAnchor] = []
        if let folder = webauthn.attestationAnchors {
            anchors += try AnchorFolder(folder.text).anchors()
        }
        var metadataUntil: Instant?
        if let file = webauthn.metadata, let root = webauthn.metadataRoot {
            let metadata = try metadata(file, root)
            anchors += metadata.anchors
            metadataUntil = metadata.nextUpdate
        }
        return AttestationTrust(
            passkeys: AttestationPolicy(
                formats: AttestationPolicy.untrusting.formats, trust: .recorded, anchors: anchors),
            devices: try deviceAttestation(), metadataUntil: metadataUntil)
    }

    private func metadata(
        _ file: FilePath, _ root: FilePath
    ) throws(ConfigurationError) -> MetadataBLOB {
        let anchor: Certificate
        do {
            anchor = try Certificate(pem: try text(of: root, "webauthn.metadata_root"))
        } catch let error as ConfigurationError {
            throw error
        } catch {
            throw ConfigurationError("webauthn.metadata_root is no certificate in PEM")
        }
        let blob = try text(of: file, "webauthn.metadata")
        do throws(MetadataBLOB.Failure) {
            return try MetadataBLOB(
                blob.trimmingCharacters(in: .whitespacesAndNewlines), root: anchor,
                at: systemTime())
        } catch {
            throw ConfigurationError("webauthn.metadata is refused: \(error.rawValue)")
        }
    }

    private func deviceAttestation() throws(ConfigurationError) -> DeviceAttestationPolicy {
        DeviceAttestationPolicy(
            android: try androidAttestation(),
            appAttest: apple.appID.map {
                AppAttestTrust(
                    appID: $0, environments: [apple.environment.service],
                    root: AppAttestTrust.appleRoot)
            })
    }

    private func androidAttestation() throws(ConfigurationError) -> DeviceAttestationPolicy.Android?
    {
        guard let package = android.package else { return nil }
        guard let app = AndroidApp(packageName: package, signers: android.certificates) else {
            throw ConfigurationError("android.package needs android.certificates")
        }
        let age = Seconds(Int64(android.revocationListMaxAgeHours) * 3600)
        let file = android.revocationList.map { RevocationListFile($0.text) }
        return DeviceAttestationPolicy.Android(
            requirements: AndroidRequirements(
                app: app,
                patchMonthMin: android.patchLevelMin == 0 ? nil : Int64(android.patchLevelMin)),
            trust: {
                AndroidTrust(
                    roots: GoogleAttestationRoots.certificates,
                    revocations: file?.current, revocationsAgeMax: age)
            },
            refresh: { await file?.refresh() })
    }

    private func text(
        of file: FilePath, _ setting: String
    ) throws(ConfigurationError) -> String {
        do {
            return try String(contentsOfFile: file.text, encoding: .utf8)
        } catch {
            throw ConfigurationError("the file of the setting \(setting) cannot be read")
        }
    }
}

extension Configuration.AppAttestEnvironment {
    fileprivate var service: AppAttestTrust.Environment {
        switch self {
        case .production: .production
        case .development: .development
        }
    }
}

/// The folder of trusted certificates: `FORMAT/*.pem` for every model, `FORMAT/AAGUID/*.pem` for one.
struct AnchorFolder {
    private let path: String

    init(_ path: String) { self.path = path }

    /// Every certificate below, each with what its place says that it counts for.
    ///
    /// - Throws: ``ConfigurationError`` that names the file: a name that means nothing would be trust
    ///   that never works.
    func anchors() throws(ConfigurationError) -> [AttestationAnchor] {
        var anchors: [AttestationAnchor] = []
        for name in try list(nil) {
            guard let format = AttestationFormat(rawValue: name), format != .noAttestation else {
                throw Self.refusal("\(name) is no attestation format with certificates")
            }
            for entry in try list(name) {
                let place = "\(name)/\(entry)"
                if Self.isPEM(entry) {
                    anchors += try read(place, format, nil)
                    continue
                }
                guard let model = AAGUID(text: entry) else {
                    throw Self.refusal("\(place) is neither a .pem file nor an AAGUID")
                }
                for file in try list(place) {
                    guard Self.isPEM(file) else {
                        throw Self.refusal("\(place)/\(file) is no .pem file")
                    }
                    anchors += try read("\(place)/\(file)", format, model)
                }
            }
        }
        return anchors
    }

    private static func isPEM(_ name: String) -> Bool { name.hasSuffix(".pem") }

    /// The names in a folder below; `nil` for the folder of the setting.
    private func list(_ name: String?) throws(ConfigurationError) -> [String] {
        do {
            return try FileManager.default
                .contentsOfDirectory(atPath: name.map { "\(path)/\($0)" } ?? path)
                .filter { !$0.hasPrefix(".") }.sorted()
        } catch {
            throw Self.refusal("\(name ?? "it") cannot be read as a folder")
        }
    }

    private func read(
        _ name: String, _ format: AttestationFormat, _ model: AAGUID?
    ) throws(ConfigurationError) -> [AttestationAnchor] {
        let text: String
        do {
            text = try String(contentsOfFile: "\(path)/\(name)", encoding: .utf8)
        } catch {
            throw Self.refusal("\(name) cannot be read as text")
        }
        let certificates: [Certificate]
        do throws(CertificateError) {
            certificates = try Certificate.all(pem: text)
        } catch {
            throw Self.refusal("\(name) is no PEM of certificates")
        }
        guard !certificates.isEmpty else { throw Self.refusal("\(name) holds no certificate") }
        return certificates.map {
            AttestationAnchor($0, format: format, model: model, until: nil)
        }
    }

    private static func refusal(_ what: String) -> ConfigurationError {
        ConfigurationError("webauthn.attestation_anchors: \(what)")
    }
}
