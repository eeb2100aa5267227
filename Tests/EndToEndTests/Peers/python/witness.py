"""A witness of C2SP tlog-witness: an implementation that shares nothing with ours.

usage: witness.py NAME FOLDER

It speaks `add-checkpoint` on a port of its own, and checks signatures and consistency itself.
Commands (see commands.py):
  key     the witness's verifier key
  url     where add-checkpoint is, while it is up
  trust   takes {"key"}: believes the log of that verifier key
  state   takes {"origin"}: {"size", "root", "requests", "olds", "line"}, what it has cosigned last and asked
  behave  takes {"as"}: honest, or one of the ways below not to be
  down    stops listening, as if the machine were off
  up      listens again, on the same port
"""

import base64
import hashlib
import http.server
import sys
import threading
import time

from commands import end_on_sigterm, serve
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ed25519


class Answer(Exception):
    """A status and what goes with it."""

    def __init__(self, status, body=b"", kind="text/plain"):
        super().__init__(status)
        self.status, self.body, self.kind = status, body, kind


def node(left, right):
    return hashlib.sha256(b"\x01" + left + right).digest()


def roots(proof, low, high, old, old_root):
    """The roots of the leaves from low on, of the old tree and of the new one, as the proof has them.

    The recursion of RFC 6962, section 2.1.2, walked with the proof's hashes in hand.
    """
    if old == high:
        if low == 0:
            if proof:
                raise Answer(422)
            return old_root, old_root
        if len(proof) != 1:
            raise Answer(422)
        return proof[0], proof[0]
    if not proof:
        raise Answer(422)
    middle = 1
    while middle * 2 < high - low:
        middle *= 2
    last = proof[-1]
    if old <= low + middle:
        before, after = roots(proof[:-1], low, low + middle, old, old_root)
        return before, node(after, last)
    before, after = roots(proof[:-1], low + middle, high, old, old_root)
    return node(last, before), node(last, after)


class Witness:
    def __init__(self, name):
        self.name = name
        self.secret = ed25519.Ed25519PrivateKey.generate()
        public = self.secret.public_key().public_bytes(
            serialization.Encoding.Raw, serialization.PublicFormat.Raw)
        self.public = b"\x04" + public
        self.id = hashlib.sha256(name.encode() + b"\n" + self.public).digest()[:4]
        self.logs, self.seen = {}, {}
        self.behaviour, self.olds, self.line = "honest", [], ""
        self.lock = threading.Lock()

    def key(self):
        return f"{self.name}+{self.id.hex()}+{base64.b64encode(self.public).decode()}"

    def add(self, body):
        """Judges one request as the specification has it; the answer is raised."""
        head, _, note = body.partition(b"\n\n")
        lines = head.split(b"\n")
        if not lines[0].startswith(b"old ") or not lines[0][4:].isdigit() or len(lines) > 64:
            raise Answer(400)
        old = int(lines[0][4:])
        proof = [base64.b64decode(line, validate=True) for line in lines[1:]]
        if any(len(hash) != 32 for hash in proof):
            raise Answer(400)
        text, _, signatures = note.partition(b"\n\n")
        text += b"\n"
        origin, size, root = text.decode().split("\n")[:3]
        size, root = int(size), base64.b64decode(root, validate=True)
        with self.lock:
            self.olds.append(old)
            if origin not in self.logs:
                raise Answer(404)
            self.verify(origin, text, signatures)
            if old > size:
                raise Answer(400)
            seen_size, seen_root = self.seen.get(origin, (0, hashlib.sha256(b"").digest()))
            conflict = Answer(409, f"{seen_size}\n".encode(), "text/x.tlog.size")
            if old != seen_size or old == size and root != seen_root:
                raise conflict
            if old == 0:
                if proof:
                    raise Answer(422)
            elif roots(proof, 0, size, old, seen_root) != (seen_root, root):
                raise Answer(422)
            self.seen[origin] = (size, root)
            self.line = self.cosign(text)
            raise Answer(200, self.line.encode())

    def verify(self, origin, text, signatures):
        for line in signatures.decode().splitlines():
            dash, name, signature = line.split(" ")
            signature = base64.b64decode(signature, validate=True)
            key_id, public = self.logs[origin]
            if dash == "\u2014" and name == origin and signature[:4] == key_id:
                try:
                    ed25519.Ed25519PublicKey.from_public_bytes(public).verify(signature[4:], text)
                    return
                except InvalidSignature:
                    raise Answer(403) from None
        raise Answer(403)

    def cosign(self, text, secret=None, ahead=0):
        now = int(time.time()) + ahead
        signature = (secret or self.secret).sign(f"cosignature/v1\ntime {now}\n".encode() + text)
        stamped = base64.b64encode(self.id + now.to_bytes(8, "big") + signature).decode()
        return f"\u2014 {self.name} {stamped}\n"

    def misbehave(self, body):
        """What a broken or hostile witness says, whatever it was asked."""
        text = body.partition(b"\n\n")[2].partition(b"\n\n")[0] + b"\n"
        behaviour = self.behaviour
        if behaviour.startswith("status-"):
            raise Answer(int(behaviour[7:]))
        if behaviour == "slow":
            time.sleep(8)
        if behaviour == "garbage":
            raise Answer(200, b"\x00\xff not a line\n")
        if behaviour == "empty":
            raise Answer(200)
        if behaviour == "huge":
            raise Answer(200, self.cosign(text).encode() * 200)
        if behaviour == "redirect":
            raise Answer(302)
        if behaviour == "other-key":
            other = Witness("other.example/witness")
            raise Answer(200, other.cosign(text).encode())
        if behaviour == "forged":
            raise Answer(200, self.cosign(text, ed25519.Ed25519PrivateKey.generate()).encode())
        if behaviour == "fast-clock":
            raise Answer(200, self.cosign(text, ahead=360).encode())
        if behaviour == "slow-clock":
            raise Answer(200, self.cosign(text, ahead=-360).encode())
        if behaviour == "many-times":
            raise Answer(200, "".join(self.cosign(text, ahead=-n) for n in range(5)).encode())
        if behaviour == "other-note":
            raise Answer(200, self.cosign(b"other\n" + text).encode())
        if behaviour == "conflict-without-type":
            raise Answer(409, b"1\n")
        if behaviour == "conflict-without-number":
            raise Answer(409, b"-1\n", "text/x.tlog.size")
        if behaviour == "larger":
            raise Answer(409, b"1000000\n", "text/x.tlog.size")
        if behaviour == "with-others":
            try:
                self.add(body)
            except Answer as answer:
                other = Witness("other.example/witness").cosign(text).encode()
                if answer.status == 200:
                    answer.body = other + answer.body
                raise


class Door:
    """The port that a log knows."""

    def __init__(self, witness):
        self.witness, self.port, self.server = witness, 0, None

    def up(self):
        witness = self.witness

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                try:
                    if self.path != "/w/add-checkpoint":
                        raise Answer(404)
                    witness.misbehave(body)
                    witness.add(body)
                except Answer as answer:
                    self.send_response(answer.status)
                    self.send_header("Content-Type", answer.kind)
                    self.send_header("Content-Length", str(len(answer.body)))
                    if answer.status == 302:
                        self.send_header("Location", "/w/add-checkpoint")
                    self.send_header("Connection", "close")
                    self.close_connection = True
                    self.end_headers()
                    self.wfile.write(answer.body)

            def log_message(self, *ignored):
                pass

        class Server(http.server.ThreadingHTTPServer):
            daemon_threads = True

            def handle_error(self, *ignored):
                pass

        self.server = Server(("127.0.0.1", self.port), Handler)
        self.port = self.server.server_port
        threading.Thread(target=self.server.serve_forever, args=(0.05,), daemon=True).start()

    def down(self):
        self.server.shutdown()
        self.server.server_close()


def main():
    end_on_sigterm()
    witness = Witness(sys.argv[1])
    door = Door(witness)
    door.up()

    def trust(argument):
        name, key_id, key = argument["key"].split("+", 2)
        witness.logs[name] = (bytes.fromhex(key_id), base64.b64decode(key)[1:])

    def state(argument):
        size, root = witness.seen.get(argument["origin"], (0, b""))
        return {
            "size": size, "root": root.hex(), "requests": len(witness.olds), "olds": witness.olds,
            "line": witness.line,
        }

    def behave(argument):
        witness.behaviour = argument["as"]

    serve({
        "key": lambda _: witness.key(),
        "url": lambda _: f"http://127.0.0.1:{door.port}/w",
        "trust": trust,
        "state": state,
        "behave": behave,
        "down": lambda _: door.down(),
        "up": lambda _: door.up(),
    })


main()
