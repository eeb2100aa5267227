/// What a browser shows as the means of payment: the bank's own words and picture.
///
/// Source: Secure Payment Confirmation, `PaymentCredentialInstrument`.
package struct PaymentInstrument: Sendable {
    package let displayName: String
    /// The URL of the picture, as it was written; a data URL is itself the evidence of what was shown.
    package let icon: String

    package init(displayName: String, icon: String) {
        self.displayName = displayName
        self.icon = icon
    }
}
