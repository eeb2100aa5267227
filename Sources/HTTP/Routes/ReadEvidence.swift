import Countersign

extension APIRoutes {
    /// Records of evidence, oldest first, page by page. That they were read is evidence too.
    var listEvidence: Route {
        gate.route(
            .get, "/v1/evidence", for: .auditor,
            reading: { request throws(Problem) in
                let reader = try QueryReader(
                    request, allowing: EvidenceQuery.filters + ["limit", "cursor"])
                return try EvidenceQuery(reader, limit: try reader.limit())
            },
            answer: { call async throws(StoreFailure) in
                let page = try await evidence.records(call.input, reader: call.client)
                return .json(
                    [
                        "evidence": .array(page.records.map { .object($0.members) }),
                        "next_cursor": .optional(page.next.map { Page.cursor(after: $0) }),
                    ], headers: ["Countersign-Complete-Until": page.completeUntil.text])
            })
    }

    /// One record with the raw bytes of message, assertion and public key.
    var readEvidence: Route {
        gate.route(
            .get, "/v1/evidence/{id}", for: .auditor,
            reading: { request throws(Problem) in try request.refuseQuery() },
            answer: { call async throws(StoreFailure) in
                guard let id: ID<Evidence> = call.id(),
                    let detail = try await evidence.record(id, reader: call.client)
                else { return Problem.notFound.response }
                return .json(["evidence": detail.json])
            })
    }

    /// The file that proves the decision of a record's action to a stranger.
    var readBundle: Route {
        gate.route(
            .get, "/v1/evidence/{id}/bundle", for: .auditor,
            reading: { request throws(Problem) in try request.refuseQuery() },
            answer: { call async throws(StoreFailure) in
                guard let id: ID<Evidence> = call.id() else { return Problem.notFound.response }
                switch try await evidence.bundle(of: id, reader: call.client) {
                case .bundle(let bundle):
                    return Response(
                        status: 200, headers: ["Content-Type": "application/json"], body: bundle)
                case .notFound: return Problem.notFound.response
                case .detached(let kind): return Problem.evidenceDetached(kind).response
                }
            })
    }
}

extension EvidenceQuery {
    private static let kindLengthMax = 64
    /// The parameters by which records are chosen.
    static let filters = [
        "action_id", "external_id", "customer_id", "subject_id", "credential_id", "kind", "outcome",
        "policy_version", "policy_digest", "hold", "from", "to",
    ]

    /// - Throws: 400 for a value that is not understood: to show what was not asked for would be worse.
    init(_ reader: QueryReader, limit: Int) throws(Problem) {
        let kind = reader.text("kind")
        guard (1...Self.kindLengthMax).contains(kind?.utf8.count ?? 1) else {
            throw .malformedRequest("The parameter kind must be a word like action.approved.")
        }
        self.init(
            actionID: try reader.id("action_id"),
            customerID: try reader.customerID("customer_id"),
            credentialID: try reader.id("credential_id"), kind: kind,
            from: try reader.instant("from"), to: try reader.instant("to"),
            limit: limit, after: try reader.cursor())
        externalID = try reader.externalID("external_id")
        subject = try reader.id("subject_id")
        outcome = try reader.word("outcome")
        policyVersion = try reader.number("policy_version")
        policyDigest = try reader.digest("policy_digest")
        hold = try reader.word("hold").map { word in
            switch word {
            case "with": .with
            case "without": .without
            default: .rule(word)
            }
        }
    }
}

extension EvidenceRecord {
    /// As every list shows a record.
    var members: [JSON.Member] {
        [
            .init("id", .string(id.text)),
            .init("kind", .string(kind)),
            .init("at", .string(at.text)),
            .init("action_id", .optional(actionID?.text)),
            .init("customer_id", .optional(customerID?.text)),
            .init("credential_id", .optional(credentialID?.text)),
            .init("leaf", .string(Base64.encodeURL(leaf))),
            .init("leaf_hash", .string(leafHash.hex)),
            .init("body", body ?? .null),
        ]
    }
}

extension EvidenceDetail {
    fileprivate var json: JSON {
        .object(
            record.members + [
                .init("message", .optional(message.map { Base64.encodeURL($0) })),
                .init("assertion", assertion?.json ?? .null),
            ])
    }
}
