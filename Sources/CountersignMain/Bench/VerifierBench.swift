import Countersign
import Crypto
import Foundation
import WebAuthn

/// What the service's verifiers cost beside OpenSSL's bare verification of the same kind of signature.
///
/// One thread, CPU time of that thread, and the three take turns, so that whatever else the machine does
/// meets all of them.
struct VerifierBench {
    private static let rounds = 21
    private static let perRound = 500
    /// What a payment's message is about as long as.
    private static let message = Bytes(repeating: 0x6D, count: 600)

    /// Measures and prints.
    ///
    /// - Throws: ``CommandFailure`` when a verifier refuses what is right.
    func run() throws {
        let works = [try bare(), try deviceKey(), try passkey()]
        var times = works.map { _ in [Double]() }
        for _ in 0..<Self.rounds {
            for (index, work) in works.enumerated() {
                times[index].append(try cost(work))
            }
        }
        let medians = times.map(median)
        Console.out("CPU per verification, median of \(Self.rounds) rounds of \(Self.perRound):")
        for (work, time) in zip(works, medians) {
            Console.out(
                "  \(padded(work.name, 44)) \(padded(fixed(time, 1), -6)) µs"
                    + "   ratio \(fixed(time / medians[0], 2))")
        }
    }

    private struct Work {
        let name: String
        /// Verifies once; `false` would be a defect.
        let verify: () -> Bool
    }

    private func cost(_ work: Work) throws -> Double {
        let start = threadTime()
        for _ in 0..<Self.perRound {
            guard work.verify() else { throw CommandFailure("\(work.name) refused a good proof") }
        }
        return (threadTime() - start) / Double(Self.perRound)
    }

    private func bare() throws -> Work {
        let key = try P256PrivateKey.generate()
        let bare = BareVerification(key.publicKey)
        let signature = try key.sign(Self.message)
        return Work(name: "bare EVP_DigestVerify, key kept") {
            bare.isValid(signature: signature, for: Self.message)
        }
    }

    private func deviceKey() throws -> Work {
        let key = try P256PrivateKey.generate()
        let verifier = try Self.verifier()
        let stored = StoredCredential.deviceKey(
            StoredDeviceKey(id: ID(rawValue: 1), key: key.publicKey.spki))
        let proof = UnverifiedAssertion.deviceKey(
            credential: ID(rawValue: 1), signature: try key.sign(Self.message))
        return Work(name: "device key, as the service verifies it") {
            Self.isBelieved(proof, stored, verifier)
        }
    }

    private func passkey() throws -> Work {
        let phone = try SoftwareAuthenticator.create(
            relyingPartyID: Self.party, entropy: .openSSL)
        let verifier = try Self.verifier()
        let stored = StoredCredential.passkey(
            StoredPasskey(
                credentialID: phone.credentialID, key: phone.key.publicKey.spki, signCount: 0,
                backupEligible: false, userHandle: [1]))
        let proof = UnverifiedAssertion.passkey(
            try phone.assert(
                challenge: sha256(Self.message).bytes, origin: Self.origin,
                flags: [.userPresent, .userVerified], signCount: 1, userHandle: [1]))
        return Work(name: "passkey (ES256), as the service verifies it") {
            Self.isBelieved(proof, stored, verifier)
        }
    }

    private static let party = "bank.example"
    private static let origin = "https://bank.example"

    private static func verifier() throws -> CustomerProofVerifier {
        CustomerProofVerifier(
            relyingParty: try RelyingParty(
                id: party, name: "Bank", origins: [origin], framing: .refused),
            payments: nil, algorithms: [.es256], attestation: .untrusting, devices: .unconfigured)
    }

    private static func isBelieved(
        _ proof: UnverifiedAssertion, _ stored: StoredCredential, _ verifier: CustomerProofVerifier
    ) -> Bool {
        do throws(VerificationFailure) {
            _ = try verifier.verify(proof, by: stored, over: message)
            return true
        } catch {
            return false
        }
    }
}
