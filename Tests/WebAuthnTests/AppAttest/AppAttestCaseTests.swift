import Countersign
import Crypto
import TestSupport
import Testing

@testable import WebAuthn

/// `app-attest.jsonl`: statements and assertions of real iPhones; each kind prints one line.
@Suite struct `Published App Attest cases` {
    @Test func `attestations`() throws {
        let cases = try Cases.read("app-attest.jsonl") { $0.area == "app-attest-attestation" }
        guard let cases else { return }
        let deviating = cases.run("app-attest.jsonl attestation") { one in
            guard let root = one.input("root")?.text.flatMap({ Cases.bytes("anchors/\($0)") }),
                let at = one.input("now")?.text.flatMap({ Self.instant($0) })
            else { return .deviating("the case has no root or no time") }
            let trust = AppAttestTrust(
                appID: one.input("appId")?.text ?? "", environments: Self.environments(one),
                root: try Certificate(pem: String(decoding: root, as: UTF8.self)))
            let statement = AppAttestStatement(
                object: Self.bytes(one, "attestation"), keyID: Self.bytes(one, "keyId"))
            do throws(AppAttestFailure) {
                let believed = try AppAttestAttestation.verify(
                    statement, clientData: Self.bytes(one, "clientData"), at: at, trust: trust)
                return Self.judge(one, believed)
            } catch {
                return Self.judge(one, error)
            }
        }
        #expect(deviating.isEmpty)
    }

    @Test func `assertions`() throws {
        let cases = try Cases.read("app-attest.jsonl") { $0.area == "app-attest-assertion" }
        guard let cases else { return }
        let deviating = cases.run("app-attest.jsonl assertion") { one in
            guard case .integer(let stored)? = one.input("storedCounter") else {
                return .deviating("the case has no counter")
            }
            let key = try P256PublicKey(parsing: one.input("publicKeySpkiPem")?.text ?? "")
            do throws(AppAttestFailure) {
                let counter = try AppAttestAssertion.verify(
                    Self.bytes(one, "assertion"), clientData: Self.bytes(one, "clientData"),
                    key: key, counter: UInt32(stored), appID: one.input("appId")?.text ?? "")
                return one.expect("facts")?["signCount"] == .integer(Int64(counter))
                    ? one.judge(accepted: true) : .deviating("another counter")
            } catch {
                return Self.judge(one, error)
            }
        }
        #expect(deviating.isEmpty)
    }

    @Test func `the pinned root is the published one`() throws {
        guard let pem = Cases.bytes("anchors/Apple_App_Attestation_Root_CA.pem") else { return }
        let published = try Certificate(pem: String(decoding: pem, as: UTF8.self))
        #expect(AppAttestTrust.appleRoot == published)
    }

    /// What is read off must be what the case says.
    private static func judge(_ one: Case, _ believed: AppAttestAttestation) -> Judgement {
        let facts = one.expect("facts")
        let key = facts?["publicKeySpkiPem"]?.text.flatMap { try? P256PublicKey(parsing: $0) }
        guard key?.spki == believed.key, facts?["environment"] == believed.facts["environment"]
        else { return .deviating("other facts") }
        return one.judge(accepted: true)
    }

    private static func judge(_ one: Case, _ failure: AppAttestFailure) -> Judgement {
        guard one.verdict == "reject", failure.rawValue != one.expect("reason")?.text else {
            return one.judge(accepted: false)
        }
        return .deviating("\(failure.rawValue) instead of \(one.expect("reason")?.text ?? "?")")
    }

    private static func environments(_ one: Case) -> Set<AppAttestTrust.Environment> {
        guard case .array(let names)? = one.input("allowedEnvironments") else { return [] }
        return Set(names.compactMap { $0.text.flatMap(AppAttestTrust.Environment.init) })
    }

    private static func bytes(_ one: Case, _ name: String) -> Bytes {
        one.input(name)?.text.flatMap { Base64.decode($0) } ?? []
    }

    /// The cases write microseconds and an offset that is always zero; a second is enough here.
    private static func instant(_ text: String) -> Instant? {
        Instant(text: text.prefix(19) + "Z")
    }
}
