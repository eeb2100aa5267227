import Testing

/// The rules are only as good as the reader of Swift below them.
@Suite struct `Reading Swift for rules` {
    @Test func `blanks comments and strings, and keeps the lines`() {
        let text = """
            let a = "print(1)" // print(2)
            /* print(3) /* nested */
            */ let b = #"a "quoted" print(4)"#; let c = "\\(f("x")) print(5)"
            print(6)
            """
        let code = SwiftCode(text).blanked.split(separator: "\n")
        #expect(code.count == 4)
        #expect(code.filter { $0.contains("print") } == ["print(6)"])
        #expect(code[2].contains("let b =") && code[2].contains("let c ="))
    }

    @Test func `counts the lines of each function`() {
        let code = """
            func one() { two() }
            protocol P {
                func requirement()
                func another() -> Int
            }
            struct S {
                init(
                    a: Int
                ) {
                    if a > 0 { print(a) }
                }
            }
            """.split(separator: "\n")
        #expect(
            MeasuredFunction.all(in: code) == [
                MeasuredFunction(line: 1, length: 1), MeasuredFunction(line: 7, length: 5),
            ])
    }

    @Test func `finds words and not parts of names`() {
        #expect("let x = unsafe f()"[...].hasWord("unsafe"))
        #expect(!"let unsafeName = 1"[...].hasWord("unsafe"))
        #expect("nonunsafe unsafe"[...].hasWord("unsafe"))
    }
}
