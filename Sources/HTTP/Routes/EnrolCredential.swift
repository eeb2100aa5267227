import Countersign

extension APIRoutes {
    /// Opens an enrolment: what the new key is to sign.
    var beginEnrolment: Route {
        gate.route(
            .post, "/v1/customers/{customer_id}/credentials/challenges", for: .backend,
            reading: { request throws(Problem) in try EnrolmentBeginning(request) },
            answer: { call async throws(StoreFailure) in
                guard let customer = call.customerID() else { return Problem.notFound.response }
                let command = BeginEnrolmentCommand(
                    client: call.client, customerID: customer, kind: call.input.kind,
                    label: call.input.label)
                switch try await credentials.beginEnrolment(command) {
                case .begun(let offer): return .json(offer.json, status: 201)
                case .refused(let refusal): return problem(refusal)
                }
            })
    }

    /// Issues the challenge by which an active credential vouches for the new key.
    var beginAuthorization: Route {
        gate.route(
            .post, "/v1/customers/{customer_id}/credentials/authorizations", for: .backend,
            reading: { request throws(Problem) in try AuthorizationBeginning(request) },
            answer: { call async throws(StoreFailure) in
                guard let customer = call.customerID() else { return Problem.notFound.response }
                let outcome = try await credentials.beginAuthorization(
                    customer: customer, enrolment: call.input.enrolment,
                    keyDigest: call.input.keyDigest)
                switch outcome {
                case .challenged(let challenge):
                    return .json(["challenge": challenge.json], status: 201)
                case .refused(let refusal): return problem(refusal)
                }
            })
    }

    /// Registers the new key.
    var finishEnrolment: Route {
        gate.route(
            .post, "/v1/customers/{customer_id}/credentials", for: .backend,
            reading: { request throws(Problem) in try EnrolmentFinish(request) },
            answer: { call async throws(StoreFailure) in
                guard let customer = call.customerID() else { return Problem.notFound.response }
                let command = FinishEnrolmentCommand(
                    client: call.client, customerID: customer,
                    enrolmentID: call.input.enrolment, offered: call.input.offered,
                    authorization: call.input.authorization)
                switch try await credentials.finishEnrolment(command) {
                case .enrolled(let credential):
                    return .json(["credential": credential.json], status: 201)
                case .refused(let refusal):
                    return problem(refusal, keyPointer: call.input.keyPointer)
                }
            })
    }

    private func problem(_ refusal: EnrolmentRefusal, keyPointer: String = "") -> Response {
        Problem(refusal, keyPointer: keyPointer, now: now()).response
    }
}

private struct EnrolmentBeginning: Sendable {
    let kind: CredentialKind
    let label: DisplayText

    init(_ request: Request) throws(Problem) {
        _ = try request.idempotencyKey()
        (kind, label) = try request.body { reader throws(BodyRefusal) in
            let kind = try reader.choice("kind", CredentialKind.self)
            return try reader.displayText("label", .credentialLabel).map { (kind, $0) }
        }
    }
}

private struct AuthorizationBeginning: Sendable {
    let enrolment: ID<Enrolment>
    let keyDigest: Digest

    init(_ request: Request) throws(Problem) {
        _ = try request.idempotencyKey()
        (enrolment, keyDigest) = try request.body { reader throws(BodyRefusal) in
            (try reader.id("enrolment_id"), try reader.digest("key_digest"))
        }
    }
}

private struct EnrolmentFinish: Sendable {
    let enrolment: ID<Enrolment>
    let offered: OfferedCredential
    let authorization: EnrolmentAuthorization

    init(_ request: Request) throws(Problem) {
        _ = try request.idempotencyKey()
        (enrolment, offered, authorization) = try request.body { reader throws(BodyRefusal) in
            let enrolment: ID<Enrolment> = try reader.id("enrolment_id")
            let offered = try reader.offeredCredential()
            let authorization = try reader.enrolmentAuthorization()
            guard let offered, let authorization else { return nil }
            return (enrolment, offered, authorization)
        }
    }

    /// Where the offered key stands in the body.
    var keyPointer: String {
        switch offered {
        case .deviceKey: "/device_key/public_key"
        case .passkey: "/passkey"
        }
    }
}

extension ObjectReader {
    fileprivate mutating func offeredCredential() throws(BodyRefusal) -> OfferedCredential? {
        guard !has("passkey") else {
            return .passkey(
                try passkey { json throws(InvalidValue) in try PasskeyRegistration(json: json) })
        }
        return try object("device_key") { reader throws(BodyRefusal) in
            let publicKey = try reader.string("public_key")
            let signature = try reader.base64("signature")
            let format =
                reader.has("signature_format")
                ? try reader.choice("signature_format", SignatureFormat.self) : .der
            let platform = try reader.optionalValue("platform") { text throws(InvalidValue) in
                try DevicePlatform(text)
            }
            let attestation = try reader.deviceAttestation()
            return .deviceKey(
                OfferedDeviceKey(
                    publicKey: publicKey, signature: signature, signatureFormat: format,
                    platform: platform, attestation: attestation))
        }
    }

    private mutating func deviceAttestation() throws(BodyRefusal) -> DeviceAttestation? {
        guard has("attestation") else { return nil }
        return try object("attestation") { reader throws(BodyRefusal) in
            let format = try reader.string("format")
            guard format != DeviceAttestation.appAttestFormat else {
                return DeviceAttestation(
                    appAttest: AppAttestStatement(
                        object: try reader.base64("object"), keyID: try reader.base64("key_id")))
            }
            let certificates = try reader.base64List("certificates")
            return reader.check("format") { () throws(InvalidValue) in
                try DeviceAttestation(format: format, certificates: certificates)
            }
        }
    }

    fileprivate mutating func enrolmentAuthorization() throws(BodyRefusal)
        -> EnrolmentAuthorization?
    {
        guard has("authorization") else { return EnrolmentAuthorization.none }
        return try object("authorization") { reader throws(BodyRefusal) in
            guard !reader.has("sca_token") else { return .scaToken(try reader.string("sca_token")) }
            return try reader.assertion().map { .assertion(challenge: $0, $1) }
        }
    }
}
