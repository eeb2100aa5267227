import Countersign
import Crypto
import TestSupport
import Testing
import WebAuthn

/// What Chromium 156 (Debian 12) really signed with a virtual authenticator, caught by this project.
///
/// The page named the payee without an account, which is not what this service offers: so everything
/// before the payee must hold, and the payee must not.
@Suite struct `What Chromium signs` {
    private let assertion: PaymentAssertion
    private let stored: StoredPasskey
    private let party: PaymentParty
    private static let challenge = Bytes(repeating: UInt8(ascii: "p"), count: 32)
    private static let credentialID = "SZoA89QBkxZ3OYDrUPMrhs5ozj1VJb032DIKx6HNy2g"
    private static let icon =
        "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR4"
        + "2mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
    private static let clientData =
        "eyJ0eXBlIjoicGF5bWVudC5nZXQiLCJjaGFsbGVuZ2UiOiJjSEJ3Y0hCd2NIQndjSEJ3Y0hCd2NIQn"
        + "djSEJ3Y0hCd2NIQndjSEJ3Y0hBIiwib3JpZ2luIjoiaHR0cDovL2xvY2FsaG9zdDo0NjAxMyIsImNy"
        + "b3NzT3JpZ2luIjpmYWxzZSwicGF5bWVudCI6eyJycElkIjoibG9jYWxob3N0IiwidG9wT3JpZ2luIj"
        + "oiaHR0cDovL2xvY2FsaG9zdDo0NjAxMyIsInBheWVlTmFtZSI6IkVyaWthIE11c3Rlcm1hbm4iLCJw"
        + "YXltZW50RW50aXRpZXNMb2dvcyI6W10sInRvdGFsIjp7InZhbHVlIjoiMTIwLjAwIiwiY3VycmVuY3"
        + "kiOiJFVVIifSwiaW5zdHJ1bWVudCI6eyJpY29uIjoiZGF0YTppbWFnZS9wbmc7YmFzZTY0LGlWQk9S"
        + "dzBLR2dvQUFBQU5TVWhFVWdBQUFBRUFBQUFCQ0FZQUFBQWZGY1NKQUFBQURVbEVRVlI0Mm1OaytNOV"
        + "FEd0FEaGdHQVdqUjlhd0FBQUFCSlJVNUVya0pnZ2c9PSIsImRpc3BsYXlOYW1lIjoiR2lybyAuLi4z"
        + "MDAwIn19fQ"

    init() throws {
        let handle = "dXNlci0wLjY1MDM0MjYyODM1Nzc3MDc"
        let key = try #require(
            Base64.decodeURL(
                "MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE38gfeJWUc2Cr41-_80qdUL7d6zVqoOVKMB"
                    + "lNZJGROQuNIdIZrr-g1BFEzEPEo8IHVWVYjDj5AFT2ydyEChGN3Q"))
        assertion = try PaymentAssertion(json: [
            "id": .string(Self.credentialID), "rawId": .string(Self.credentialID),
            "type": "public-key", "authenticatorAttachment": "platform",
            "clientExtensionResults": [:],
            "response": [
                "clientDataJSON": .string(Self.clientData),
                "authenticatorData": "SZYN5YgOjGh0NBcPZHZgW4_krrmihjLHmVzzuoMdl2MFAAAAAg",
                "signature": .string(
                    "MEQCIGr3SgxTFW-n_cMG1pAoJXe4h3RZ2cArMAx9IptgCushAiBC50tpmm6D15lReot6C4"
                        + "-o27LyXPR5-X0-079kZpVw9w"),
                "userHandle": .string(handle),
            ],
        ])
        stored = StoredPasskey(
            credentialID: assertion.passkey.rawID, key: key, signCount: 1, backupEligible: false,
            userHandle: try #require(Base64.decodeURL(handle)))
        let origin = "http://localhost:46013"
        party = try PaymentParty(
            relyingParty: RelyingParty(
                id: "localhost", name: "Bank", origins: [origin], framing: .refused),
            origins: [origin], topOrigins: [],
            instrument: PaymentInstrument(displayName: "Giro ...3000", icon: Self.icon))
    }

    @Test func `holds up to the payee's account`() throws {
        let content = try Fixtures.transfer()
        guard case .transfer(let transfer) = content else { return }
        #expect(throws: VerificationFailure.paymentPayeeMismatch) {
            _ = try PaymentCeremony.verify(
                assertion, challenge: Self.challenge, confirming: transfer, credential: stored,
                party: party, policy: .service, keys: PasskeyKeys(keysMax: 2))
        }
    }

    @Test func `shows the means of payment as it was offered`() throws {
        let clientData = try #require(
            SignedJSON.decodeClientData(assertion.passkey.clientDataJSON))
        let shown = try PaymentClientData(clientData["payment"])
        #expect(shown.browserBoundPublicKey == nil)
        #expect(shown.topOrigin == "http://localhost:46013")
        #expect(throws: Never.self) {
            try shown.check(
                shows: PaymentInstrument(displayName: "Giro ...3000", icon: Self.icon))
        }
    }
}
