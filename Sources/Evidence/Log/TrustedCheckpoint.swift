package import Countersign

/// A checkpoint that a trust policy believes: only the policy makes one.
package struct TrustedCheckpoint: Hashable, Sendable {
    /// A witness that has cosigned it, by the policy's name, and when.
    package struct Cosignature: Hashable, Sendable {
        package let witness: String
        package let at: Instant
    }

    package let checkpoint: Checkpoint
    /// In the order of the policy; those that it does not know are not among them.
    package let cosignatures: [Cosignature]

    fileprivate init(_ checkpoint: Checkpoint, _ cosignatures: [Cosignature]) {
        self.checkpoint = checkpoint
        self.cosignatures = cosignatures
    }
}

/// Why a checkpoint is not believed.
package enum CheckpointFault: Error, Hashable, Sendable {
    case form
    case unknownLog
    case logSignature
    /// With the policy's name of the witness.
    case witness(String)
    case quorum

    /// The sentence for a person.
    package var sentence: String {
        switch self {
        case .form: "the checkpoint is not of the form that a log signs"
        case .unknownLog: "the trust policy knows no log of this name"
        case .logSignature: "the log's own signature is missing or does not verify"
        case .witness(let name): "the cosignature of the witness \(name) does not verify"
        case .quorum: "not enough witnesses of the trust policy have cosigned the checkpoint"
        }
    }
}

extension TrustPolicy {
    /// Believes a checkpoint, or says why not.
    ///
    /// Every signature of a key that the policy knows must verify, also one that is not needed; those of
    /// other keys are passed over. One key of the log is enough, since keys are replaced.
    ///
    /// - Throws: ``CheckpointFault``, the first that applies.
    package func believe(_ note: SignedNote) throws(CheckpointFault) -> TrustedCheckpoint {
        guard let checkpoint = Checkpoint(text: note.text) else { throw .form }
        let keys = logs.map(\.key).filter {
            $0.name.utf8.elementsEqual(checkpoint.origin.utf8)
        }
        guard !keys.isEmpty else { throw .unknownLog }
        let verdicts = keys.map { $0.verdict(on: note) }
        guard !verdicts.contains(.invalid), verdicts.contains(.signed(at: nil)) else {
            throw .logSignature
        }
        var cosignatures: [TrustedCheckpoint.Cosignature] = []
        for witness in witnesses {
            switch witness.key.verdict(on: note) {
            case .invalid: throw .witness(witness.name)
            case .signed(let at?): cosignatures.append(.init(witness: witness.name, at: at))
            case .signed(nil), .unsigned: break
            }
        }
        guard isQuorum(Set(cosignatures.map(\.witness))) else { throw .quorum }
        return TrustedCheckpoint(checkpoint, cosignatures)
    }
}

extension SignedNote {
    /// The note with the log's own signatures alone, as it is timestamped: witnesses sign later.
    package var byLogAlone: SignedNote? {
        guard let checkpoint = Checkpoint(text: text) else { return nil }
        let own = signatures.filter { $0.name.utf8.elementsEqual(checkpoint.origin.utf8) }
        return 1...Self.signaturesMax ~= own.count ? SignedNote(text: text, signatures: own) : nil
    }
}
