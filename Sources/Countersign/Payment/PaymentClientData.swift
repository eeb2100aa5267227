/// What a browser says that it showed before a passkey signed: the member `payment` of client data.
///
/// Source: Secure Payment Confirmation, `CollectedClientAdditionalPaymentData`.
package struct PaymentClientData: Sendable {
    /// The page at the top of the window.
    package let topOrigin: String
    /// The COSE key of the browser itself, not yet believed; `nil` when it has none.
    package let browserBoundPublicKey: Bytes?
    private let relyingPartyID: String
    private let payeeName: String?
    private let payeeOrigin: JSON?
    private let logos: JSON?
    private let total: (currency: String, value: String)
    private let instrument: JSON

    /// The type of client data that has such a member.
    package static let clientDataType = "payment.get"

    /// Reads the member.
    ///
    /// Stricter than the spec: a member that is not known here is refused. It could stand for something
    /// that the customer was shown and that the bank did not offer, as `networkInfo` once did. Members
    /// beside `payment` are not affected: browsers add those on purpose.
    ///
    /// - Throws: ``VerificationFailure/paymentDataMalformed`` or
    ///   ``VerificationFailure/paymentMemberUnknown``.
    package init(_ json: JSON?) throws(VerificationFailure) {
        guard let json, let relyingPartyID = json["rpId"]?.text,
            let topOrigin = json["topOrigin"]?.text, let total = json["total"],
            let currency = total["currency"]?.text, let value = total["value"]?.text,
            let instrument = json["instrument"]
        else { throw .paymentDataMalformed }
        try Self.refuseMembers(of: json, but: Self.members)
        try Self.refuseMembers(of: total, but: ["currency", "value"])
        // SPC-05: some browsers write the relying party twice.
        if let other = json["rp"] {
            guard Self.isSame(other, relyingPartyID) else { throw .paymentRelyingPartyMismatch }
        }
        payeeName = try Self.optionalText("payeeName", of: json)
        if json["browserBoundPublicKey"] == nil {
            browserBoundPublicKey = nil
        } else {
            guard let key = json.bytes("browserBoundPublicKey") else {
                throw .browserBoundKeyInvalid
            }
            browserBoundPublicKey = key
        }
        self.relyingPartyID = relyingPartyID
        self.topOrigin = topOrigin
        self.total = (currency, value)
        self.instrument = instrument
        payeeOrigin = json["payeeOrigin"]
        logos = json["paymentEntitiesLogos"]
    }

    private static let members: Set<String> = [
        "rpId", "rp", "topOrigin", "payeeName", "payeeOrigin", "paymentEntitiesLogos", "total",
        "instrument", "browserBoundPublicKey",
    ]

    private static func refuseMembers(
        of json: JSON, but known: Set<String>
    ) throws(VerificationFailure) {
        guard case .object(let members) = json else { throw .paymentDataMalformed }
        guard members.allSatisfy({ known.contains($0.name) }) else { throw .paymentMemberUnknown }
    }

    private static func optionalText(
        _ name: String, of json: JSON
    ) throws(VerificationFailure) -> String? {
        guard let value = json[name] else { return nil }
        guard let text = value.text else { throw .paymentDataMalformed }
        return text
    }

    /// Compares code units: for Swift two spellings of one accented letter are equal.
    private static func isSame(_ json: JSON?, _ text: String) -> Bool {
        json?.text.map { $0.utf8.elementsEqual(text.utf8) } ?? false
    }
}

// MARK: - Comparing with what was to be shown

extension PaymentClientData {
    /// Compares what was shown with a transfer, which must come from the stored signed message.
    ///
    /// - Throws: ``VerificationFailure``, the first in the order of the specification.
    package func check(
        shows transfer: Transfer, for expectedRelyingPartyID: String
    ) throws(VerificationFailure) {
        // SPC-05.
        guard relyingPartyID.utf8.elementsEqual(expectedRelyingPartyID.utf8) else {
            throw .paymentRelyingPartyMismatch
        }
        // SPC-07: the name is shown as it was offered, and no origin was offered.
        guard let payeeName, payeeName.utf8.elementsEqual(transfer.payeeShown.utf8),
            payeeOrigin == nil
        else { throw .paymentPayeeMismatch }
        // SPC-08: the only ordered subset of no logos. Chromium writes an empty list then.
        guard logos == nil || logos == .array([]) else { throw .paymentLogosMismatch }
        // SPC-09: integers of the currency's minor unit, by ISO 4217. "10" is "10.00"; "10.001" of EUR
        // is no amount, nor is "10.000": nobody can say what that looked like in every locale.
        let shown: Money
        do throws(InvalidValue) {
            shown = try Money(decimal: total.value, currency: Currency(total.currency))
        } catch {
            throw .paymentTotalMismatch
        }
        guard shown == transfer.amount else { throw .paymentTotalMismatch }
    }

    /// SPC-10: name and picture are those that were offered, the picture had to be shown, and no
    /// details were offered.
    ///
    /// Chromium does not write `iconMustBeShown`. When a page takes it back and the picture cannot be
    /// loaded, it writes an empty `icon`, which differs too.
    ///
    /// - Throws: ``VerificationFailure/paymentInstrumentMismatch`` or
    ///   ``VerificationFailure/paymentMemberUnknown``.
    package func check(shows expected: PaymentInstrument) throws(VerificationFailure) {
        try Self.refuseMembers(
            of: instrument, but: ["displayName", "icon", "iconMustBeShown", "details"])
        guard Self.isSame(instrument["displayName"], expected.displayName),
            Self.isSame(instrument["icon"], expected.icon),
            [nil, .bool(true)].contains(instrument["iconMustBeShown"]),
            instrument["details"] == nil
        else { throw .paymentInstrumentMismatch }
    }
}

extension Transfer {
    /// How a browser shows the payee: `Erika Mustermann, FR1420041010050500013M02606`.
    ///
    /// The browser's dialog is the one place where a page cannot lie, and it has no line for an account:
    /// the name alone would be the same for a thief's account under that name.
    package var payeeShown: String {
        switch payee.account.form {
        case .iban(let iban): "\(payee.name.text), \(iban)"
        case .other: "\(payee.name.text), \(payee.account.text)"
        }
    }
}

extension SignedMessage {
    /// Whether client data of the type `payment.get` confirms what this message says: the approval of a
    /// transfer, with its own amount and payee.
    ///
    /// For those who have nothing but the message and the proof, core banking and an auditor. Where it
    /// was called and how the means of payment looked is for the service to judge.
    package func isConfirmed(byPayment clientData: JSON) -> Bool {
        guard clientData["type"] == .string(PaymentClientData.clientDataType),
            decision == .approve, case .transfer(let transfer) = content
        else { return false }
        do throws(VerificationFailure) {
            try PaymentClientData(clientData["payment"]).check(shows: transfer, for: audience)
            return true
        } catch {
            return false
        }
    }
}
