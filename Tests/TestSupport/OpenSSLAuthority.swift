package import Countersign

/// A timestamp authority of the kind that banks buy from: a key of RSA-2048 under an intermediate authority, both
/// of whose certificates are in each answer.
///
/// The `openssl` program makes it, at times of the past: the signer's certificate was good from 4 to 8 January 2026
/// and has expired since.
package struct OpenSSLAuthority {
    private let tool: OpenSSLTool
    /// The certificate, in PEM, in which its path ends.
    package let root: String

    /// Makes new keys, which takes about a second.
    ///
    /// - Throws: When `openssl` or `faketime` is missing.
    package init() throws {
        tool = try OpenSSLTool()
        try tool.write(Bytes(Self.settings.utf8), to: "tsa.cnf")
        _ = try tool.shell(Self.making)
        root = String(decoding: try tool.read("root.pem"), as: UTF8.self)
    }

    /// What it answers to whoever asks for a timestamp over the text, with all its certificates.
    ///
    /// - Parameters:
    ///   - text: What is stamped.
    ///   - time: When, in UTC: `2026-01-05 10:00:00`.
    /// - Returns: The TimeStampResp.
    /// - Throws: When `openssl` fails.
    package func stamp(_ text: Bytes, at time: String) throws -> Bytes {
        try tool.write(text, to: "text")
        _ = try tool.shell(
            """
            exec 2> said || exit 1
            openssl ts -query -data text -sha256 -cert -out query
            TZ=UTC faketime '\(time)' openssl ts -reply -config tsa.cnf -queryfile query \\
                -signer tsa.pem -inkey tsa.key -chain inter.pem -out answer
            """)
        return try tool.read("answer")
    }

    private static let making = """
        exec 2> said || exit 1
        echo 01 > serial
        for name in root inter tsa; do
            openssl req -new -newkey rsa:2048 -nodes -keyout $name.key -out $name.csr \\
                -subj "/C=DE/O=Example Trust Services GmbH/CN=Example $name 2026"
        done
        certify() {
            TZ=UTC faketime "$2 00:00:00" openssl x509 -req -in $1.csr -days $3 -extfile tsa.cnf \\
                -extensions $4 -set_serial 0x4b3a29180716253443$5 -out $1.pem $6
        }
        certify root 2026-01-01 3650 authority 01 "-signkey root.key"
        certify inter 2026-01-02 1825 authority 02 "-CA root.pem -CAkey root.key"
        certify tsa 2026-01-04 4 stamping 03 "-CA inter.pem -CAkey inter.key"
        """

    private static let settings = """
        [authority]
        basicConstraints = critical,CA:TRUE
        keyUsage = critical,keyCertSign,cRLSign
        subjectKeyIdentifier = hash
        [stamping]
        basicConstraints = CA:FALSE
        keyUsage = critical,digitalSignature
        extendedKeyUsage = critical,timeStamping
        subjectKeyIdentifier = hash
        authorityKeyIdentifier = keyid
        crlDistributionPoints = URI:http://crl.trust.example/timestamps.crl
        authorityInfoAccess = caIssuers;URI:http://trust.example/inter.crt
        certificatePolicies = 1.3.6.1.4.1.99999.1
        [tsa]
        default_tsa = own
        [own]
        serial = serial
        signer_digest = sha256
        default_policy = 1.2.3.4.1
        digests = sha256
        ess_cert_id_alg = sha256

        """
}
