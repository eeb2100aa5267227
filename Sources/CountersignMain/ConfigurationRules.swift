extension Configuration {
    /// The rules over several settings under which the service may start.
    ///
    /// - Throws: ``ConfigurationError`` for the first rule that is broken.
    func checkService() throws(ConfigurationError) {
        if failpoint != nil, !development {
            throw ConfigurationError("failpoint is for development only")
        }
        try checkListener()
        try checkIdentity()
        try checkPayment()
        try checkLog()
        try checkRetention()
        try checkCore()
        try checkEvents()
        try checkApps()
    }

    /// An app is known by its name and its signature together; one alone proves nothing.
    private func checkApps() throws(ConfigurationError) {
        if (android.package == nil) != android.certificates.isEmpty {
            throw ConfigurationError(
                "android.package and android.certificates are set together or not at all")
        }
        if apple.environment == .development, !development {
            throw ConfigurationError("apple.environment = development is for development only")
        }
        if android.package == nil, android.revocationList != nil {
            throw ConfigurationError("android.revocation_list needs android.package")
        }
        try checkPair(
            webauthn.metadata, "webauthn.metadata", webauthn.metadataRoot, "webauthn.metadata_root")
    }

    /// How orders reach core banking. Only one way is open at a time: what is sent cannot be fetched.
    var deliveryMode: DeliveryMode { delivery.mode ?? (core.url == nil ? .pull : .push) }

    /// Loopback is what only this machine can reach: 127.0.0.0/8 and ::1.
    var listensOnLoopback: Bool {
        listen.address.hasPrefix("127.") || listen.address == "::1"
    }

    private func checkListener() throws(ConfigurationError) {
        if development, !listensOnLoopback {
            throw ConfigurationError("development is for loopback only: see listen.address")
        }
        try checkPair(tls.certificate, "tls.certificate", tls.key, "tls.key")
        if tls.certificate == nil {
            guard listensOnLoopback || plainHTTPAllowed else {
                throw ConfigurationError(
                    "tls.certificate is missing; without TLS the service listens on loopback "
                        + "only, unless plain_http_allowed says otherwise")
            }
            if tls.clientCA != nil || tls.clientCertificate == .required {
                throw ConfigurationError("client certificates need tls.certificate")
            }
        } else if tls.clientCertificate == .required, tls.clientCA == nil {
            throw ConfigurationError("tls.client_certificate = required needs tls.client_ca")
        } else if tls.clientCertificate == .off, tls.clientCA != nil {
            throw ConfigurationError("tls.client_ca has no use: tls.client_certificate is off")
        }
    }

    /// Without the identity system's key a stolen backend key could enrol the thief's own.
    private func checkIdentity() throws(ConfigurationError) {
        if identity.key == nil, !development {
            throw ConfigurationError("identity.key is missing; only development runs without it")
        }
        // Every machine has a localhost, so passkeys for it are good for no bank.
        if let id = rp.id, id == "localhost" || id.hasSuffix(".localhost"), !development {
            throw ConfigurationError("rp.id: localhost is for development only")
        }
        let insecure = rp.origins.contains { $0.hasPrefix("http://") }
        if insecure, !development {
            throw ConfigurationError("rp.origins: an http origin is for development only")
        }
    }

    private func checkPayment() throws(ConfigurationError) {
        try checkPair(
            payment.instrumentName, "payment.instrument_name", payment.instrumentIcon,
            "payment.instrument_icon")
        let origins = payment.origins + payment.topOrigins
        if payment.instrumentName == nil, !origins.isEmpty {
            throw ConfigurationError(
                "payment.instrument_name is missing, and other payment settings are there")
        }
        if origins.contains(where: { $0.hasPrefix("http://") }), !development {
            throw ConfigurationError("payment: an http origin is for development only")
        }
    }

    /// Evidence that nobody signed could be written anew by whoever owns the database.
    private func checkLog() throws(ConfigurationError) {
        try checkPair(
            log.signCommand, "log.sign_command", log.verifierKey, "log.verifier_key")
        try checkPair(
            log.oldSignCommand, "log.old_sign_command", log.oldVerifierKey, "log.old_verifier_key")
        if log.timestampURLs.isEmpty != (log.timestampCA == nil) {
            throw ConfigurationError(
                "log.timestamp_urls and log.timestamp_ca are set together or not at all")
        }
        if log.timestampURLs.contains(where: { $0.hasPrefix("http://") }), !development {
            throw ConfigurationError("log.timestamp_urls: http is for development only")
        }
        guard log.key == nil, log.signCommand == nil else {
            return development ? () : try checkOutside()
        }
        if !development {
            throw ConfigurationError(
                "log.key or log.sign_command is missing; only development runs without a log")
        }
        let hasOthers = [
            log.mirror, log.oldKey, log.oldSignCommand, log.witnessPolicy, log.timestampCA,
            promise.key,
        ]
        .contains { $0 != nil }
        if hasOthers {
            throw ConfigurationError(
                "log.key or log.sign_command is missing, and other log settings are there")
        }
    }

    /// What a production must have so that whoever owns the database can neither set it back nor leave anything out
    /// unnoticed.
    private func checkOutside() throws(ConfigurationError) {
        if log.mirror == nil, log.witnessPolicy == nil {
            throw ConfigurationError(
                "log.mirror or log.witness_policy is missing: a database that was set back would go unnoticed"
            )
        }
        if promise.key == nil {
            throw ConfigurationError(
                "promise.key is missing; only development answers without a promise of the record")
        }
    }

    /// Records of payments are kept for five years; the database refuses less too.
    /// - Throws: ``ConfigurationError``.
    func checkRetention() throws(ConfigurationError) {
        if evidence.retentionDays < Self.retentionDaysMin, !development {
            throw ConfigurationError(
                "evidence.retention_days: less than \(Self.retentionDaysMin) is for development only"
            )
        }
    }

    /// Five years, of which at most two have a leap day. Source: standards EV-02.
    private static let retentionDaysMin = 1826

    private func checkCore() throws(ConfigurationError) {
        try checkPair(core.certificate, "core.certificate", core.key, "core.key")
        try checkPair(
            core.signingKey, "core.signing_key", core.signingKeyID, "core.signing_key_id")
        guard let url = core.url else {
            if delivery.mode == .push {
                throw ConfigurationError("delivery.mode = push needs core.url")
            }
            // Nothing is delivered: approved orders wait in the database. Events may be sent all the same.
            let hasOthers = core.signingKey != nil || core.certificate != nil || core.ca != nil
            if hasOthers, events.url == nil {
                throw ConfigurationError("core.url is missing, and other core settings are there")
            }
            return
        }
        if core.signingKey == nil {
            throw ConfigurationError("core.url needs core.signing_key: orders are signed")
        }
        if url.hasPrefix("http://"), !development {
            throw ConfigurationError("core.url: http is for development only")
        }
    }

    private func checkEvents() throws(ConfigurationError) {
        guard let url = events.url else { return }
        if core.signingKey == nil {
            throw ConfigurationError("events.url needs core.signing_key: events are signed")
        }
        if url.hasPrefix("http://"), !development {
            throw ConfigurationError("events.url: http is for development only")
        }
    }

    private func checkPair(
        _ first: (some Sendable)?, _ firstName: String,
        _ second: (some Sendable)?, _ secondName: String
    ) throws(ConfigurationError) {
        if (first == nil) != (second == nil) {
            throw ConfigurationError(
                "\(firstName) and \(secondName) are set together or not at all")
        }
    }
}
