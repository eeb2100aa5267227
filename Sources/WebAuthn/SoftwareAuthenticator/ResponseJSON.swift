package import Countersign

extension PasskeyRegistration {
    /// In the shape of `PublicKeyCredential.toJSON()`, as a client posts it.
    package var json: JSON {
        envelope(
            rawID,
            [
                "clientDataJSON": .string(Base64.encodeURL(clientDataJSON)),
                "attestationObject": .string(Base64.encodeURL(attestationObject)),
                "transports": .array(transports.map { .string($0) }),
            ])
    }
}

extension PasskeyAssertion {
    /// In the shape of `PublicKeyCredential.toJSON()`, as a client posts it.
    package var json: JSON {
        envelope(rawID, response)
    }

    fileprivate var response: JSON {
        [
            "clientDataJSON": .string(Base64.encodeURL(clientDataJSON)),
            "authenticatorData": .string(Base64.encodeURL(authenticatorData)),
            "signature": .string(Base64.encodeURL(signature)),
            "userHandle": .optional(userHandle.map { Base64.encodeURL($0) }),
        ]
    }
}

extension PaymentAssertion {
    /// In the shape of `PublicKeyCredential.toJSON()`, as a page posts what `PaymentResponse` holds.
    package var json: JSON {
        var results: JSON = [:]
        if let browserBoundSignature {
            results = [
                "payment": [
                    "browserBoundSignature": [
                        "signature": .string(Base64.encodeURL(browserBoundSignature))
                    ]
                ]
            ]
        }
        return envelope(passkey.rawID, passkey.response, results)
    }
}

private func envelope(_ rawID: Bytes, _ response: JSON, _ results: JSON = [:]) -> JSON {
    let id = JSON.string(Base64.encodeURL(rawID))
    return [
        "id": id, "rawId": id, "type": "public-key", "response": response,
        "clientExtensionResults": results,
    ]
}
