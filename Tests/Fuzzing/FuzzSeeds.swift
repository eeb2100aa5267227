import Countersign
import Crypto
import Foundation

@testable import WebAuthn

extension FuzzTarget {
    /// Good inputs to begin from: our own, and the published cases where they are at hand.
    var seeds: [Bytes] {
        switch self {
        case .attestationObject: Self.own.map(\.attestationObject) + published("attestationObject")
        case .authenticatorData: Self.ownData + published("authenticatorData")
        case .clientData: Self.own.map(\.clientDataJSON) + published("clientDataJSON")
        case .signature: published("signature") + Self.ownSignatures
        case .publicKey: Self.ownKeys
        case .keyDescription: Self.descriptions
        }
    }

    private static let phone: SoftwareAuthenticator? = try? .create(
        relyingPartyID: Fuzz.partyID, entropy: .openSSL)

    private static var own: [PasskeyRegistration] {
        phone.map {
            [
                $0.register(
                    challenge: Fuzz.challenge, origin: Fuzz.origin,
                    flags: [.userPresent, .userVerified], signCount: 0)
            ]
        } ?? []
    }

    private static var ownData: [Bytes] {
        phone.map {
            [
                $0.authenticatorData(flags: [.userPresent], signCount: 1),
                $0.authenticatorData(flags: [.userPresent, .attestedCredential], signCount: 1)
                    + $0.attestedCredential,
            ]
        } ?? []
    }

    private static var ownSignatures: [Bytes] {
        phone.flatMap { try? $0.key.sign([1]) }.map { [$0] } ?? []
    }

    private static var ownKeys: [Bytes] {
        guard let key = phone?.key.publicKey else { return [] }
        return [key.spki, Bytes(key.pem.utf8), Bytes(Base64.encode(key.x963).utf8)]
    }

    /// The extension of every published Android chain.
    private static var descriptions: [Bytes] {
        cases("android-attestation.jsonl").compactMap { one in
            one["pem"]?.text.flatMap { try? Certificate.all(pem: $0).first }?
                .extensions(KeyDescription.oid).first?.value
        }
    }

    /// That member of the response of every published ceremony, which is there or not.
    private func published(_ member: String) -> [Bytes] {
        Self.cases("webauthn.jsonl").compactMap { one in
            one["credential"]?["response"]?[member]?.text.flatMap { Base64.decodeURL($0) }
        }
    }

    /// The published cases, one JSON object a line; none where the folder is not there.
    private static func cases(_ file: String) -> [JSON] {
        let folder = ProcessInfo.processInfo.environment["COUNTERSIGN_CASES"] ?? "../shared/cases"
        guard let content = FileManager.default.contents(atPath: "\(folder)/\(file)") else {
            return []
        }
        return Bytes(content).split(separator: UInt8(ascii: "\n")).compactMap {
            SignedJSON.decode(Bytes($0))
        }
    }
}
