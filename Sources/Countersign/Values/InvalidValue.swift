/// Why a text is not an acceptable value; becomes one entry of `errors` in an `invalid-action` problem.
package struct InvalidValue: Error, Equatable, Sendable {
    /// A stable, lower-case word for programs, such as `amount_decimals`.
    package let code: String
    /// One sentence for a person, without the refused value: it may be personal data.
    package let detail: String

    package init(_ code: String, _ detail: String) {
        self.code = code
        self.detail = detail
    }
}
