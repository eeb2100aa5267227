package import Countersign

/// What a page needs to have the browser show a transfer and ask the customer for it.
///
/// A pure function of the stored transfer, the challenge and the configuration: verification compares
/// with the same, so what was offered under another configuration is refused.
/// Source: Secure Payment Confirmation, `SecurePaymentConfirmationRequest`.
package struct PaymentRequestData: Sendable {
    /// Where and how payments are confirmed.
    package let party: PaymentParty
    /// The transfer of the stored action.
    package let transfer: Transfer
    /// The digest of the message that approves.
    package let challenge: Bytes
    /// How long the client shall try.
    package let timeout: Seconds
    /// The customer's usable passkeys (SPC-01).
    package let passkeys: [Bytes]

    /// Takes what the page shall be told.
    package init(
        party: PaymentParty, transfer: Transfer, challenge: Bytes, timeout: Seconds,
        passkeys: [Bytes]
    ) {
        self.party = party
        self.transfer = transfer
        self.challenge = challenge
        self.timeout = timeout
        self.passkeys = passkeys
    }

    /// The arguments of `new PaymentRequest([{supportedMethods, data}], {total})`, with
    /// `data.challenge` and every one of `data.credentialIds` in base64url for the page to decode.
    package var json: JSON {
        [
            "supportedMethods": "secure-payment-confirmation",
            "data": [
                "credentialIds": .array(passkeys.map { .string(Base64.encodeURL($0)) }),
                "challenge": .string(Base64.encodeURL(challenge)),
                "rpId": .string(party.relyingParty.id),
                "instrument": [
                    "displayName": .string(party.instrument.displayName),
                    "icon": .string(party.instrument.icon), "iconMustBeShown": .bool(true),
                ],
                "payeeName": .string(transfer.payeeShown),
                "timeout": .integer(timeout.count * 1000),
                // The only kind of browser-bound key whose signatures are verified.
                "browserBoundPubKeyCredParams": [
                    ["type": "public-key", "alg": .integer(COSEAlgorithm.es256.rawValue)]
                ],
            ],
            "total": [
                "label": "Total",
                "amount": [
                    "currency": .string(transfer.amount.currency.code),
                    "value": .string(transfer.amount.decimal),
                ],
            ],
        ]
    }
}
