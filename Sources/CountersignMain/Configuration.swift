import Countersign
import WebAuthn

/// Every setting of the program with the value it has for this run.
///
/// The properties are named as the settings are: `tls.client_ca` is `tls.clientCA`. What a setting
/// means stands once, in the table `Setting.all`, from which help and `docs/operations.md` come.
struct Configuration: Sendable {
    var development = false
    var plainHTTPAllowed = false
    var database = Database()
    var listen = Listen()
    var tls = TLS()
    var rp = RelyingParty()
    var webauthn = WebAuthnOptions()
    var android = Android()
    var apple = Apple()
    var payment = Payment()
    var identity = Identity()
    var evidence = Evidence()
    var privacy = Privacy()
    var log = Log()
    var promise = Promise()
    var core = Core()
    var delivery = Delivery()
    var events = Events()
    var policy = PolicyOptions()
    var deviceRequests = DeviceRequests()
    var limits = Limits()
    var failpoint: Failpoint?

    struct Database: Sendable {
        var url: Redacted<String>?
        var adminURL: Redacted<String>?
        var poolSize = 0
    }

    struct Listen: Sendable {
        var address = ""
        var port = 0
    }

    struct TLS: Sendable {
        var certificate: FilePath?
        var key: FilePath?
        var clientCA: FilePath?
        var clientCertificate = ClientCertificate.required
    }

    /// Whether a caller must present a certificate; one that is presented must verify.
    enum ClientCertificate: String, CaseIterable, Sendable { case off, optional, required }

    struct RelyingParty: Sendable {
        var id: String?
        var name: String?
        var origins: [String] = []
    }

    struct WebAuthnOptions: Sendable {
        var algorithms: [COSEAlgorithm] = []
        var attestationAnchors: FilePath?
        var metadata: FilePath?
        var metadataRoot: FilePath?
    }

    struct Android: Sendable {
        var package: String?
        /// SHA-256 of each certificate that signs the app.
        var certificates: [Digest] = []
        var patchLevelMin = 0
        var revocationList: FilePath?
        var revocationListMaxAgeHours = 0
    }

    struct Apple: Sendable {
        /// `TEAMID.bundle.id`.
        var appID: String?
        var environment = AppAttestEnvironment.production
    }

    /// Which of Apple's App Attest services the app's attestations come from.
    enum AppAttestEnvironment: String, CaseIterable, Sendable { case production, development }

    /// Payments that browsers confirm; off while ``instrumentName`` and ``instrumentIcon`` are not set.
    struct Payment: Sendable {
        var instrumentName: String?
        var instrumentIcon: String?
        /// Empty for those of the relying party.
        var origins: [String] = []
        var topOrigins: [String] = []
    }

    struct Identity: Sendable {
        var key: FilePath?
    }

    struct Evidence: Sendable {
        var origin: String?
        var keyEncryptionKey: FilePath?
        var keyEncryptionCommand: FilePath?
        /// How old the newest record of a customer must be before it is erased, and a month before it is detached.
        var retentionDays = 0
    }

    /// Erasure, which only a role of the database of its own can do.
    struct Privacy: Sendable {
        var databaseURL: Redacted<String>?
    }

    /// The word that callers get for each record of a decision.
    struct Promise: Sendable {
        var key: FilePath?
        /// How long after its making a record may still be missing in the log.
        var withinSeconds = 0
    }

    /// The log over all evidence, and what signs its checkpoints.
    struct Log: Sendable {
        var key: FilePath?
        var signCommand: FilePath?
        var verifierKey: String?
        var oldKey: FilePath?
        var oldSignCommand: FilePath?
        var oldVerifierKey: String?
        var tickMilliseconds = 0
        /// Where the log is copied to; `nil` when it is not.
        var mirror: FilePath?
        /// Whom to have cosign checkpoints (C2SP tlog-policy).
        var witnessPolicy: FilePath?
        /// Whom to have stamp them (RFC 3161), and in which certificates their paths end.
        var timestampURLs: [String] = []
        var timestampCA: FilePath?
        /// Under which of their policies; none for every one.
        var timestampPolicies: [String] = []
        /// Between two rounds of witnesses, and between two questions to one authority.
        var witnessSeconds = 0
        var timestampSeconds = 0
        /// Until an alarm tells that they are silent.
        var alarmSeconds = 0
    }

    struct Core: Sendable {
        var url: String?
        var ca: FilePath?
        var certificate: FilePath?
        var key: FilePath?
        var signingKey: FilePath?
        var signingKeyID: String?
    }

    struct Delivery: Sendable {
        var slots = 0
        /// `nil`: as ``Configuration/deliveryMode`` says.
        var mode: DeliveryMode?
    }

    /// How core banking gets orders: the raw value is its word in the settings.
    enum DeliveryMode: String, CaseIterable, Sendable {
        /// They are sent to `core.url`.
        case push
        /// It leases them.
        case pull
        /// They wait in the database.
        case off
    }

    struct Events: Sendable {
        /// Where the feed is sent; `nil` when it is not.
        var url: String?
    }

    struct PolicyOptions: Sendable {
        var decisionRetentionDays = 0
    }

    struct DeviceRequests: Sendable {
        var mode = RequestMode.enforce
    }

    struct Limits: Sendable {
        var requestBodyBytes = 0
        var readDeadlineSeconds = 0
        var drainSeconds = 0
    }

    /// The defaults of the table.
    init() {
        for setting in Setting.all {
            guard let fallback = setting.fallback else { continue }
            let accepted = setting.assign(&self, fallback)
            precondition(accepted, "the default of \(setting.name) is not a value of it")
        }
    }
}

/// The path of a file, as it was written.
struct FilePath: Hashable, Sendable {
    let text: String
}

/// A setting is unknown, missing, or wrong; the program does not start.
struct ConfigurationError: Error, Equatable {
    /// Names the setting and where it was set, never its value.
    let message: String

    init(_ message: String) { self.message = message }
}
