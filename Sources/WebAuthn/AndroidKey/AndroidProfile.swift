package import Countersign
import Crypto

/// The profiles that are about keys of Android, and what they promise.
extension AttestationProfile {
    /// What must hold of an Android key, in the order in which it is reported; `nil` for a profile of
    /// something else.
    package var androidConditions: [AndroidCondition]? {
        switch self {
        case .androidBiometric: AndroidCondition.allCases.filter { $0 != .strongBox }
        case .androidBiometricStrongBox: AndroidCondition.allCases
        case .appAttest, .fidoTrusted: nil
        }
    }

    /// Every profile that has ``androidConditions``.
    package static let android = allCases.filter { $0.androidConditions != nil }
}

/// One thing that must hold of a key. The codes are stable: evidence and policies keep them.
///
/// Read only from the list that the hardware enforces, except where it says otherwise.
package enum AndroidCondition: String, Hashable, Sendable, CaseIterable {
    /// AK-09: key and attestation on one level, at least the trusted environment.
    case hardware = "hardware_level"
    /// AK-09: that level is StrongBox.
    case strongBox = "strongbox_level"
    /// AK-11: EC, 256 bits, P-256, in the description and in the certificate.
    case ecP256 = "key_ec_p256"
    /// AK-11: SHA-256 may be used, and unhashed input may not.
    case sha256Only = "digest_sha256"
    /// AK-10: may sign and verify, and nothing else.
    case signOnly = "purpose_sign"
    /// AK-16: made inside, not imported.
    case generated = "origin_generated"
    /// AK-12: no use without authentication; absent from both lists.
    case authRequired = "auth_required"
    /// AK-13: by biometric, never by password or pattern.
    case biometricOnly = "auth_biometric_only"
    /// AK-14: for every single use.
    case authEveryUse = "auth_every_use"
    /// AK-15: a phone that is carried does not count as authenticated; absent from both lists.
    case notOnBody = "auth_not_on_body"
    /// AK-17: of one application; absent from both lists.
    case ownApplication = "not_all_applications"
    /// AK-18: the bootloader is locked.
    case deviceLocked = "device_locked"
    /// AK-18: booted a system that the manufacturer signed.
    case verifiedBoot = "boot_verified"
    /// AK-19: our package, and exactly our signing certificates. Android's system says so, not the
    /// hardware.
    case application = "application"
    /// AK-20: not older than the policy's minimum.
    case patchLevel = "patch_level"
}

/// The bank's app, as Android names it.
package struct AndroidApp: Hashable, Sendable {
    /// Such as `com.example.bank`.
    package let packageName: String
    /// SHA-256 of every certificate the app is signed with.
    package let signerDigests: Set<Bytes>

    /// Takes what the app is known by; `nil` without a name or a certificate: an app that nobody signed
    /// must not be anybody's.
    package init?(packageName: String, signers: [Digest]) {
        guard !packageName.isEmpty, !signers.isEmpty else { return nil }
        self.packageName = packageName
        signerDigests = Set(signers.map(\.bytes))
    }
}

/// What a profile is judged with and the attestation cannot say.
package struct AndroidRequirements: Sendable {
    /// Whose key it must be.
    package let app: AndroidApp
    /// The oldest accepted security patch as a month, YYYYMM; `nil` accepts every one.
    package let patchMonthMin: Int64?

    /// Takes every part; none has a default.
    package init(app: AndroidApp, patchMonthMin: Int64?) {
        self.app = app
        self.patchMonthMin = patchMonthMin
    }
}

extension AndroidKeyAttestation {
    /// The profiles that the key meets.
    package func profiles(_ requirements: AndroidRequirements) -> [AttestationProfile] {
        AttestationProfile.android.filter { unmet($0, requirements).isEmpty }
    }

    /// What of a profile does not hold, in a fixed order; empty when the profile is met.
    ///
    /// A profile that is not about Android's keys is not met by one: all conditions are unmet.
    package func unmet(
        _ profile: AttestationProfile, _ requirements: AndroidRequirements
    ) -> [AndroidCondition] {
        guard let conditions = profile.androidConditions else { return AndroidCondition.allCases }
        return conditions.filter { !holds($0, requirements) }
    }

    /// Whether one condition holds.
    package func holds(_ condition: AndroidCondition, _ requirements: AndroidRequirements) -> Bool {
        let hardware = description.hardwareEnforced
        return switch condition {
        case .hardware:
            description.attestationSecurityLevel == description.keyMintSecurityLevel
                && description.keyMintSecurityLevel >= .trustedEnvironment
        case .strongBox:
            description.attestationSecurityLevel == .strongBox
                && description.keyMintSecurityLevel == .strongBox
        case .ecP256:
            hardware.integer(.algorithm) == KeyMint.Algorithm.ec
                && hardware.integer(.keySize) == 256
                && hardware.integer(.ecCurve) == KeyMint.Curve.p256 && key.p256 != nil
        case .sha256Only:
            hardware.integers(.digest).map {
                $0.contains(KeyMint.Digest.sha256) && !$0.contains(KeyMint.Digest.none)
            } ?? false
        case .signOnly:
            hardware.integers(.purpose).map {
                $0.contains(KeyMint.Purpose.sign)
                    && $0.isSubset(of: [KeyMint.Purpose.sign, KeyMint.Purpose.verify])
            } ?? false
        case .generated: hardware.integer(.origin) == KeyMint.Origin.generated
        case .authRequired: isAbsent(.noAuthRequired)
        case .biometricOnly: hardware.integer(.userAuthType) == KeyMint.UserAuthType.biometric
        case .authEveryUse: isAbsent(.authTimeout)
        case .notOnBody: isAbsent(.allowWhileOnBody)
        case .ownApplication: isAbsent(.allApplications)
        case .deviceLocked: hardware.rootOfTrust?.isDeviceLocked == true
        case .verifiedBoot: hardware.rootOfTrust?.verifiedBootState == .verified
        case .application: isKey(of: requirements.app)
        case .patchLevel: isPatched(since: requirements.patchMonthMin)
        }
    }

    /// A permission that either side grants is granted.
    private func isAbsent(_ tag: AuthorizationTag) -> Bool {
        !description.hardwareEnforced.isPresent(tag) && !description.softwareEnforced.isPresent(tag)
    }

    /// AK-19. Several packages may share one user ID; they then share their signer as well.
    private func isKey(of app: AndroidApp) -> Bool {
        guard let id = description.softwareEnforced.applicationID else { return false }
        let name = Bytes(app.packageName.utf8)
        return id.packages.contains { $0.name == name }
            && Set(id.signatureDigests) == app.signerDigests
    }

    /// AK-20: the system's, the vendor's and the boot image's patch level, each by its month. Keymaster 2
    /// and 3 do not state the last two; KeyMint states them as YYYYMMDD.
    private func isPatched(since month: Int64?) -> Bool {
        guard let month else { return true }
        let hardware = description.hardwareEnforced
        guard let system = hardware.integer(.osPatchLevel) else { return false }
        return [system, hardware.integer(.vendorPatchLevel), hardware.integer(.bootPatchLevel)]
            .allSatisfy { level in
                guard let level else { return true }
                return (level > 999_999 ? level / 100 : level) >= month
            }
    }
}
