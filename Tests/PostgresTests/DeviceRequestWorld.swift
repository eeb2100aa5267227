import Countersign
import Crypto
import Evidence
import Postgres
import TestSupport

extension EnrolmentWorld {
    /// The use case as one instance of the service wires it.
    func requests(
        over database: Database? = nil, general: RequestMode = .enforce
    ) -> VerifyDeviceRequest<PostgresDeviceRequestStore, some AssertionVerifier> {
        VerifyDeviceRequest(
            store: requestStore(over: database), verifier: verifier, entropy: .openSSL,
            general: general)
    }

    func requestStore(over database: Database? = nil) -> PostgresDeviceRequestStore {
        PostgresDeviceRequestStore(database: database ?? self.database, sealer: sealer)
    }

    /// A request at the database's time.
    func draft(_ phone: Phone, nonce: String = "nonce-0001") async throws -> RequestDraft {
        let now = try await now()
        return RequestDraft(phone.credential).with {
            $0.timestamp = now.milliseconds / 1000
            $0.nonce = nonce
        }
    }

    /// A request of now, signed by the phone.
    func signed(_ phone: Phone, nonce: String = "nonce-0001") async throws -> DeviceRequest {
        try await draft(phone, nonce: nonce).signed { try phone.key.sign($0) }
    }

    func setMode(_ choice: RequestModeChoice, of phone: Phone) async throws -> RequestSigning? {
        try await requests().setRequestSigning(
            SetRequestSigningCommand(
                client: client, credential: phone.credential, choice: choice))
    }

    func housekeeping() -> Housekeeping { Housekeeping(database: database, sealer: sealer) }

    /// How many accepted requests are remembered.
    func remembered() async throws -> Int {
        try await count("SELECT count(*) FROM countersign.device_request")
    }
}
