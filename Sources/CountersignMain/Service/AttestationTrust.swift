import Countersign
import HTTP
import WebAuthn

/// Whom to believe about new keys, and until when.
struct AttestationTrust: Sendable {
    let passkeys: AttestationPolicy
    let devices: DeviceAttestationPolicy
    /// Until when the models of the metadata count; `nil` without metadata.
    let metadataUntil: Instant?

    /// What counts no more, by the event that tells of it.
    func lapsed(at now: Instant) -> Set<LogEvent> {
        var lapsed: Set<LogEvent> = []
        if let until = metadataUntil, now >= until { lapsed.insert(.metadataLapsed) }
        if let android = devices.android, !android.trust().hasFreshRevocations(at: now) {
            lapsed.insert(.revocationsLapsed)
        }
        return lapsed
    }

    /// Gauges of the two dates, each only where there is something that can lapse.
    func measure(with metrics: Metrics) {
        if let until = metadataUntil {
            metrics.gauge(
                "countersign_metadata_valid_until_seconds",
                help: "Unix time until which the metadata of authenticators is believed."
            ) { until.unixSeconds }
        }
        if let android = devices.android {
            metrics.gauge(
                "countersign_revocations_valid_until_seconds",
                help: "Unix time until which Google's list of revocations is believed; 0 for none."
            ) { android.trust().revocationsUntil?.unixSeconds ?? 0 }
        }
    }
}

/// Tells when what new keys are believed by has lapsed: nothing else would say so but the customers who
/// are refused, or whose keys are worth less than they could be.
struct TrustWatch: Sendable {
    let trust: AttestationTrust

    private static let interval = Duration.seconds(60)

    /// Looks at once, and again and again until its task is cancelled.
    func run() async {
        var told: Set<LogEvent> = []
        while !Task.isCancelled {
            for event in await look(at: systemTime(), told: &told) { Log.event(event) }
            await pause(Self.interval)
        }
    }

    /// What has lapsed since it was looked at last.
    func look(at now: Instant, told: inout Set<LogEvent>) async -> Set<LogEvent> {
        await trust.devices.android?.refresh()
        let lapsed = trust.lapsed(at: now)
        defer { told = lapsed }
        return lapsed.subtracting(told)
    }
}

extension Instant {
    fileprivate var unixSeconds: Int { Int(milliseconds / 1000) }
}
