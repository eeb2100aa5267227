package import Countersign

/// Where and how browsers confirm payments for this installation; all of it comes from configuration.
///
/// Source: Secure Payment Confirmation, SPC-04, SPC-06, SPC-10.
package struct PaymentParty: Sendable {
    /// The relying party of the passkeys, with the origins that may ask for payments, which need not be
    /// its own, and the pages that may frame them.
    let relyingParty: RelyingParty
    /// What browsers show as the means of payment.
    let instrument: PaymentInstrument

    /// Takes what the configuration says.
    ///
    /// - Parameters:
    ///   - relyingParty: For whom passkeys are made.
    ///   - origins: Exactly these pages may ask, such as a merchant's.
    ///   - topOrigins: Pages of other sites that may hold such a page in a frame; none refuses frames.
    ///   - instrument: What browsers show as the means of payment.
    /// - Throws: ``InvalidValue`` when a text is empty or too long, or there is no origin.
    package init(
        relyingParty: RelyingParty, origins: [String], topOrigins: [String],
        instrument: PaymentInstrument
    ) throws(InvalidValue) {
        self.relyingParty = try RelyingParty(
            id: relyingParty.id, name: relyingParty.name, origins: origins,
            framing: topOrigins.isEmpty ? .refused : .allowed(in: topOrigins))
        self.instrument = instrument
    }
}
