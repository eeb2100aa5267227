import Countersign
import Delivery
import Testing

@Suite struct `Core banking's answer` {
    @Test func `decides when it is the agreed body`() {
        #expect(read(#"{"status":"executed","reference":"T-1"}"#) == .executed(reference: "T-1"))
        #expect(read(#"{"reason":"no funds","status":"refused"}"#) == .refused(reason: "no funds"))
        #expect(
            read(
                #"{"status":"executed","reference":"T-1","action_id":"\#(Fixture.actionID)","x":[1]}"#
            )
                == .executed(reference: "T-1"))
        let long = String(repeating: "é", count: ReceiptText.lengths.upperBound)
        #expect(read(#"{"status":"refused","reason":"\#(long)"}"#) == .refused(reason: long))
    }

    @Test(arguments: [
        "", "{}", "[]", "null", "executed", #"{"status":"executed"}"#,
        #"{"status":"executed","reference":""}"#, #"{"status":"executed","reference":7}"#,
        #"{"status":"executed","reason":"x"}"#, #"{"status":"refused","reference":"x"}"#,
        #"{"status":"EXECUTED","reference":"x"}"#, #"{"status":"pending","reference":"x"}"#,
        #"{"status":"refused","status":"executed","reference":"x","reason":"y"}"#,
        #"{"status":"executed","reference":"x"} trailing"#,
        #"{"status":"executed","reference":"x""#,
        #"{"status":"executed","reference":"a\u0000b"}"#,
        #"{"status":"executed","reference":"a\nb"}"#,
        #"{"status":"executed","reference":"x","action_id":"0190b5a0-0000-7000-8000-000000000002"}"#,
        #"{"status":"executed","reference":"x","action_id":null}"#,
        "<html>executed</html>",
        #"{"status":"refused","reason":"\#(String(repeating: "x", count: ReceiptText.lengths.upperBound + 1))"}"#,
    ])
    func `decides nothing otherwise`(body: String) {
        #expect(read(body) == nil, "\(body)")
    }

    private func read(_ body: String) -> Receipt? {
        Receipt(Bytes(body.utf8), actionID: Fixture.actionID)
    }
}
