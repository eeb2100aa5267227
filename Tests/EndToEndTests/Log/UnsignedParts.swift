import Countersign
import Crypto
import TestSupport

/// The parts of a timestamp response that nobody has signed: another byte there proves the same.
///
/// They are told from the form alone, and not from what a verifier believes.
/// Source: RFC 3161 §2.4.2; RFC 5652 §5.1, §5.3.
struct UnsignedParts {
    struct Part {
        let name: String
        let range: Range<Int>
    }

    private(set) var parts: [Part] = []

    /// - Throws: ``DERError`` or ``CertificateError`` for what is no granted answer of one signer.
    init(of response: Bytes) throws {
        var answer = try DERReader.only(response).sequence()
        add("PKIStatusInfo", try answer.next())
        var content = try answer.next().sequence()
        _ = try content.next()
        var signed = try content.next().explicit(0).sequence()
        add("version", try signed.next())
        add("digestAlgorithms", try signed.next())
        // What was signed.
        _ = try signed.next()
        while !signed.isAtEnd {
            let element = try signed.next()
            switch element.explicitTag {
            case 0: try addCertificates(element)
            case 1: add("crls", element)
            default: try addSigner(element)
            }
        }
    }

    /// The part that holds the place; `nil` for what is signed.
    func name(of place: Int) -> String? { parts.first { $0.range.contains(place) }?.name }

    private mutating func add(_ name: String, _ element: DERElement) {
        parts.append(Part(name: name, range: element.encoded.indices))
    }

    /// The hash of the signer's certificate is signed, and each certificate on the path by the next one. What
    /// is on no path, and the copy of an anchor, which the verifier has itself, is signed by nobody.
    private mutating func addCertificates(_ element: DERElement) throws {
        var reader = try DERReader(Bytes(element.content))
        var found: [(certificate: Certificate, range: Range<Int>)] = []
        while !reader.isAtEnd {
            // Counted from the beginning of the content; here from that of the response.
            let inContent = try reader.next().encoded.indices
            let first = element.content.startIndex + inContent.lowerBound
            let range = first..<(first + inContent.count)
            let der = Bytes(element.content[range])
            found.append((try Certificate(der: der), range))
        }
        let signer = found.first { $0.certificate.extendedKeyUsages == ["1.3.6.1.5.5.7.3.8"] }
        var path = signer.map { [$0.certificate] } ?? []
        while let last = path.last,
            let next = found.map(\.certificate).first(where: {
                !$0.isSelfIssued && !path.contains($0) && last.isIssued(by: $0)
            })
        { path.append(next) }
        for (certificate, range) in found where !path.contains(certificate) {
            parts.append(Part(name: "certificate on no path", range: range))
        }
    }

    private mutating func addSigner(_ element: DERElement) throws {
        var signers = try element.set()
        var signer = try signers.next().sequence()
        try signers.end()
        add("signer's version", try signer.next())
        // Which certificate: its hash is signed.
        _ = try signer.next()
        add("signer's digestAlgorithm", try signer.next())
        // The signed attributes, among them the digest of the content.
        _ = try signer.next()
        add("signatureAlgorithm", try signer.next())
        _ = try signer.next()
        if !signer.isAtEnd { add("unsignedAttrs", try signer.next()) }
    }
}

extension UnsignedParts {
    /// The same answer with everything that may be in one and is not signed: a text of the status, a
    /// certificate more, and an unsigned attribute.
    static func decorated(_ response: Bytes) throws -> Bytes {
        var answer = try DERReader.only(response).sequence()
        _ = try answer.next()
        var content = try answer.next().sequence()
        let type = Bytes(try content.next().encoded)
        var reader = try content.next().explicit(0).sequence()
        var signed: [Bytes] = []
        while !reader.isAtEnd {
            let element = try reader.next()
            switch element.explicitTag {
            case 0:
                let more = try TestAuthority(root: "On no path").certificate.der
                signed.append(DER.element([0xA0], Bytes(element.content) + more))
            default:
                signed.append(
                    reader.isAtEnd ? try decorated(signers: element) : Bytes(element.encoded))
            }
        }
        return DER.sequence(
            DER.sequence(DER.integer(0), DER.sequence(DER.utf8("granted, says nobody"))),
            DER.sequence(type, DER.explicit(0, DER.sequence(signed))))
    }

    private static func decorated(signers element: DERElement) throws -> Bytes {
        var signers = try element.set()
        let attribute = DER.sequence(DER.oid("1.2.3.4"), DER.set([DER.utf8("signed by nobody")]))
        return DER.set([
            DER.element(
                [0x30], Bytes(try signers.next().content) + DER.element([0xA1], attribute))
        ])
    }
}
