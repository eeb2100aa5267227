/// The decoded parameters of a URL, in order.
package struct Query: Sendable, Equatable {
    /// One `name=value`; the value is empty when there was no `=`.
    package struct Parameter: Sendable, Equatable {
        package let name: String
        package let value: String

        package init(_ name: String, _ value: String) {
            self.name = name
            self.value = value
        }
    }

    package let parameters: [Parameter]

    package init(_ parameters: [Parameter] = []) { self.parameters = parameters }

    /// Reads what stands after the `?`; `nil` when an escape is broken, is `%00` or is not UTF-8.
    package init?(decoding text: some StringProtocol) {
        var parameters: [Parameter] = []
        for pair in text.split(separator: "&") {
            let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard let name = PercentEncoding.decode(parts[0], plusIsSpace: true),
                let value = PercentEncoding.decode(
                    parts.count == 2 ? parts[1] : "", plusIsSpace: true)
            else { return nil }
            parameters.append(Parameter(name, value))
        }
        self.parameters = parameters
    }

    /// The first value of that name; `nil` when there is none.
    package func first(_ name: String) -> String? {
        parameters.first { $0.name == name }?.value
    }

    /// Every value of that name, in order.
    package func all(_ name: String) -> [String] {
        parameters.filter { $0.name == name }.map(\.value)
    }
}
