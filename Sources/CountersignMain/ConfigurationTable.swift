extension Setting {
    /// The table of all settings for `docs/operations.md`, in Markdown; a test compares the two.
    static var documentation: String {
        let header = """
            | setting | flag | environment | takes | default | what |
            |---|---|---|---|---|---|

            """
        return header
            + all.map { setting in
                let what = setting.what + (setting.kind.note.map { "; " + $0 } ?? "")
                let fallback = setting.fallback.flatMap { $0.isEmpty ? nil : "`\($0)`" } ?? "none"
                return "| `\(setting.name)` | `\(setting.flag)` | `\(setting.environmentName)` "
                    + "| \(setting.expects) | \(fallback) | \(what) |\n"
            }.joined()
    }
}

extension Setting.Kind {
    /// What a reader must know about how the value is kept.
    var note: String? {
        switch self {
        case .plain, .yesOrNo: nil
        case .secret: "secret"
        case .keyFile: "the file is a secret"
        }
    }
}
