import Countersign
import Crypto
import Delivery

/// A customer with an enrolled device key and one payee.
struct BenchCustomer: Sendable {
    let id: String
    /// The ID that the service gave to the device key.
    let credential: String
    let key: P256PrivateKey
}

/// How long the parts of one flow took, in microseconds.
struct FlowTimes: Sendable {
    /// From the first request's making to the last answer, signing included.
    let flow: Int64
    let create: Int64
    let approve: Int64
}

/// Why a flow did not come to its end.
struct FlowError: Error {
    /// What to count it under: `approve 409 already-decided`.
    let kind: String
    /// Nobody answered: the connection need not try again.
    var isUnanswered = false
}

/// One caller on one kept-alive connection: creates, signs, approves, one flow after another.
struct Caller: Sendable {
    private let base: String
    private let fields: [HTTPField]
    private let transport: HTTPClient

    /// - Throws: ``CommandFailure`` when libcurl cannot be started.
    init(base: String, key: String) throws(CommandFailure) {
        self.base = base
        fields = [
            HTTPField("Authorization", "Bearer \(key)"),
            HTTPField("Content-Type", "application/json"),
        ]
        do throws(TransportFailure) {
            // One slot is one thread with one handle, and so one connection.
            transport = try HTTPClient(
                HTTPClient.Options(
                    connectTimeout: .seconds(5), totalTimeout: .seconds(30), authoritiesFile: nil,
                    clientCertificate: nil, plainHTTP: .toLoopbackOnly, slots: 1))
        } catch {
            throw CommandFailure("libcurl cannot be started")
        }
    }

    /// Plays one flow.
    ///
    /// - Throws: ``FlowError`` for any answer but a transfer that was approved and is ready.
    func flow(of customer: BenchCustomer) async throws(FlowError) -> FlowTimes {
        let begin = ContinuousClock.now
        let random = EntropySource.openSSL(18)
        let body = Self.transfer(of: customer.id, cents: 100 + Int(random[0]) * 3)
        let idempotency = HTTPField(
            "Idempotency-Key", "\"\(Hex.encode(Bytes(random.suffix(16))))\"")
        let created = try await post("create", "/v1/actions", [idempotency], body, expecting: 201)
        let afterCreate = ContinuousClock.now
        guard let action = Self.text(after: #""action":{"id":""#, in: created),
            let challenge = Self.text(after: #""challenge":{"id":""#, in: created),
            let message = Self.text(after: #""messages":{"approve":""#, in: created)
                .flatMap({ Base64.decodeURL($0) })
        else { throw FlowError(kind: "create: not as documented") }
        let signature: Bytes
        do throws(OpenSSLFailure) { signature = try customer.key.sign(message) } catch {
            throw FlowError(kind: "sign")
        }
        let answer = """
            {"challenge_id":"\(challenge)","credential_id":"\(customer.credential)",\
            "device_key":{"signature":"\(Base64.encode(signature))"}}
            """
        let beforeApprove = ContinuousClock.now
        let approved = try await post(
            "approve", "/v1/actions/\(action)/approve", [], Bytes(answer.utf8), expecting: 200)
        let end = ContinuousClock.now
        guard Self.text(after: #""authorization":""#, in: approved) == "approved",
            Self.text(after: #""execution":""#, in: approved) == "ready"
        else { throw FlowError(kind: "approve: not approved and ready") }
        return FlowTimes(
            flow: (end - begin).microseconds, create: (afterCreate - begin).microseconds,
            approve: (end - beforeApprove).microseconds)
    }

    private func post(
        _ step: String, _ path: String, _ more: [HTTPField], _ body: Bytes, expecting status: Int
    ) async throws(FlowError) -> Bytes {
        guard let url = HTTPURL(base + path) else { throw FlowError(kind: "\(step): no URL") }
        let response: HTTPResponse
        do throws(TransportFailure) {
            response = try await transport.send(
                HTTPRequest(.post, url, fields: fields + more, body: body))
        } catch {
            throw FlowError(kind: "\(step): \(error)", isUnanswered: true)
        }
        guard response.status == status else {
            let slug = Self.text(
                after: #""type":"https://countersign.dev/problems/"#, in: response.body)
            throw FlowError(kind: "\(step) \(response.status) \(slug ?? "")")
        }
        return response.body
    }

    private static func transfer(of customer: String, cents: Int) -> Bytes {
        let amount = "\(cents / 100).\(cents % 100 < 10 ? "0" : "")\(cents % 100)"
        return Bytes(
            """
            {"customer_id":"\(customer)","kind":"transfer","transfer":{"amount":"\(amount)",\
            "currency":"EUR","debtor_account":{"iban":"DE89370400440532013000"},\
            "payee":{"name":"\(Cast.knownName)","account":{"iban":"\(Cast.knownAccount)"}},\
            "reference":"Invoice 4711"},\
            "risk":{"segment":"retail","signals":["new_device"],"name_check":"match"}}
            """.utf8)
    }

    /// The text between `prefix` and the next quote. The load generator must cost little, and no quote
    /// inside of a JSON string is without its backslash.
    static func text(after prefix: StaticString, in json: Bytes) -> String? {
        let prefix = Bytes(prefix.description.utf8)
        guard let range = json.firstRange(of: prefix) else { return nil }
        let rest = json[range.upperBound...]
        guard let end = rest.firstIndex(of: UInt8(ascii: "\"")) else { return nil }
        return String(decoding: rest[..<end], as: UTF8.self)
    }
}
