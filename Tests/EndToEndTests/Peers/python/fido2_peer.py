"""python-fido2 as the other side of both ceremonies: an implementation that shares nothing with ours.

usage: fido2_peer.py RP_ID ORIGIN FOLDER

Commands (see commands.py). Options and answers are the JSON of WebAuthn L3 §5.1.8 and §5.1.9.
  make                takes {"algorithm", "options"}: a new key's answer to creation options
  sign                takes {"options"}: that key's answer to request options
  check_registration  takes {"challenge", "answer"}: judges the answer as a server that demands user
                      verification
  check_assertion     takes {"challenge", "answer"}: the same with the key that was checked before
"""

import os
import sys

from commands import Refusal, end_on_sigterm, serve
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, ed25519
from fido2 import cose
from fido2.server import Fido2Server
from fido2.webauthn import (
    AttestationObject,
    AttestedCredentialData,
    AuthenticationResponse,
    AuthenticatorAssertionResponse,
    AuthenticatorAttestationResponse,
    AuthenticatorData,
    CollectedClientData,
    PublicKeyCredentialCreationOptions,
    PublicKeyCredentialRequestOptions,
    PublicKeyCredentialRpEntity,
    RegistrationResponse,
    UserVerificationRequirement,
)

FLAG = AuthenticatorData.FLAG
NO_MODEL = bytes(16)


class Key:
    """A key pair of one algorithm, by its COSE number."""

    def __init__(self, algorithm):
        if algorithm == cose.ES256.ALGORITHM:
            key = ec.generate_private_key(ec.SECP256R1())
            self.sign = lambda message: key.sign(message, ec.ECDSA(hashes.SHA256()))
        elif algorithm == cose.EdDSA.ALGORITHM:
            key = ed25519.Ed25519PrivateKey.generate()
            self.sign = key.sign
        else:
            raise Refusal("NotSupportedError", f"algorithm {algorithm}")
        self.public = cose.CoseKey.for_alg(algorithm).from_cryptography_key(key.public_key())


class Peer:
    """One credential as its authenticator has it, and one as a server knows it."""

    def __init__(self, relying_party, origin):
        self._origin = origin
        self._rp = PublicKeyCredentialRpEntity(id=relying_party, name="Bank")
        self._server = Fido2Server(self._rp, verify_origin=lambda found: found == origin)
        self._sign_count = 0

    def make(self, argument):
        options = PublicKeyCredentialCreationOptions.from_dict(argument["options"])
        offered = [parameter.alg for parameter in options.pub_key_cred_params]
        # An authenticator would refuse what is not offered; told to, this one makes it all the same.
        if argument["algorithm"] not in offered and not argument.get("unasked"):
            raise Refusal("NotSupportedError", f"only {offered} are asked for")
        self._key = Key(argument["algorithm"])
        self._id = os.urandom(32)
        self._user = options.user.id
        credential = AttestedCredentialData.create(NO_MODEL, self._id, self._key.public)
        client_data = CollectedClientData.create(
            CollectedClientData.TYPE.CREATE, options.challenge, self._origin
        )
        answer = AuthenticatorAttestationResponse(
            client_data=client_data,
            attestation_object=AttestationObject.create(
                "none", self._data(FLAG.AT, credential), {}
            ),
        )
        return dict(RegistrationResponse(raw_id=self._id, response=answer))

    def sign(self, argument):
        options = PublicKeyCredentialRequestOptions.from_dict(argument["options"])
        if self._id not in [allowed.id for allowed in options.allow_credentials]:
            raise Refusal("NotAllowedError", "this credential is not asked for")
        client_data = CollectedClientData.create(
            CollectedClientData.TYPE.GET, options.challenge, self._origin
        )
        data = self._data()
        answer = AuthenticatorAssertionResponse(
            client_data=client_data,
            authenticator_data=data,
            signature=self._key.sign(data + client_data.hash),
            user_handle=self._user,
        )
        return dict(AuthenticationResponse(raw_id=self._id, response=answer))

    def _data(self, flags=FLAG(0), credential=b""):
        """Authenticator data that counts on; the customer is always there and known."""
        self._sign_count += 1
        return AuthenticatorData.create(
            self._rp.id_hash, flags | FLAG.UP | FLAG.UV, self._sign_count, credential
        )

    def check_registration(self, argument):
        data = judged(self._server.register_complete, state(argument), argument["answer"])
        self._known = data.credential_data

    def check_assertion(self, argument):
        judged(
            self._server.authenticate_complete, state(argument), [self._known], argument["answer"]
        )


def state(argument):
    """What the server has remembered since it asked."""
    return {
        "challenge": argument["challenge"],
        "user_verification": UserVerificationRequirement.REQUIRED,
    }


def judged(judge, *arguments):
    """What a judgement gives; python-fido2 refuses by ValueError with a sentence."""
    try:
        return judge(*arguments)
    except ValueError as error:
        raise Refusal("Refused", str(error))


def main(relying_party, origin, _):
    end_on_sigterm()
    peer = Peer(relying_party, origin)
    names = ["make", "sign", "check_registration", "check_assertion"]
    serve({name: getattr(peer, name) for name in names})


main(*sys.argv[1:])
