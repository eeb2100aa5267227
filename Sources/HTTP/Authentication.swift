import Countersign

/// Finds out who calls: by an API key, or by the client certificate of the connection.
///
/// A key says who it is, whatever certificate comes along; but a certificate that is bound to
/// *another* client means that one of the two is stolen or mixed up, so both are refused.
struct Authentication: Sendable {
    private let directory: any ClientDirectory
    private let sha256: Hasher256
    private let cache: ClientCache
    private let failures: FailureReport

    /// - Parameters:
    ///   - directory: Knows the clients.
    ///   - sha256: Makes a key's digest, by which the directory knows it.
    ///   - monotonic: This machine's clock that never goes back.
    ///   - failures: Turns failures of the directory into problems.
    init(
        directory: any ClientDirectory, sha256: Hasher256,
        monotonic: @escaping @Sendable () -> ContinuousClock.Instant, failures: FailureReport
    ) {
        self.directory = directory
        self.sha256 = sha256
        self.failures = failures
        cache = ClientCache(monotonic: monotonic)
    }

    /// The client that sent this request.
    ///
    /// - Throws: 400 for several `Authorization` fields, 401 for nobody who is known, and what a
    ///   failure of the directory comes to.
    func client(of request: Request) async throws(Problem) -> AuthenticatedClient {
        let key = try key(of: request)
        let client: AuthenticatedClient?
        do throws(StoreFailure) {
            client = try await self.client(key: key, peer: request.peer)
        } catch {
            throw failures.problem(error, in: request)
        }
        guard let client else { throw .unauthenticated }
        return client
    }

    /// The key that was sent; `nil` when the field is not there.
    private func key(of request: Request) throws(Problem) -> APIKey? {
        let fields = request.headers.all("authorization")
        guard let field = fields.first else { return nil }
        guard fields.count == 1 else {
            throw .malformedRequest("There is more than one Authorization.")
        }
        guard let key = APIKey(authorization: field) else { throw .unauthenticated }
        return key
    }

    private func client(
        key: APIKey?, peer: Peer
    ) async throws(StoreFailure) -> AuthenticatedClient? {
        let certified = try await client(showing: peer)
        guard let key else { return certified }
        let digest = sha256(Bytes(key.text.utf8))
        let keyed = try await cache.client(by: .key(digest)) { () async throws(StoreFailure) in
            try await directory.client(keyDigest: digest)
        }
        guard let keyed, keyed.role == key.role, (certified ?? keyed).id == keyed.id else {
            return nil
        }
        return keyed
    }

    private func client(showing peer: Peer) async throws(StoreFailure) -> AuthenticatedClient? {
        guard case .mutualTLS(let certificate) = peer,
            case let names = certificate.subjectAlternativeNames, !names.isEmpty
        else { return nil }
        return try await cache.client(by: .names(names)) { () async throws(StoreFailure) in
            try await directory.client(subjectAlternativeNames: names)
        }
    }
}

/// A key as it is sent: `cs_<role>_<secret>`, where the secret is base64url of 32 bytes.
///
/// The form is checked before anyone is asked, so that what cannot be a key costs no look-up.
struct APIKey: Sendable {
    /// The whole key; never logged.
    let text: String
    let role: AuthenticatedClient.Role

    /// Reads `Bearer <key>`; anything else is `nil`.
    init?(authorization: String) {
        let parts = authorization.split(separator: " ", maxSplits: 1)
        guard parts.count == 2, ASCII.equalIgnoringCase(parts[0], "bearer") else { return nil }
        let key = ASCII.trimmed(parts[1])
        let words = key.split(separator: "_", maxSplits: 2, omittingEmptySubsequences: false)
        guard words.count == 3, words[0].utf8.elementsEqual("cs".utf8),
            let role = AuthenticatedClient.Role.allCases.first(where: {
                $0.rawValue.utf8.elementsEqual(words[1].utf8)
            }),
            Base64.decodeURL(words[2])?.count == 32
        else { return nil }
        text = key
        self.role = role
    }
}
