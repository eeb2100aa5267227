"""A timestamp authority of RFC 3161, made of the openssl program.

usage: timestamps.py FOLDER

Commands (see commands.py):
  url     where timestamps are asked for
  root    the certificate in which the authority's path ends, PEM
  behave  takes {"as"}: good, or one of the ways below not to be
  seen    how many were asked for
"""

import http.server
import subprocess
import sys
import threading
import time

from commands import end_on_sigterm, serve

STAMPING = "critical,timeStamping"
NEW_KEY = "-newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes"
# Each signer: its authority, its extended key usage, the days that it is valid from and until.
SIGNERS = {
    "good": ("ca", STAMPING, -1, 30),
    "other-authority": ("other", STAMPING, -1, 30),
    "expired": ("ca", STAMPING, -30, -1),
    "not-yet": ("ca", STAMPING, 1, 30),
    "usage-of-servers": ("ca", "critical,serverAuth", -1, 30),
    "usage-of-both": ("ca", "critical,timeStamping,serverAuth", -1, 30),
    "usage-unknown-too": ("ca", "critical,timeStamping,1.2.3.4", -1, 30),
    "usage-not-critical": ("ca", "timeStamping", -1, 30),
}


def der(tag, content):
    length = len(content)
    if length < 128:
        return bytes([tag, length]) + content
    octets = length.to_bytes((length.bit_length() + 7) // 8, "big")
    return bytes([tag, 0x80 | len(octets)]) + octets + content


class Authority:
    def __init__(self, folder):
        self.folder, self.behaviour, self.seen = folder, "good", 0
        for name in ("ca", "other"):
            self.openssl(
                f"req -x509 {NEW_KEY} -keyout {name}.key -out {name}.pem -days 30 "
                f"-subj /CN={name} -addext basicConstraints=critical,CA:TRUE "
                "-addext keyUsage=critical,keyCertSign")
        for name in ("ca", "other"):
            self.write(f"{name}.index", "")
            self.write(f"{name}.cnf", f"""
[ca]
default_ca = own
[own]
new_certs_dir = .
database = {name}.index
rand_serial = yes
default_md = sha256
policy = any
unique_subject = no
[any]
commonName = supplied
""")
        for name, (authority, usage, first, last) in SIGNERS.items():
            self.certify(name, authority, usage, first, last)
        self.write("serial", "01")
        self.write("tsa.cnf", """
[tsa]
default_tsa = own
[own]
serial = serial
signer_digest = sha256
default_policy = 1.2.3.4.1
digests = sha256
ess_cert_id_alg = sha256
""")

    def certify(self, name, authority, usage, first, last):
        day = lambda days: time.strftime("%Y%m%d%H%M%SZ", time.gmtime(time.time() + days * 86400))
        self.write(
            f"{name}.ext",
            f"basicConstraints = CA:FALSE\nkeyUsage = critical,digitalSignature\n"
            f"extendedKeyUsage = {usage}\n")
        self.openssl(
            f"req -new {NEW_KEY} -keyout {name}.key -out {name}.csr -subj /CN={name}")
        self.openssl(
            f"ca -batch -config {authority}.cnf -cert {authority}.pem -keyfile {authority}.key "
            f"-in {name}.csr -out {name}.pem -notext -extfile {name}.ext "
            f"-startdate {day(first)} -enddate {day(last)}")

    def openssl(self, arguments):
        done = subprocess.run(
            ["/usr/bin/openssl"] + arguments.split(), cwd=self.folder, capture_output=True)
        if done.returncode != 0:
            raise RuntimeError(arguments + "\n" + done.stderr.decode())

    def write(self, name, content):
        with open(f"{self.folder}/{name}", "wb") as file:
            file.write(content if isinstance(content, bytes) else content.encode())

    def read(self, name):
        with open(f"{self.folder}/{name}", "rb") as file:
            return file.read()

    def reply(self, query):
        self.write("query", query)
        self.openssl(
            "ts -reply -config tsa.cnf -queryfile query -signer good.pem -inkey good.key -out reply")
        return self.read("reply")

    def sign_again(self, query, signer, options):
        """The same TSTInfo, signed by somebody else or in another way."""
        self.reply(query)
        self.openssl("ts -reply -in reply -token_out -out token")
        self.openssl("cms -verify -noverify -inform DER -in token -out info")
        self.openssl(
            f"cms -sign -binary -nodetach -nosmimecap -in info -inkey {signer}.key "
            f"-signer {signer}.pem -econtent_type 1.2.840.113549.1.9.16.1.4 -outform DER "
            f"-out token {options}")
        return der(0x30, der(0x30, der(0x02, b"\0")) + self.read("token"))

    def answer(self, query):
        """The status, the media type and the body that the behaviour has for a query."""
        self.seen += 1
        kind, behaviour = "application/timestamp-reply", self.behaviour
        imprint = query.index(b"\x04\x20") + 2
        if behaviour == "good":
            return 200, kind, self.reply(query)
        if behaviour in SIGNERS:
            return 200, kind, self.sign_again(query, behaviour, "-md sha256 -cades")
        if behaviour == "signed-again":
            return 200, kind, self.sign_again(query, "good", "-md sha256 -cades")
        if behaviour == "without-certificate-hash":
            return 200, kind, self.sign_again(query, "good", "-md sha256")
        if behaviour == "weak-hash":
            return 200, kind, self.sign_again(query, "good", "-md sha1 -cades")
        if behaviour == "without-certificate":
            return 200, kind, self.sign_again(query, "good", "-md sha256 -cades -nocerts")
        if behaviour == "wrong-imprint":
            changed = bytearray(query)
            changed[imprint] ^= 1
            return 200, kind, self.reply(bytes(changed))
        if behaviour == "wrong-nonce":
            changed = bytearray(query)
            # After the imprint: tag and length of the nonce, and its bytes.
            changed[imprint + 32 + 2 + 4] ^= 1
            return 200, kind, self.reply(bytes(changed))
        if behaviour == "without-nonce":
            digest = query[imprint:imprint + 32].hex()
            self.openssl(f"ts -query -digest {digest} -sha256 -no_nonce -cert -out other")
            return 200, kind, self.reply(self.read("other"))
        if behaviour == "rejected":
            return 200, kind, der(0x30, der(0x30, der(0x02, b"\x02")))
        if behaviour == "rejected-with-token":
            token = self.reply(query)
            return 200, kind, token.replace(b"\x30\x03\x02\x01\x00", b"\x30\x03\x02\x01\x02", 1)
        if behaviour == "truncated":
            return 200, kind, self.reply(query)[:-9]
        if behaviour == "with-more":
            return 200, kind, self.reply(query) + b"\0"
        if behaviour == "changed":
            changed = bytearray(self.reply(query))
            changed[-9] ^= 1
            return 200, kind, bytes(changed)
        if behaviour == "huge":
            return 200, kind, self.reply(query) + bytes(64 * 1024)
        if behaviour == "garbage":
            return 200, kind, b"timestamp"
        if behaviour == "empty":
            return 200, kind, b""
        if behaviour == "other-type":
            return 200, "text/html", self.reply(query)
        if behaviour == "unavailable":
            return 503, kind, self.reply(query)
        raise RuntimeError(behaviour)


def main():
    end_on_sigterm()
    authority = Authority(sys.argv[1])

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_POST(self):
            body = self.rfile.read(int(self.headers["Content-Length"]))
            is_query = self.headers["Content-Type"] == "application/timestamp-query"
            status, kind, answer = authority.answer(body) if is_query else (415, "text/plain", b"")
            self.send_response(status)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

        def log_message(self, *ignored):
            pass

    server = http.server.HTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()

    def behave(argument):
        authority.behaviour = argument["as"]

    serve({
        "url": lambda _: f"http://127.0.0.1:{server.server_port}/tsr",
        "root": lambda _: authority.read("ca.pem").decode(),
        "behave": behave,
        "seen": lambda _: authority.seen,
    })


main()
