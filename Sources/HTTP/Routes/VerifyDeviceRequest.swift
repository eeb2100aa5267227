import Countersign

extension APIRoutes {
    /// Judges a request that a customer's phone signed.
    ///
    /// What the phone sent may be anything and leads to a verdict. Only what the backend itself adds
    /// has a form whose fault is the backend's: 400.
    var verifyDeviceRequest: Route {
        gate.route(
            .post, "/v1/device-requests/verify", for: .backend,
            reading: { request throws(Problem) in
                try request.body { reader throws(BodyRefusal) in try reader.deviceRequest() }
            },
            answer: { call async throws(StoreFailure) in
                let answer = try await deviceRequests.verify(call.input.request(by: call.client))
                verdicts.count(answer)
                return .json(answer.json)
            })
    }
}

/// Counts verdicts; no ID and no customer is in a label.
struct DeviceRequestCount: Sendable {
    private let counters: Counters

    init(_ metrics: Metrics) {
        counters = metrics.counters(
            "countersign_device_requests_total",
            help: "Signed requests of phones, by mode and by reason of refusal: none if verified.",
            labels: [
                Metrics.Label("mode", RequestMode.allCases.map(\.rawValue)),
                Metrics.Label("reason", ["none"] + DeviceRequestRefusal.allCases.map(\.rawValue)),
            ])
    }

    func count(_ answer: DeviceRequestAnswer) {
        counters.increment(answer.mode.rawValue, answer.refusal?.rawValue ?? "none")
    }
}

/// The body, before it is known who sent it.
private struct DeviceRequestBody: Sendable {
    let profile: RequestProfile
    let method: String
    let target: String
    let bodyDigest: Digest
    let fields: SignatureFields
    let customerID: CustomerID?

    func request(by client: ID<Client>) -> DeviceRequest {
        DeviceRequest(
            client: client, profile: profile, method: method, target: target,
            bodyDigest: bodyDigest, fields: fields, customerID: customerID)
    }
}

extension ObjectReader {
    fileprivate mutating func deviceRequest() throws(BodyRefusal) -> DeviceRequestBody {
        let profile = try requestProfile()
        let method = try string("method")
        let target = try string("target")
        let bodyDigest = try digest("body_sha256")
        let fields = try signatureFields("headers")
        let customerID = try optionalValue("customer_id") { text throws(InvalidValue) in
            try CustomerID(text)
        }
        return DeviceRequestBody(
            profile: profile, method: method, target: target, bodyDigest: bodyDigest,
            fields: fields, customerID: customerID)
    }

    /// The host goes with the profile that signs it, and with no other: one that is sent and not
    /// looked at would be believed to be signed.
    private mutating func requestProfile() throws(BodyRefusal) -> RequestProfile {
        let name =
            has("profile") ? try choice("profile", RequestProfile.Name.self) : .target
        switch (name, try optionalString("host")) {
        case (.target, nil): return .target
        case (.hostAndTarget, let host?): return .hostAndTarget(host: host)
        case (.target, .some):
            throw Self.malformed("This profile has no host.", at: pointer.member("host"))
        case (.hostAndTarget, nil):
            throw Self.malformed("This profile needs the host.", at: pointer.member("host"))
        }
    }

    /// The fields as sent, by names in any case: a string, an array of strings, or nothing.
    ///
    /// Servers spell names in their own way, and some give one field under two spellings: then both
    /// count.
    private mutating func signatureFields(
        _ name: String
    ) throws(BodyRefusal) -> SignatureFields {
        guard case .object(let members)? = try optionalDocument(name) else {
            throw Self.malformed("An object is missing here.", at: pointer.member(name))
        }
        var fields = SignatureFields()
        for member in members {
            let place = pointer.member(name).member(member.name)
            guard
                let field = SignatureFields.Name.allCases.first(where: {
                    ASCII.equalIgnoringCase($0.rawValue, member.name)
                })
            else { throw Self.malformed("There is no member of this name here.", at: place) }
            guard let values = member.value.fieldValues else {
                throw Self.malformed("A string or an array of strings is needed here.", at: place)
            }
            fields.append(field, values)
        }
        return fields
    }
}

extension JSON {
    /// The values of one header field; `nil` for what is none.
    fileprivate var fieldValues: [String]? {
        switch self {
        case .null: return []
        case .string(let value): return [value]
        case .array(let values):
            let texts = values.compactMap(\.text)
            return texts.count == values.count ? texts : nil
        case .bool, .integer, .fraction, .object: return nil
        }
    }
}
