import Countersign
import Crypto

/// What this installation believes statements of devices' makers by. Which profile a key needs is the
/// risk policy's to say; here it is found out which ones it meets.
package struct DeviceAttestationPolicy: Sendable {
    /// What Android's attestations are judged with.
    package struct Android: Sendable {
        /// Which app and which patch level the profiles ask for.
        package let requirements: AndroidRequirements
        /// Asked at each use, so that a list of revocations that was fetched meanwhile counts. Reads no
        /// file.
        package let trust: @Sendable () -> AndroidTrust
        /// Makes ``trust`` tell what is true now; called before a key is judged.
        package let refresh: @Sendable () async -> Void

        /// Takes every part; none has a default.
        package init(
            requirements: AndroidRequirements, trust: @escaping @Sendable () -> AndroidTrust,
            refresh: @escaping @Sendable () async -> Void
        ) {
            self.requirements = requirements
            self.trust = trust
            self.refresh = refresh
        }
    }

    /// `nil` when the bank has no Android app: then such statements are kept and not looked at.
    package let android: Android?
    /// `nil` when the bank has no app of Apple's: then the same.
    package let appAttest: AppAttestTrust?

    package init(android: Android?, appAttest: AppAttestTrust?) {
        self.android = android
        self.appAttest = appAttest
    }

    /// An installation that was told of no app.
    package static let unconfigured = DeviceAttestationPolicy(android: nil, appAttest: nil)

    /// Judges the statement that came with a new device key.
    ///
    /// What is in order and meets no profile is recorded as that; what is not in order refuses the
    /// enrolment, since an honest device sends no such thing.
    ///
    /// - Parameters:
    ///   - offered: As it came; `nil` when nothing came.
    ///   - key: The key that is enrolled; its possession is proved apart from this (AK-21).
    ///   - message: The enrolment's message. Its SHA-256 is Android's challenge (AK-08); App Attest is
    ///     over it and the key.
    ///   - at: When certificates must be valid.
    /// - Returns: What to record.
    /// - Throws: ``AttestationFailure`` for a statement that is not in order.
    func judge(
        _ offered: DeviceAttestation?, of key: P256PublicKey, message: Bytes, at: Instant
    ) throws(AttestationFailure) -> Attestation {
        guard let offered else { return .absent }
        if offered.format == DeviceAttestation.androidKeyFormat, let android {
            return try android.judge(offered, of: key, message: message, at: at)
        }
        if let statement = offered.appAttest, let appAttest {
            return try judge(statement, by: appAttest, of: key, message: message, at: at)
        }
        return Attestation(
            verdict: .unverified, format: offered.format, statement: offered.statement)
    }

    private func judge(
        _ statement: AppAttestStatement, by trust: AppAttestTrust, of key: P256PublicKey,
        message: Bytes, at: Instant
    ) throws(AttestationFailure) -> Attestation {
        do throws(AppAttestFailure) {
            let believed = try AppAttestAttestation.verify(
                statement,
                clientData: AppAttestAttestation.clientData(message: message, deviceKey: key.spki),
                at: at, trust: trust)
            return Attestation(
                verdict: .basic, format: DeviceAttestation.appAttestFormat,
                statement: [statement.object], facts: believed.facts,
                profiles: [.appAttest], appAttestKey: believed.key)
        } catch {
            throw AttestationFailure("app_attest_\(error.rawValue)")
        }
    }
}

extension DeviceAttestationPolicy.Android {
    fileprivate func judge(
        _ offered: DeviceAttestation, of key: P256PublicKey, message: Bytes, at: Instant
    ) throws(AttestationFailure) -> Attestation {
        let believed: AndroidKeyAttestation
        do throws(AndroidAttestationFailure) {
            let chain = try AndroidKeyAttestation.parse(offered.certificates)
            believed = try AndroidKeyAttestation.verify(
                chain: chain, challenge: sha256(message).bytes, key: key.spki, at: at,
                trust: trust())
        } catch {
            throw AttestationFailure("android_\(error.rawValue)")
        }
        return Attestation(
            verdict: .basic, format: offered.format, statement: offered.certificates,
            facts: believed.facts(requirements), profiles: believed.profiles(requirements))
    }
}
