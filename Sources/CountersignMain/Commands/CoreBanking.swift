import Countersign
import Crypto
import Foundation

extension Command {
    /// The demo's counterpart; it verifies every signature itself and trusts nobody.
    static let coreBanking = Command(
        name: "core-banking", summary: "Run the stand-in for core banking that the demo uses",
        options: [
            .init(
                name: "journal", placeholder: "FILE", what: "where its books are kept",
                isRequired: true),
            .init(
                name: "service-key", placeholder: "FILE",
                what: "the signing service's Ed25519 public key, PEM", isRequired: true),
            .init(
                name: "service-key-id", placeholder: "ID", what: "the name of that key",
                isRequired: true),
            .init(
                name: "audience", placeholder: "RP_ID",
                what: "the relying-party ID that customers sign for", isRequired: true),
            .init(
                name: "officer-keys", placeholder: "FILE",
                what: "the officers' keys, a JSON list of person, key_id and public_key; "
                    + "without it nothing that officers approve is carried out"),
            .init(
                name: "faults", placeholder: "LIST",
                what: "for tests: what goes wrong with the first orders: none, fail-before, "
                    + "fail-after, delay=MS or die, with commas between"),
            .init(
                name: "event-faults", placeholder: "LIST",
                what: "for tests: the same of the first batches of events"),
            .init(
                name: "hold-clock-ahead", placeholder: "SECONDS",
                what: "for tests: how far its clock is ahead when it looks at a hold of officers"),
        ],
        settings: ["listen"]
    ) { invocation in
        // Before anything is started, so that no signal finds its default action.
        let signals = await signalStream([SIGTERM, SIGINT])
        let options = try CoreBankingStandIn.Options(invocation)
        let serving = Task {
            try await CoreBankingStandIn.run(options) { port in
                Log.event(.serviceStarted, .count("port", Int(port)))
            }
        }
        for await _ in signals { break }
        serving.cancel()
        try await serving.value
    }
}

extension CoreBankingStandIn.Options {
    /// Reads the command's options.
    fileprivate init(_ invocation: Invocation) throws {
        let file = SecretFile(
            path: invocation.option("service-key") ?? "", setting: "--service-key")
        let key: Ed25519PublicKey
        do { key = try Ed25519PublicKey(pem: file.text()) } catch {
            throw CommandFailure("--service-key is no Ed25519 public key in PEM")
        }
        guard let faults = Faults(list: invocation.option("faults") ?? "") else {
            throw UsageError("--faults is not a list")
        }
        guard let eventFaults = Faults(list: invocation.option("event-faults") ?? "") else {
            throw UsageError("--event-faults is not a list")
        }
        guard let ahead = UInt32(invocation.option("hold-clock-ahead") ?? "0") else {
            throw UsageError("--hold-clock-ahead is not a number of seconds")
        }
        let listen = invocation.configuration.listen
        self.init(
            host: listen.address, port: UInt16(clamping: listen.port),
            journal: invocation.option("journal") ?? "",
            serviceKeys: [invocation.option("service-key-id") ?? "": key],
            audience: invocation.option("audience") ?? "",
            officerKeys: invocation.option("officer-keys"), faults: faults,
            eventFaults: eventFaults, holdClockAhead: Seconds(Int64(ahead)))
    }
}
