/// A telephone number in its only international spelling: `+`, country code, number.
///
/// Source: ITU-T E.164 and its list of assigned country codes.
package struct PhoneNumber: Hashable, Sendable {
    package let text: String

    /// Takes `+` and 7 to 15 ASCII digits that begin with an assigned country code.
    ///
    /// No spaces, brackets or extensions: one number has one spelling, so that a change to the same
    /// number is no change.
    ///
    /// - Throws: `phone_format`, `phone_country` or `phone_national_number`.
    package init(_ text: some StringProtocol) throws(InvalidValue) {
        let units = Bytes(text.utf8)
        let digits = units.dropFirst()
        guard units.first == UInt8(ascii: "+"), (7...15).contains(digits.count),
            digits.allSatisfy(\.isDigit)
        else {
            throw InvalidValue("phone_format", "A phone number is + and 7 to 15 digits (E.164).")
        }
        guard let code = PhoneNumber.countryCode(of: digits) else {
            throw InvalidValue("phone_country", "The number begins with no assigned country code.")
        }
        let national = digits.dropFirst(code.utf8.count)
        guard PhoneNumber.isPlausible(national, in: code) else {
            throw InvalidValue(
                "phone_national_number",
                "The part after the country code cannot be a number there; drop a trunk prefix 0.")
        }
        self.text = String(decoding: units, as: UTF8.self)
    }

    /// The assigned code at the start; no code is the beginning of another.
    private static func countryCode(of digits: ArraySlice<UInt8>) -> String? {
        (1...3).lazy.map { String(decoding: digits.prefix($0), as: UTF8.self) }
            .first(where: countryCodes.contains)
    }

    /// North American numbers have ten digits and begin with 2 to 9. Elsewhere a leading 0 is the
    /// trunk prefix of a national spelling, which would give one number two spellings.
    private static func isPlausible(_ national: ArraySlice<UInt8>, in code: String) -> Bool {
        guard let first = national.first else { return false }
        if code == "1" { return national.count == 10 && first >= UInt8(ascii: "2") }
        return first != UInt8(ascii: "0") || codesWithLeadingZero.contains(code)
    }

    /// Left out on purpose: 979 (premium rate, nobody's own number), 888 and 991 (given back).
    private static let countryCodes = Set(
        """
        1 7 20 27 30 31 32 33 34 36 39 40 41 43 44 45 46 47 48 49 51 52 53 54 55 56 57 58 60 61 62 \
        63 64 65 66 81 82 84 86 90 91 92 93 94 95 98 211 212 213 216 218 220 221 222 223 224 225 \
        226 227 228 229 230 231 232 233 234 235 236 237 238 239 240 241 242 243 244 245 246 247 \
        248 249 250 251 252 253 254 255 256 257 258 260 261 262 263 264 265 266 267 268 269 290 \
        291 297 298 299 350 351 352 353 354 355 356 357 358 359 370 371 372 373 374 375 376 377 \
        378 379 380 381 382 383 385 386 387 389 420 421 423 500 501 502 503 504 505 506 507 508 \
        509 590 591 592 593 594 595 596 597 598 599 670 672 673 674 675 676 677 678 679 680 681 \
        682 683 685 686 687 688 689 690 691 692 800 808 850 852 853 855 856 870 878 880 881 882 \
        883 886 960 961 962 963 964 965 966 967 968 970 971 972 973 974 975 976 977 992 993 994 \
        995 996 998
        """.split(separator: " ").map(String.init))

    /// Countries whose national numbers themselves may begin with 0, and the global services.
    private static let codesWithLeadingZero: Set = [
        "39", "225", "226", "227", "229", "241", "242", "378", "379",
        "800", "808", "870", "878", "881", "882", "883",
    ]
}
