import Countersign
import HTTP
import Testing

@Suite struct `Credentials over HTTP` {
    private static let path = "/v1/customers/c-1001/credentials"

    @Test func `opening an enrolment`() async throws {
        let api = FakeAPI()
        try await api.serve { api async throws in
            let answer = try await api.post(
                "\(Self.path)/challenges", #"{"kind": "passkey", "label": "Erika's phone"}"#,
                headers: [])
            #expect(answer.status == 201)
            #expect(
                APIAnswer.names(answer.json) == ["enrolment_id", "expires_at", "kind", "message"])
            #expect(answer.json["message"] == .string(Base64.encodeURL(Bytes("enrol".utf8))))
            #expect(try await api.post("\(Self.path)/challenges", Body.enrolment).status == 201)
        }
        let commands = api.credentials.beginnings.values
        #expect(commands.map(\.kind) == [.passkey, .deviceKey])
        #expect(commands.map(\.label.text) == ["Erika's phone", ""])
        #expect(commands.allSatisfy { $0.customerID == Fixture.customerID })
        #expect(commands.allSatisfy { $0.client == Fixture.client(.backend).id })
    }

    @Test(arguments: [
        (#"{"kind": "password"}"#, ["/kind choice_unknown"]),
        (
            #"{"kind": "passkey", "label": "\#(String(repeating: "x", count: 65))"}"#,
            ["/label text_too_long"]
        ),
    ])
    func `an enrolment of something else`(body: String, faults: [String]) async throws {
        try await FakeAPI().serve { api async throws in
            let answer = try await api.post("\(Self.path)/challenges", body)
            #expect(answer.status == 422)
            #expect(answer.faults == faults)
        }
    }

    @Test func `asking an active credential to vouch`() async throws {
        let api = FakeAPI()
        try await api.serve { api async throws in
            let answer = try await api.post("\(Self.path)/authorizations", Body.authorization)
            #expect(answer.status == 201)
            #expect(
                APIAnswer.names(answer.json["challenge"]) == [
                    "enrolment_id", "expires_at", "id", "message", "webauthn",
                ])
            for (old, new) in [
                (Fixture.leafHash.hex, "00"), (Fixture.leafHash.hex, "xyz"),
                (Body.enrolmentID, "e"),
            ] {
                let body = Body.authorization.replacing(old, with: new)
                #expect(try await api.post("\(Self.path)/authorizations", body).status == 400)
            }
        }
        #expect(api.credentials.digests.values == [Fixture.leafHash])
    }

    @Test func `a device key with a token`() async throws {
        let api = FakeAPI()
        try await api.serve { api async throws in
            let answer = try await api.post(Self.path, Body.deviceKey, headers: [])
            #expect(answer.status == 201)
            #expect(
                APIAnswer.names(answer.json["credential"]) == [
                    "assurance", "attestation", "backup_eligible", "backup_state", "created_at",
                    "customer_id", "id", "kind", "label", "revoked_at", "signature_format",
                    "status",
                    "usable_at",
                ])
            #expect(answer.json["credential"]?["status"] == "active")
            let attestation = answer.json["credential"]?["attestation"]
            #expect(APIAnswer.names(attestation) == ["facts", "format", "profiles", "verdict"])
            #expect(attestation?["format"] == "packed" && attestation?["verdict"] == "self")
            #expect(attestation?["profiles"] == [] && attestation?["facts"] == [:])
            #expect(answer.json["credential"]?["signature_format"] == .null)
        }
        let command = try #require(api.credentials.finishes.values.first)
        #expect(command.enrolmentID.text == Body.enrolmentID)
        #expect(command.authorization == .scaToken("a.b.c"))
        #expect(
            command.offered
                == .deviceKey(
                    OfferedDeviceKey(
                        publicKey: "-----BEGIN PUBLIC KEY-----",
                        signature: [0x30, 0x45, 0x02, 0xFB, 0xFF],
                        platform: try DevicePlatform("ios"), attestation: nil)))
    }

    @Test func `a passkey that a device key vouches for`() async throws {
        let api = FakeAPI()
        try await api.serve { api async throws in
            #expect(try await api.post(Self.path, Body.registration).status == 201)
        }
        let command = try #require(api.credentials.finishes.values.first)
        #expect(
            command.offered
                == .passkey(
                    PasskeyRegistration(
                        rawID: [1, 2, 3], clientDataJSON: Bytes("{}".utf8),
                        attestationObject: [4, 5, 6], transports: ["internal"])))
        #expect(
            command.authorization
                == .assertion(
                    challenge: Fixture.id(2),
                    .deviceKey(
                        credential: Fixture.credential.id,
                        signature: [0x30, 0x45, 0x02, 0xFB, 0xFF])))
    }

    @Test func `nobody vouching is handed on, for the service to judge`() async throws {
        let api = FakeAPI()
        try await api.serve { api async throws in
            for authorization in [#""authorization": null"#, #""platform": null"#] {
                let body = """
                    {"enrolment_id": "\(Body.enrolmentID)",
                     "device_key": {"public_key": "x", "signature": ""}, \(authorization)}
                    """.replacing(#", "platform": null"#, with: "")
                #expect(try await api.post(Self.path, body).status == 201)
            }
        }
        #expect(api.credentials.finishes.values.map(\.authorization) == [.none, .none])
    }

    @Test func `an attestation with its certificates`() async throws {
        let api = FakeAPI()
        let attestation =
            #""attestation": {"format": "android-key", "certificates": ["AQID", "BA=="]}"#
        try await api.serve { api async throws in
            let body = Body.deviceKey.replacing(#""platform": "ios""#, with: attestation)
            #expect(try await api.post(Self.path, body).status == 201)
            for (old, new, status) in [
                ("BA==", "BA", 400), ("android-key", "Android", 422),
                (#"["AQID", "BA=="]"#, "[]", 422), (#"["AQID", "BA=="]"#, "[1]", 400),
            ] {
                let bad = body.replacing(old, with: new)
                #expect(try await api.post(Self.path, bad).status == status)
            }
        }
        guard case .deviceKey(let key)? = api.credentials.finishes.values.first?.offered else {
            Issue.record("no device key")
            return
        }
        let sent = try DeviceAttestation(format: "android-key", certificates: [[1, 2, 3], [4]])
        #expect(key.attestation == sent)
    }

    @Test func `the format of its signatures, and an attestation of App Attest`() async throws {
        let api = FakeAPI()
        let members =
            #""signature_format": "raw", "attestation": "#
            + #"{"format": "app-attest", "object": "AQID", "key_id": "BA=="}"#
        try await api.serve { api async throws in
            let body = Body.deviceKey.replacing(#""platform": "ios""#, with: members)
            #expect(try await api.post(Self.path, body).status == 201)
            for (old, new, status) in [
                ("AQID", "AQ-_", 400), (#""key_id": "BA==""#, #""key_id": 4"#, 400),
                (#", "key_id": "BA==""#, "", 400), (#""object": "AQID", "#, "", 400),
                (#""key_id""#, #""certificates": ["AQID"], "key_id""#, 400),
                ("app-attest", "android-key", 400), (#""raw""#, #""jose""#, 422),
                (#""raw""#, "1", 400),
            ] {
                let bad = body.replacing(old, with: new)
                #expect(try await api.post(Self.path, bad).status == status, "\(old) \(new)")
            }
        }
        #expect(api.credentials.finishes.values.count == 1)
        guard case .deviceKey(let key)? = api.credentials.finishes.values.first?.offered else {
            Issue.record("no device key")
            return
        }
        #expect(key.signatureFormat == .raw)
        let statement = AppAttestStatement(object: [1, 2, 3], keyID: [4])
        #expect(key.attestation == DeviceAttestation(appAttest: statement))
    }

    @Test(arguments: [
        (#""signature": "MEUC+/8=","#, #""signature": "MEUC-_8","#, 400),
        (#""public_key": "-----BEGIN PUBLIC KEY-----", "#, "", 400),
        (#""platform": "ios""#, #""platform": "iOS""#, 422),
        (#""device_key""#, #""device""#, 400),
        (#"{"sca_token": "a.b.c"}"#, "{}", 400),
        (#"{"sca_token": "a.b.c"}"#, #"{"sca_token": "a", "more": 1}"#, 400),
        (#"{"sca_token": "a.b.c"}"#, #""a.b.c""#, 400),
        (#""authorization""#, #""passkey": {}, "authorization""#, 400),
    ])
    func `finishes of another shape`(old: String, new: String, status: Int) async throws {
        let body = Body.deviceKey.replacing(old, with: new)
        try #require(body != Body.deviceKey)
        let api = FakeAPI()
        try await api.serve { api async throws in
            #expect(try await api.post(Self.path, body).status == status)
        }
        #expect(api.credentials.finishes.values.isEmpty)
    }

    @Test func `the list`() async throws {
        try await FakeAPI().serve { api async throws in
            let answer = try await api.get(Self.path)
            #expect(answer.status == 200)
            guard case .array(let credentials)? = answer.json["credentials"] else {
                Issue.record("no list")
                return
            }
            #expect(credentials.map { $0["id"] } == [.string(Body.credentialID)])
        }
    }

    @Test func `revoking`() async throws {
        let api = FakeAPI()
        try await api.serve { api async throws in
            let path = "/v1/credentials/\(Body.credentialID)/revoke"
            let answer = try await api.post(path, #"{"reason": "lost"}"#)
            #expect(answer.status == 200)
            #expect(answer.json["credential"]?["id"] == .string(Body.credentialID))
            let other: ID<Credential> = Fixture.id(99)
            let none = try await api.post("/v1/credentials/\(other.text)/revoke", Body.reason)
            #expect(none.slug == "not-found")
        }
        let first = try #require(api.credentials.revocations.values.first)
        #expect(first.reason == "lost")
        #expect(first.client == Fixture.client(.backend).id)
    }
}

@Suite struct `Evidence over HTTP` {
    @Test func `a page, and where it goes on`() async throws {
        let api = FakeAPI()
        try await api.serve { api async throws in
            let first = try await api.get("/v1/evidence", as: .auditor)
            #expect(first.status == 200)
            guard case .array(let entries)? = first.json["evidence"],
                let cursor = first.json["next_cursor"]?.text
            else {
                Issue.record("no page")
                return
            }
            #expect(
                APIAnswer.names(entries.first) == [
                    "action_id", "at", "body", "credential_id", "customer_id", "id", "kind",
                    "leaf", "leaf_hash",
                ])
            #expect(entries.first?["leaf"] == .string(Base64.encodeURL(Bytes("leaf".utf8))))
            #expect(entries.first?["body"] == ["policy": "3"])
            let second = try await api.get("/v1/evidence?cursor=\(cursor)", as: .auditor)
            #expect(second.json["next_cursor"] == .null)
        }
        #expect(api.evidence.queries.values.map(\.after) == [nil, Fixture.evidence.id])
        let reader = Fixture.client(.auditor).id
        #expect(api.evidence.readers.values == [reader, reader])
    }

    @Test func `every filter is handed on`() async throws {
        let api = FakeAPI()
        try await api.serve { api async throws in
            let ids = "action_id=\(Fixture.action.id.text)&credential_id=\(Body.credentialID)"
            let times = "from=2027-01-15T08:00:00Z&to=2027-01-15T08:00:00.500Z"
            let path = "/v1/evidence?\(ids)&\(times)&customer_id=c-1001&kind=action.approved"
            #expect(try await api.get("\(path)&limit=3", as: .auditor).status == 200)
        }
        let query = try #require(api.evidence.queries.values.first)
        #expect(query.actionID == Fixture.action.id)
        #expect(query.credentialID == Fixture.credential.id)
        #expect(query.customerID == Fixture.customerID)
        #expect(query.kind == "action.approved")
        #expect(query.from == Fixture.now)
        #expect(query.to == Instant(milliseconds: Fixture.now.milliseconds + 500))
        #expect(query.limit == 3)
    }

    @Test func `one entry with its raw bytes`() async throws {
        let api = FakeAPI()
        try await api.serve { api async throws in
            let answer = try await api.get(
                "/v1/evidence/\(Fixture.evidence.id.text)", as: .auditor)
            let entry = answer.json["evidence"]
            #expect(
                APIAnswer.names(entry) == [
                    "action_id", "assertion", "at", "body", "credential_id", "customer_id", "id",
                    "kind", "leaf", "leaf_hash", "message",
                ])
            #expect(entry?["message"] == "AQID")
            let assertion: JSON = [
                "credential_id": .string(Body.credentialID), "kind": "device_key",
                "public_key": "CQk=", "signature": "//4=", "signature_format": "der",
            ]
            #expect(entry?["assertion"] == assertion)
            let other: ID<Evidence> = Fixture.id(99)
            let none = try await api.get("/v1/evidence/\(other.text)", as: .auditor)
            #expect(none.slug == "not-found")
        }
        #expect(api.evidence.readers.values.count == 2)
    }

    @Test func `a bundle, or which record of it is kept elsewhere`() async throws {
        let api = FakeAPI()
        try await api.serve { api async throws in
            let id = Fixture.evidence.id.text
            let answer = try await api.get("/v1/evidence/\(id)/bundle", as: .auditor)
            #expect(answer.status == 200 && answer.json["v"] == "bundle")
            let gone = try await api.get(
                "/v1/evidence/\(Fixture.detached.text)/bundle", as: .auditor)
            #expect(gone.status == 410 && gone.slug == "evidence-detached")
            #expect(gone.json["kind"] == "credential.enrolled")
            let none = try await api.get(
                "/v1/evidence/\(Fixture.action.id.text)/bundle", as: .auditor)
            #expect(none.slug == "not-found")
        }
    }
}
