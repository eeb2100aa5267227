internal import COpenSSL
import Countersign

/// Values of OpenSSL's ASN.1 structures as values of Swift.
enum X509Reading {
    /// A longer OID text is not read; the longest in use have about 60 characters.
    private static let oidUnitsMax = 256

    static func bytes(of string: UnsafePointer<ASN1_STRING>) -> Bytes {
        unsafe Bytes(
            UnsafeBufferPointer(
                start: ASN1_STRING_get0_data(string), count: Int(ASN1_STRING_length(string))))
    }

    /// The dotted decimal form.
    static func text(of object: OpaquePointer?) -> String? {
        var text = [CChar](repeating: 0, count: oidUnitsMax)
        let count = unsafe OBJ_obj2txt(&text, Int32(text.count), object, 1)
        guard count > 0, count < oidUnitsMax else {
            OpenSSL.forgetErrors()
            return nil
        }
        return String(decoding: text.prefix(Int(count)).map(UInt8.init(bitPattern:)), as: UTF8.self)
    }

    static func entries(of name: OpaquePointer?) -> [(type: String, value: String)]? {
        var entries: [(type: String, value: String)] = []
        for index in 0..<(unsafe X509_NAME_entry_count(name)) {
            let entry = unsafe X509_NAME_get_entry(name, index)
            guard let type = unsafe text(of: X509_NAME_ENTRY_get_object(entry)),
                let value = unsafe utf8(of: X509_NAME_ENTRY_get_data(entry))
            else { return nil }
            entries.append((type, value))
        }
        return entries
    }

    private static func utf8(of string: UnsafeMutablePointer<ASN1_STRING>?) -> String? {
        var start: UnsafeMutablePointer<UInt8>?
        let count = unsafe ASN1_STRING_to_UTF8(&start, string)
        defer { unsafe CRYPTO_free(start, #fileID, #line) }
        guard count >= 0, let start = unsafe start else {
            OpenSSL.forgetErrors()
            return nil
        }
        return unsafe String(
            validating: UnsafeBufferPointer(start: start, count: Int(count)), as: UTF8.self)
    }

    static func seconds(of time: UnsafePointer<ASN1_TIME>?) -> Int64? {
        guard let epoch = unsafe ASN1_TIME_set(nil, 0) else { preconditionFailure("out of memory") }
        defer { unsafe ASN1_STRING_free(epoch) }
        var days: Int32 = 0
        var rest: Int32 = 0
        guard unsafe time != nil, unsafe ASN1_TIME_diff(&days, &rest, epoch, time) == 1 else {
            OpenSSL.forgetErrors()
            return nil
        }
        return Int64(days) * 86_400 + Int64(rest)
    }
}

/// The extensions whose content is read, each as OpenSSL decodes it.
extension X509Handle {
    /// An extension that may be absent but not repeated and not undecodable.
    enum Decoded<Value> {
        case absent
        case malformed
        case present(Value)
    }

    /// basicConstraints: whether the subject is a CA. Source: RFC 5280 §4.2.1.9.
    var basicConstraints: Decoded<Bool> {
        unsafe decode(NID_basic_constraints) { found in
            let constraints = unsafe found.assumingMemoryBound(to: BASIC_CONSTRAINTS.self)
            defer { unsafe BASIC_CONSTRAINTS_free(constraints) }
            return unsafe countersign_is_ca(constraints) == 1
        }
    }

    /// extKeyUsage: OID texts. Source: RFC 5280 §4.2.1.12.
    var extendedKeyUsages: Decoded<[String]> {
        unsafe decode(NID_ext_key_usage) { found in
            let usages = OpaquePointer(found)
            defer { unsafe EXTENDED_KEY_USAGE_free(usages) }
            var texts: [String] = []
            for index in 0..<(unsafe countersign_key_usage_count(usages)) {
                guard
                    let text = unsafe X509Reading.text(of: countersign_key_usage(usages, index))
                else { return nil }
                texts.append(text)
            }
            return texts
        }
    }

    /// The directory names of subjectAltName. Source: RFC 5280 §4.2.1.6.
    var alternativeDirectoryNames: Decoded<[[(type: String, value: String)]]> {
        unsafe decode(NID_subject_alt_name) { found in
            let names = OpaquePointer(found)
            defer { unsafe GENERAL_NAMES_free(names) }
            var all: [[(type: String, value: String)]] = []
            for index in 0..<(unsafe countersign_general_name_count(names)) {
                guard let name = unsafe countersign_directory_name(names, index) else { continue }
                guard let entries = unsafe X509Reading.entries(of: name) else { return nil }
                all.append(entries)
            }
            return all
        }
    }

    private func decode<Value>(
        _ identifier: Int32, _ read: (UnsafeMutableRawPointer) -> Value?
    ) -> Decoded<Value> {
        defer { OpenSSL.forgetErrors() }
        // -1 stands for an absent extension, -2 for a repeated one.
        var occurrence: Int32 = 0
        guard let found = unsafe X509_get_ext_d2i(pointer, identifier, &occurrence, nil) else {
            return occurrence == -1 ? .absent : .malformed
        }
        guard let value = unsafe read(found) else { return .malformed }
        return .present(value)
    }
}
