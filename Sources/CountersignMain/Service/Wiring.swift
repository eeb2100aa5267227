import Countersign
import Crypto
import Delivery
import Evidence
import Foundation
import HTTP
import Postgres
import WebAuthn

extension Configuration {
    /// How long a statement of a command may take that looks through all there is.
    static let patience = Duration.seconds(3600)

    /// The pool of the service, with its gauges.
    ///
    /// - Throws: ``ConfigurationError``.
    func makeDatabase(
        metrics: Metrics? = nil, statementDeadline: Duration? = nil
    ) throws(ConfigurationError) -> Postgres.Database {
        guard let url = database.url else { throw ConfigurationError("database.url is missing") }
        var options = try Self.databaseOptions(
            url, "database.url", size: max(1, database.poolSize))
        if let statementDeadline { options.statementDeadline = statementDeadline }
        let pool = Postgres.Database(options)
        guard let metrics else { return pool }
        let gauges: [(String, String, @Sendable (Postgres.Database.Statistics) -> Int)] = [
            ("countersign_pool_size", "Connections that there may be.", { $0.size }),
            ("countersign_pool_busy", "Connections with work.", { $0.busy }),
            ("countersign_pool_waiting", "Work that waits for a connection.", { $0.waiting }),
            ("countersign_pool_quarantined", "Connections without an answer.", { $0.quarantined }),
        ]
        for (name, help, read) in gauges {
            metrics.gauge(name, help: help) { [weak pool] in
                pool.map { read($0.statistics) } ?? 0
            }
        }
        return pool
    }

    /// Does something with a pool of its own, which is closed whatever comes of it.
    ///
    /// - Throws: ``ConfigurationError``, or what `body` throws.
    func withDatabase<Result: Sendable>(
        statementDeadline: Duration? = nil, _ body: (Postgres.Database) async throws -> Result
    ) async throws -> Result {
        let database = try makeDatabase(statementDeadline: statementDeadline)
        do {
            let result = try await body(database)
            await database.close()
            return result
        } catch {
            await database.close()
            throw error
        }
    }

    /// The use cases over their stores.
    ///
    /// - Throws: ``ConfigurationError``.
    func makeServices(
        database: Postgres.Database, sealer: EvidenceSealer, keyEncryption: KeyEncryptionKey,
        trust: AttestationTrust, promise: @escaping PromiseMaker
    ) throws(ConfigurationError) -> API.Services {
        let party = try relyingParty()
        let payments = try paymentParty(of: party)
        let proofs = makeProofVerifier(party, payments: payments, trust: trust)
        let subjects = SubjectMaker(keyEncryption: keyEncryption, entropy: .openSSL)
        let issuer = ChallengeIssuer(
            audience: party.id, entropy: .openSSL, sha256: .openSSL,
            requestOptions: party.requestOptions, paymentRequest: payments?.request)
        func actions(in store: some ActionStore & ActionReader) -> any ActionService {
            Actions(store: store, verifier: proofs, issuer: issuer, sha256: .openSSL)
        }
        let store = PostgresActionStore(database: database, sealer: sealer, subjects: subjects)
        let credentials = EnrolCredential(
            store: PostgresCredentialStore(database: database, sealer: sealer, subjects: subjects),
            verifier: proofs,
            issuer: EnrolmentIssuer(
                audience: party.id, entropy: .openSSL, sha256: .openSSL,
                creationOptions: party.creationOptions(
                    policy: proofs.policy, use: payments == nil ? .signing : .signingAndPayments),
                requestOptions: party.requestOptions),
            sha256: .openSSL, identityToken: try identityKey()?.tokenReader,
            firstEnrolment: firstEnrolment)
        let service = ServiceSubject(
            database: database, sealer: sealer, keyEncryption: keyEncryption, entropy: .openSSL)
        return API.Services(
            actions: failpoint.map {
                actions(in: FailpointActionStore(base: store, failpoints: Failpoints($0)))
            } ?? actions(in: store),
            credentials: credentials,
            evidence: PostgresEvidenceStore(
                database: database, keyEncryption: keyEncryption, service: service),
            deviceRequests: VerifyDeviceRequest(
                store: PostgresDeviceRequestStore(database: database, sealer: sealer),
                verifier: proofs, entropy: .openSSL, general: deviceRequests.mode),
            people: makePeople(
                database: database, service: service, party: party, proofs: proofs),
            policyHistory: PostgresPolicyHistory(database: database),
            clients: PostgresClientDirectory(database: database),
            customers: Customers(
                store: PostgresCustomerStore(database: database, sealer: sealer),
                identityToken: try identityKey()?.tokenReader, rule: firstEnrolment),
            events: PostgresEventFeed(database: database),
            executions: PullDelivery(
                queue: PostgresDeliveryQueue(database: database, sealer: sealer),
                mayLease: deliveryMode == .pull, promise: promise),
            log: PostgresLogReader(database: database, isWitnessed: log.witnessPolicy != nil),
            privacy: PostgresPrivacyStore(
                database: database, privacy: try makePrivacyDatabase(), sealer: sealer,
                service: service, retentionDays: evidence.retentionDays))
    }

    /// A connection as the role that may erase and nothing else; `nil` when there is none.
    private func makePrivacyDatabase() throws(ConfigurationError) -> Postgres.Database? {
        guard let url = privacy.databaseURL else { return nil }
        return Postgres.Database(
            try Self.databaseOptions(url, "privacy.database_url", size: 1))
    }

    /// How to connect to where a setting says.
    ///
    /// - Throws: ``ConfigurationError`` that names the setting.
    static func databaseOptions(
        _ url: Redacted<String>, _ setting: String, size: Int
    ) throws(ConfigurationError) -> DatabaseOptions {
        do throws(PostgresError) {
            return DatabaseOptions(connection: try ConnectionInfo(url.exposed), size: size)
        } catch {
            throw ConfigurationError("\(setting) is no connection string of libpq")
        }
    }

    /// The use cases of the bank's people.
    private func makePeople(
        database: Postgres.Database, service: ServiceSubject, party: WebAuthn.RelyingParty,
        proofs: CustomerProofVerifier
    ) -> API.Services.People {
        let asker = PersonAsker(
            audience: party.id, entropy: .openSSL, sha256: .openSSL,
            creationOptions: party.creationOptions(policy: proofs.policy, use: .signing),
            requestOptions: party.requestOptions)
        return API.Services.People(
            keys: PersonKeys(
                store: PostgresPersonKeyStore(database: database, service: service),
                verifier: proofs, asker: asker),
            acts: Acts(
                store: PostgresActStore(database: database, service: service), verifier: proofs,
                asker: asker, isAtLeastAsStrict: { $0.isAtLeastAsStrict(as: $1) }),
            policies: PostgresPolicyStore(database: database),
            shadows: Shadows(
                store: PostgresShadowStore(database: database, service: service),
                sha256: .openSSL, entropy: .openSSL))
    }

    /// Development goes without a voucher only where no identity system is there to give one: whoever
    /// configures its key wants to see what happens without a token.
    var firstEnrolment: FirstEnrolmentRule {
        development && identity.key == nil ? .mayBeUnauthorized : .needsAuthorization
    }

    private func relyingParty() throws(ConfigurationError) -> WebAuthn.RelyingParty {
        do throws(InvalidValue) {
            return try WebAuthn.RelyingParty(
                id: rp.id ?? "", name: rp.name ?? "", origins: passkeyOrigins, framing: .refused)
        } catch {
            throw ConfigurationError("rp.id, rp.name and rp.origins do not name a relying party")
        }
    }

    /// Where browsers confirm payments; `nil` when that is not configured.
    private func paymentParty(
        of party: WebAuthn.RelyingParty
    ) throws(ConfigurationError) -> PaymentParty? {
        guard let name = payment.instrumentName, let icon = payment.instrumentIcon else {
            return nil
        }
        do throws(InvalidValue) {
            return try PaymentParty(
                relyingParty: party,
                origins: payment.origins.isEmpty ? party.origins : payment.origins,
                topOrigins: payment.topOrigins,
                instrument: PaymentInstrument(displayName: name, icon: icon))
        } catch {
            throw ConfigurationError("the origins of payment are too long")
        }
    }

    /// How the server listens.
    func serverOptions() -> ServerOptions {
        var limits = ServerLimits()
        limits.bodyBytesMax = self.limits.requestBodyBytes
        limits.bodyBytesReadMax = max(limits.bodyBytesReadMax, 4 * limits.bodyBytesMax)
        limits.readDeadline = .seconds(self.limits.readDeadlineSeconds)
        var secure: TLSOptions?
        if let certificate = tls.certificate, let key = tls.key {
            let authorities = tls.clientCA?.text
            secure = TLSOptions(
                certificateChainFile: certificate.text, privateKeyFile: key.text,
                clientCAFile: authorities,
                // Without authorities there is nothing that a certificate could be checked against.
                clientCertificate: authorities == nil
                    ? .off : .init(rawValue: tls.clientCertificate.rawValue) ?? .required)
        }
        return ServerOptions(
            host: listen.address, port: UInt16(clamping: listen.port), tls: secure, limits: limits,
            makeRequestID: { Hex.encode(EntropySource.openSSL(8)) })
    }
}

extension WebAuthn.RelyingParty {
    /// Asks the client of a customer to sign with one of these passkeys.
    fileprivate var requestOptions: ChallengeIssuer.PasskeyRequestOptions {
        { challenge, passkeys, lifetime in
            RequestOptions(
                relyingParty: self, challenge: challenge.bytes, timeout: lifetime,
                allow: passkeys.map(\.descriptor)
            ).json
        }
    }

    /// Asks the client of a customer to make a passkey.
    ///
    /// Where anything is trusted that an attestation could lead to, one is asked for even when the policy
    /// needs none: what came is recorded, and a later policy may use it.
    ///
    /// - Returns: Builds the options.
    fileprivate func creationOptions(
        policy: VerifierPolicy, use: CreationOptions.Use
    ) -> EnrolmentIssuer.PasskeyCreationOptions {
        { challenge, handle, label, exclude, lifetime, wish in
            CreationOptions(
                relyingParty: self, userHandle: handle,
                userName: label.isEmpty ? name : label, challenge: challenge.bytes,
                timeout: lifetime,
                exclude: exclude.map(\.descriptor), policy: policy,
                attestation: !policy.attestation.anchors.isEmpty || wish == .needed
                    ? .direct : .none,
                use: use
            ).json
        }
    }
}

extension PaymentParty {
    /// Asks the browser of a customer to show a transfer and to have it confirmed.
    fileprivate var request: ChallengeIssuer.PaymentRequest {
        { transfer, challenge, passkeys, lifetime in
            PaymentRequestData(
                party: self, transfer: transfer, challenge: challenge.bytes, timeout: lifetime,
                passkeys: passkeys
            ).json
        }
    }
}

extension ListedPasskey {
    fileprivate var descriptor: CredentialDescriptor {
        CredentialDescriptor(id: credentialID, transports: transports)
    }
}
