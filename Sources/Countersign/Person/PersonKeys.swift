/// Registers, lists and revokes the keys of people.
///
/// A registration has the shape of ``EnrolCredential``: load without locks, verify purely, commit if all
/// that was read still holds.
package struct PersonKeys<Store: PersonKeyStore, Verifier: RegistrationVerifier>: PersonKeyService {
    private let store: Store
    private let verifier: Verifier
    private let asker: PersonAsker

    /// More keys and open registrations at a time are no person's.
    package static var openMax: Int { 10 }
    private static var racesMax: Int { 100 }

    /// - Parameters:
    ///   - store: Where people and their keys are kept.
    ///   - verifier: Believes proofs of new keys: the one for customers' passkeys.
    ///   - asker: Makes messages and options.
    package init(store: Store, verifier: Verifier, asker: PersonAsker) {
        self.store = store
        self.verifier = verifier
        self.asker = asker
    }

    package func beginRegistration(
        of person: ID<Client>, label: DisplayText
    ) async throws(StoreFailure) -> PersonKeyOptionsOutcome {
        for _ in 0..<Self.racesMax {
            guard let context = try await store.load(person, registration: nil) else {
                return .refused(.notFound)
            }
            let handle = context.userHandle ?? asker.entropy(EnrolmentIssuer.userHandleSize)
            let opened = open(label, context)
            switch try await store.begin(
                opened, userHandle: handle, openMax: Self.openMax, on: context)
            {
            case .begun: return .begun(offer(opened, handle, context))
            case .tooManyOpen: return .refused(.tooManyOpen(retryAfter: PersonAsker.lifetime))
            case .lostRace: continue
            }
        }
        throw .unavailable
    }

    private func open(
        _ label: DisplayText, _ context: PersonKeyContext
    ) -> OpenedPersonKeyRegistration {
        let id: ID<PersonKeyRegistration> = asker.makeID(at: context.at)
        let expiresAt = (context.at + PersonAsker.lifetime).wholeSeconds
        let message = PersonKeyMessage(
            registrationID: id, audience: asker.audience, person: context.person,
            expiresAt: expiresAt, nonce: asker.makeNonce())
        return OpenedPersonKeyRegistration(
            id: id, label: label.text, message: message.bytes, createdAt: context.at,
            expiresAt: expiresAt, isSpent: false)
    }

    private func offer(
        _ opened: OpenedPersonKeyRegistration, _ handle: Bytes, _ context: PersonKeyContext
    ) -> JSON {
        [
            "registration_id": .string(opened.id.text),
            "expires_at": .string(opened.expiresAt.text),
            "message": .string(Base64.encodeURL(opened.message)),
            "webauthn": asker.creationOptions(
                asker.sha256(opened.message), handle, context.person.name,
                context.ownKeys.map(\.listed), PersonAsker.lifetime, .notNeeded),
        ]
    }

    package func register(
        _ command: RegisterPersonKeyCommand
    ) async throws(StoreFailure) -> PersonKeyOutcome {
        // What only the commit can tell, once it has told it.
        var exists = false
        for _ in 0..<Self.racesMax {
            guard
                let context = try await store.load(
                    command.person, registration: command.registration),
                let registration = context.registration
            else { return .refused(.notFound) }
            if registration.isSpent { return .refused(.consumed) }
            if registration.expiresAt <= context.at { return .refused(.expired) }
            let key: NewPersonKey
            do throws(RegistrationFailure) {
                key = try verify(command, registration, context)
            } catch {
                guard try await store.spend(command, because: error.code, on: context) else {
                    continue
                }
                return .refused(error.refusal)
            }
            if exists {
                guard try await store.spend(command, because: "key_exists", on: context) else {
                    continue
                }
                return .refused(.keyExists)
            }
            do throws(StoreFailure) {
                switch try await store.register(key, on: context) {
                case .registered: break
                case .keyExists:
                    exists = true
                    continue
                case .lostRace: continue
                }
            } catch .outcomeUnknown {
                do throws(StoreFailure) { try await store.barrier() } catch {
                    throw .outcomeUnknown
                }
            }
            if let written = try await store.keys(of: context.person.role)
                .first(where: { $0.id == key.id })
            {
                return .registered(written)
            }
        }
        throw .unavailable
    }

    private func verify(
        _ command: RegisterPersonKeyCommand, _ registration: OpenedPersonKeyRegistration,
        _ context: PersonKeyContext
    ) throws(RegistrationFailure) -> NewPersonKey {
        let verified = try verifier.verify(
            .passkey(command.offered), over: registration.message, at: context.at)
        // Only a passkey was offered, so that is what was verified.
        guard let passkey = verified.passkey else { throw .proof(.credentialType) }
        return NewPersonKey(
            id: asker.makeID(at: context.at), status: context.statusOfNewKey, command: command,
            registration: verified, passkey: passkey)
    }

    package func keys(of role: PersonRole) async throws(StoreFailure) -> [RecordedPersonKey] {
        try await store.keys(of: role)
    }

    package func revoke(
        _ key: ID<PersonKey>, of owner: ID<Client>
    ) async throws(StoreFailure) -> RecordedPersonKey? {
        for _ in 0..<Self.racesMax {
            guard let context = try await store.load(owner, registration: nil),
                let found = context.keys.first(where: { $0.id == key && $0.person.id == owner })
            else { return nil }
            if found.status == .revoked {
                // What is answered must be durable: the row may be visible before it is.
                try await store.barrier()
                return found
            }
            do throws(StoreFailure) {
                // The next round reads what was written and answers that.
                _ = try await store.revoke(found, at: context.at)
            } catch .outcomeUnknown {
                do throws(StoreFailure) { try await store.barrier() } catch {
                    throw .outcomeUnknown
                }
            }
        }
        throw .unavailable
    }
}

extension RegistrationFailure {
    /// The stable word in evidence.
    fileprivate var code: String {
        switch self {
        case .keyForm(let value): value.code
        case .proof(let failure): failure.code
        case .attestation(let failure): failure.code
        }
    }

    fileprivate var refusal: PersonKeyRefusal {
        switch self {
        case .keyForm, .proof: .authenticationFailed
        case .attestation: .attestationRefused
        }
    }
}
