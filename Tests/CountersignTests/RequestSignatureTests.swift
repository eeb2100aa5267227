import Countersign
import TestSupport
import Testing

@Suite struct `The header fields of a signed request` {
    private static let id = (Fixtures.id(1) as ID<Credential>).text

    /// The four fields with one of them changed.
    private static func fields(
        _ name: SignatureFields.Name? = nil, _ values: [String] = []
    ) -> SignatureFields {
        var fields = SignatureFields()
        let good: [(SignatureFields.Name, String)] = [
            (.deviceID, id), (.timestamp, "1767607200"), (.nonce, "nonce-0001"),
            (.signature, "MEUC"),
        ]
        for (field, value) in good { fields.append(field, field == name ? values : [value]) }
        return fields
    }

    private func refusal(_ fields: SignatureFields) -> DeviceRequestRefusal? {
        do throws(DeviceRequestRefusal) {
            _ = try RequestSignature(fields)
            return nil
        } catch { return error }
    }

    @Test func `are taken in their one form`() throws {
        let signature = try RequestSignature(Self.fields())
        #expect(signature.credential == Fixtures.id(1))
        #expect(signature.timestamp == 1_767_607_200)
        #expect(signature.nonce == "nonce-0001")
        #expect(signature.signature == [0x30, 0x45, 0x02])
    }

    @Test(arguments: SignatureFields.Name.allCases)
    func `are there once`(name: SignatureFields.Name) {
        #expect(refusal(Self.fields(name, [])) == .headerMissing)
        let value = Self.fields()[name][0]
        #expect(refusal(Self.fields(name, [value, value])) == .headerDuplicate)
        #expect(refusal(Self.fields(name, [value, "other"])) == .headerDuplicate)
    }

    @Test(arguments: [
        "", "1767607200 ", " 1767607200", "+1767607200", "-1", "01767607200", "0", "1.767e9",
        "1767607200.0", "0x695B8C60", "2026-01-05T10:00:00Z", "１７６７６０７２００", "1767607200\n",
        "1_767", "1234567890123456",
    ])
    func `have a time in decimal seconds`(text: String) {
        #expect(refusal(Self.fields(.timestamp, [text])) == .timestampMalformed)
    }

    /// Milliseconds are a number of seconds too, far off: the window refuses them.
    @Test(arguments: ["1", "1767607200000", "123456789012345"])
    func `have a time of at most fifteen digits`(text: String) {
        #expect(refusal(Self.fields(.timestamp, [text])) == nil)
    }

    @Test(arguments: [
        "", "1234567", "nonce 0001", "nonce,0001", "nonce\n0001", "nonce\u{0}0001", "nönce-0001",
        "nonce%0001", String(repeating: "n", count: 129),
    ])
    func `have a nonce of 8 to 128 plain characters`(text: String) {
        #expect(refusal(Self.fields(.nonce, [text])) == .nonceMalformed)
    }

    @Test(arguments: [
        "12345678", "0190a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b", "AZaz09._~-+/=", "q83vEjRWeJA=",
        String(repeating: "n", count: 128),
    ])
    func `have a nonce in any usual spelling`(text: String) {
        #expect(refusal(Self.fields(.nonce, [text])) == nil)
    }

    @Test(arguments: ["", "device-a", "x\(id)", "\(id) ", "\(id),\(id)"])
    func `name a credential`(text: String) {
        #expect(refusal(Self.fields(.deviceID, [text])) == .deviceIDMalformed)
    }

    @Test(arguments: ["", "MEU", "MEUC\n", "ME_C", "MEUC==", "MEUC,MEUC"])
    func `have a signature in base64`(text: String) {
        #expect(refusal(Self.fields(.signature, [text])) == .signatureMalformed)
    }

    @Test func `are looked at in the documented order`() {
        var fields = SignatureFields()
        #expect(refusal(fields) == .headerMissing)
        fields.append(.deviceID, ["x", "y"])
        fields.append(.timestamp, ["x"])
        fields.append(.nonce, ["x"])
        #expect(refusal(fields) == .headerMissing)
        fields.append(.signature, ["x"])
        #expect(refusal(fields) == .headerDuplicate)
    }
}
