extension Command {
    static let settings = Command(
        name: "settings", summary: "Show the table of all settings, in Markdown"
    ) { _ in
        Console.out(Setting.documentation)
    }
}
