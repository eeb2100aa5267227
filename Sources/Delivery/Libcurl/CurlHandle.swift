internal import CCurl
import Countersign

/// One libcurl easy handle with its cache of connections; used by one thread.
@safe struct CurlHandle: ~Copyable {
    /// `nil` when libcurl could not make one: out of memory.
    private let handle: UnsafeMutableRawPointer?

    init() { unsafe handle = curl_easy_init() }

    deinit { unsafe curl_easy_cleanup(handle) }

    /// Makes one exchange, blocking for at most the total timeout.
    func perform(_ request: HTTPRequest, _ options: HTTPClient.Options)
        -> Result<HTTPResponse, TransportFailure>
    {
        guard unsafe handle != nil else {
            return .failure(.other(code: Int(CURLE_OUT_OF_MEMORY.rawValue)))
        }
        let answer = Answer(bodyBytesMax: options.bodyBytesMax)
        return Result { () throws(TransportFailure) in
            try run(request, options, into: answer)
            return HTTPResponse(
                status: answer.status, fields: answer.fields, body: answer.body)
        }
    }

    private func run(_ request: HTTPRequest, _ options: HTTPClient.Options, into answer: Answer)
        throws(TransportFailure)
    {
        // Keeps the connections, forgets every option of the request before.
        unsafe curl_easy_reset(handle)
        try setLimits(options)
        try setTrust(options)
        try set(CURLOPT_URL, request.url.text)
        let fields = try FieldList(request)
        unsafe try check(
            countersign_curl_set_pointer(handle, CURLOPT_HTTPHEADER, fields.pointer))
        let context = unsafe Unmanaged.passUnretained(answer).toOpaque()
        unsafe try check(countersign_curl_set_pointer(handle, CURLOPT_WRITEDATA, context))
        unsafe try check(countersign_curl_set_write(handle, CURLOPT_WRITEFUNCTION, receiveBody))
        unsafe try check(countersign_curl_set_pointer(handle, CURLOPT_HEADERDATA, context))
        unsafe try check(countersign_curl_set_write(handle, CURLOPT_HEADERFUNCTION, receiveField))
        let code: CURLcode
        switch request.method {
        case .get:
            try set(CURLOPT_HTTPGET, 1)
            code = unsafe curl_easy_perform(handle)
        case .delete:
            try set(CURLOPT_HTTPGET, 1)
            try set(CURLOPT_CUSTOMREQUEST, request.method.rawValue)
            code = unsafe curl_easy_perform(handle)
        case .post:
            try set(CURLOPT_POST, 1)
            try set(CURLOPT_POSTFIELDSIZE, request.body.count)
            // libcurl reads the body where it lies, so it has to stay there for the whole exchange.
            // One more byte that is not sent: an empty array has no address, and without an address
            // libcurl would read a body from standard input.
            code = unsafe (request.body + [0]).withUnsafeBytes { body in
                let set = unsafe countersign_curl_set_pointer(
                    handle, CURLOPT_POSTFIELDS, body.baseAddress)
                return set == CURLE_OK ? unsafe curl_easy_perform(handle) : set
            }
        }
        // Both lists live until here, although only libcurl knows of them meanwhile.
        withExtendedLifetime(answer) {}
        fields.keepAlive()
        guard code == CURLE_OK else { throw answer.isTooLarge ? .answerTooLarge : failure(code) }
        var status = 0
        unsafe try check(countersign_curl_get_long(handle, CURLINFO_RESPONSE_CODE, &status))
        answer.status = status
    }

    private func setLimits(_ options: HTTPClient.Options) throws(TransportFailure) {
        // Without signals a slow name server is interrupted by the resolver's own thread.
        try set(CURLOPT_NOSIGNAL, 1)
        try set(CURLOPT_CONNECTTIMEOUT_MS, milliseconds(options.connectTimeout))
        try set(CURLOPT_TIMEOUT_MS, milliseconds(options.totalTimeout))
        // Renewed certificates and moved addresses count within this time, even under steady traffic.
        try set(CURLOPT_MAXLIFETIME_CONN, connectionSecondsMax)
        try set(CURLOPT_PROTOCOLS_STR, "http,https")
        try set(CURLOPT_HTTP_VERSION, Int(CURL_HTTP_VERSION_1_1))
        try set(CURLOPT_FOLLOWLOCATION, 0)
        // An empty name overrules the proxy variables of the environment.
        try set(CURLOPT_PROXY, "")
        // What is signed as @target-uri is what is sent: no dot segments removed.
        try set(CURLOPT_PATH_AS_IS, 1)
        try set(CURLOPT_MAXFILESIZE, options.bodyBytesMax)
    }

    private func setTrust(_ options: HTTPClient.Options) throws(TransportFailure) {
        try set(CURLOPT_SSL_VERIFYPEER, 1)
        try set(CURLOPT_SSL_VERIFYHOST, 2)
        try set(CURLOPT_SSLVERSION, Int(CURL_SSLVERSION_TLSv1_2))
        if let authorities = options.authoritiesFile { try set(CURLOPT_CAINFO, authorities) }
        if let certificate = options.clientCertificate {
            try set(CURLOPT_SSLCERT, certificate.certificateFile)
            try set(CURLOPT_SSLKEY, certificate.keyFile)
        }
    }

    private func set(_ option: CURLoption, _ value: Int) throws(TransportFailure) {
        unsafe try check(countersign_curl_set_long(handle, option, value))
    }

    /// libcurl copies every string that it is given.
    private func set(_ option: CURLoption, _ value: String) throws(TransportFailure) {
        let code = unsafe value.withCString { text in
            unsafe countersign_curl_set_pointer(handle, option, text)
        }
        try check(code)
    }

    private func check(_ code: CURLcode) throws(TransportFailure) {
        guard code == CURLE_OK else { throw failure(code) }
    }
}

/// The longest that a connection is kept, in seconds.
private let connectionSecondsMax = 300

private func milliseconds(_ duration: Duration) -> Int {
    let (seconds, attoseconds) = duration.components
    // 0 would mean "for ever" to libcurl.
    return max(1, Int(seconds) * 1000 + Int(attoseconds / 1_000_000_000_000_000))
}

private func failure(_ code: CURLcode) -> TransportFailure {
    switch code {
    case CURLE_OPERATION_TIMEDOUT: .timeout
    case CURLE_COULDNT_CONNECT, CURLE_COULDNT_RESOLVE_HOST: .connectionFailed
    case CURLE_SSL_CONNECT_ERROR, CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_CERTPROBLEM,
        CURLE_SSL_CIPHER, CURLE_SSL_CACERT_BADFILE, CURLE_SSL_ISSUER_ERROR, CURLE_SSL_CLIENTCERT:
        .tls
    case CURLE_FILESIZE_EXCEEDED: .answerTooLarge
    default: .other(code: Int(code.rawValue))
    }
}
