// What an `ID` names, where the thing itself needs no type of its own here. Never instantiated.

/// One action that a customer is asked to sign.
package enum Action {}

/// One record of evidence.
package enum Evidence {}

/// One registered public key of a customer.
package enum Credential {}

/// One claim of one item of work: whoever holds the latest lease may settle it.
package enum Lease {}

/// Somebody whom a customer may pay.
package enum Payee {}

/// One attempt to register a key.
package enum Enrolment {}

/// A system or person that calls the API.
package enum Client {}

/// A customer as evidence knows it: a random stand-in for the bank's ID.
package enum Subject {}

/// Something that the bank must tell its customer.
package enum Event {}

/// One passkey of a person of the bank.
package enum PersonKey {}

/// One attempt of a person to register a key.
package enum PersonKeyRegistration {}

/// One thing that several people of a role sign before it takes effect.
package enum Act {}

/// One question to one person about one act.
package enum ActChallenge {}

/// One draft of a policy that is evaluated beside the one in force.
package enum Shadow {}
