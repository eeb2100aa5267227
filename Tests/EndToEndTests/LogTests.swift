import Countersign
import Testing

@testable import CountersignMain

@Suite struct `A log line` {
    private enum Thing {}

    @Test func `is one JSON object with typed fields`() {
        let line = Log.line(
            .serviceDraining,
            [
                .id("action", ID<Thing>(rawValue: 1)), .code("route", "approve"),
                .count("status", 200), .milliseconds("duration", .microseconds(12_900)),
            ], at: Instant(milliseconds: 1_700_000_000_123))
        #expect(
            line == #"{"at":"2023-11-14T22:13:20.123Z","level":"info","event":"service.draining","#
                + #""action":"00000000-0000-0000-0000-000000000001","route":"approve","#
                + #""status":200,"duration_ms":12}"#)
    }

    @Test(arguments: [
        ("23505", "23505"), ("req-1:a/b_c.D", "req-1:a/b_c.D"), ("Erika Mustermann", "?"),
        ("a\nb", "?"), ("", "?"), (String(repeating: "a", count: 65), "?"), ("ä", "?"),
    ])
    func `carries only words from outside`(word: String, shown: String) {
        let line = Log.line(
            .requestFailed, [.code("request", checking: word)], at: Instant(milliseconds: 0))
        #expect(line.contains(#""request":"\#(shown)""#))
    }
}

@Suite struct `A redacted value` {
    @Test func `shows nothing however it is printed`() {
        struct Holder { let secret = Redacted("hunter2") }
        var dumped = ""
        dump(Holder(), to: &dumped)
        for text in ["\(Redacted("hunter2"))", String(reflecting: Holder()), dumped] {
            #expect(text.contains("redacted") || !text.contains("hunter2"))
            #expect(!text.contains("hunter2"))
        }
    }
}
