import Countersign
import Crypto
import Foundation
import HTTP
import TestSupport
import Testing
import WebAuthn

@testable import CountersignMain

/// That somebody is told when what new keys are believed by counts no more.
@Suite struct `What has lapsed` {
    private static let now = Instant(milliseconds: 1_750_000_000_000)
    private static let ageMax = Seconds(48 * 3600)

    private func trust(
        metadataUntil: Instant? = nil, android: DeviceAttestationPolicy.Android? = nil
    ) -> AttestationTrust {
        AttestationTrust(
            passkeys: .untrusting,
            devices: DeviceAttestationPolicy(android: android, appAttest: nil),
            metadataUntil: metadataUntil)
    }

    /// An app whose list was fetched then, or is missing.
    private func android(
        fetchedAt: Instant?, refresh: @escaping @Sendable () async -> Void = {}
    ) throws -> DeviceAttestationPolicy.Android {
        let list: JSON = ["entries": ["abc": ["status": "REVOKED"]]]
        let trust = AndroidTrust(
            roots: [],
            revocations: try fetchedAt.map {
                try RevocationList(json: list.encoded, fetchedAt: $0)
            },
            revocationsAgeMax: Self.ageMax)
        return DeviceAttestationPolicy.Android(
            requirements: AndroidRequirements(
                app: try #require(
                    AndroidApp(packageName: "com.bank.app", signers: [Fixtures.sha256([])])),
                patchMonthMin: nil),
            trust: { trust }, refresh: refresh)
    }

    @Test func `is nothing where nothing can`() {
        #expect(trust().lapsed(at: Self.now) == [])
    }

    @Test func `is metadata from the day on which the next is due`() {
        let late = trust(metadataUntil: Self.now)
        let good = trust(metadataUntil: Instant(milliseconds: Self.now.milliseconds + 1))
        #expect(late.lapsed(at: Self.now) == [.metadataLapsed])
        #expect(good.lapsed(at: Self.now) == [])
    }

    @Test func `is a list of revocations that is missing, too old, or from the future`() throws {
        for (fetchedAt, isGood) in [
            (nil, false), (Self.now, true), (Self.now - Self.ageMax, true),
            (Self.now - Self.ageMax - Seconds(1), false), (Self.now + Seconds(300), true),
            (Self.now + Seconds(301), false),
        ] as [(Instant?, Bool)] {
            let trust = trust(android: try android(fetchedAt: fetchedAt))
            #expect(trust.lapsed(at: Self.now) == (isGood ? [] : [.revocationsLapsed]))
        }
    }

    @Test func `is told once, and again when it was good in between`() async throws {
        let looks = Locked(0)
        let watch = TrustWatch(
            trust: trust(
                metadataUntil: Self.now,
                android: try android(fetchedAt: Self.now) { looks.withLock { $0 += 1 } }))
        var told: Set<LogEvent> = []
        let late = Self.now + Self.ageMax + Seconds(1)
        let looksAt: [(Instant, Set<LogEvent>)] = [
            (Self.now - Seconds(1), []), (Self.now, [.metadataLapsed]), (Self.now, []),
            (late, [.revocationsLapsed]), (late, []), (Self.now, []), (late, [.revocationsLapsed]),
        ]
        for (now, news) in looksAt {
            #expect(await watch.look(at: now, told: &told) == news)
        }
        // What is told is true now: the files are looked at first.
        #expect(looks.withLock { $0 } == 7)
    }

    @Test func `can be seen coming, in two gauges`() throws {
        func text(_ trust: AttestationTrust) -> String {
            let metrics = Metrics()
            trust.measure(with: metrics)
            return String(decoding: metrics.render(), as: UTF8.self)
        }
        let both = text(
            trust(metadataUntil: Self.now, android: try android(fetchedAt: Self.now)))
        #expect(both.contains("countersign_metadata_valid_until_seconds 1750000000\n"))
        #expect(both.contains("countersign_revocations_valid_until_seconds 1750172800\n"))
        let none = text(trust(android: try android(fetchedAt: nil)))
        #expect(none.contains("countersign_revocations_valid_until_seconds 0\n"))
        #expect(!none.contains("metadata"))
        #expect(!text(trust()).contains("valid_until"))
    }
}
