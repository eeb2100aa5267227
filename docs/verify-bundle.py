"""Verifies a bundle (evidence-format.md, which says what is left out): verify-bundle.py BUNDLE POLICY [TSA-CA.pem]; 0 only if all holds."""
import base64, hashlib, json, pathlib, re, ssl, subprocess, sys, tempfile
def need(holds, what): holds or sys.exit("INVALID: " + what)
def sha(data): return hashlib.sha256(data).digest()
def canonical(value, sort): return json.dumps(value, sort_keys=sort, separators=(",", ":"), ensure_ascii=False)
def b64(text): return need(base64.b64encode(base64.b64decode(text)).decode() == text, "base64") or base64.b64decode(text)
def b64url(text): return b64(text.replace("-", "+").replace("_", "/") + "=" * (-len(text) % 4))
def openssl(arguments, folder=tempfile.TemporaryDirectory(), **files):      # what it prints; False when it fails
    for name, data in files.items(): pathlib.Path(folder.name, name).write_bytes(data)
    done = subprocess.run(["openssl", *arguments.split()], cwd=folder.name, capture_output=True)
    return done.returncode == 0 and (done.stdout or b"nothing")
ED25519 = bytes.fromhex("302a300506032b6570032100")         # RFC 8410: the DER before a raw key
def signs(spki, message, signature):                        # a key in DER says itself of which kind it is
    digest = "" if spki.startswith(ED25519) else f" -digest sha{384 if len(spki) == 120 else 256}"
    return openssl("pkeyutl -verify -pubin -keyform DER -inkey k -rawin -in m -sigfile s" + digest, k=spki, m=message, s=signature)
def der(raw):                                               # r and s of P-256, 32 bytes each, as openssl reads them
    r, s = ((b"\0" + part if part[:1] >= b"\x80" else part) for part in (raw[:32].lstrip(b"\0"), raw[32:].lstrip(b"\0")))
    return bytes([0x30, len(r + s) + 4, 2, len(r)]) + r + bytes([2, len(s)]) + s
def read_policy(text):                                      # c2sp.org/tlog-policy
    keys, groups, quorum = [], [], []
    for kind, *words in (re.split("[ \t]+", line.strip(" \t")) for line in text.split("\n")):
        if kind in ("log", "witness"):
            name, key_id, data = words[kind == "witness"].split("+", 2)
            key = bytes([1 if kind == "log" else 4]) + b64(data)[1:]
            need(key == b64(data) and sha(name.encode() + b"\n" + key)[:4].hex() == key_id, "the key of " + name)
            need(key not in [other[-1] for other in keys], f"the policy names the key of {name} twice")
            keys.append((words[0] if kind == "witness" else b"log", name, bytes.fromhex(key_id), key))
        elif kind == "group":
            count, members = {"all": str(len(words) - 2), "any": "1"}.get(words[1], words[1]), set(words[2:])
            need(members <= {known[0] for known in keys + groups} and count in map(str, range(1, len(members) + 1)), "a group")
            groups.append((words[0], int(count), members))
        elif kind == "quorum": quorum += words
        else: need(kind[:1] in ("", "#"), "policy")
    return keys, groups, *quorum
def read_checkpoint(note, keys, groups, quorum):            # c2sp.org/signed-note, tlog-checkpoint, tlog-cosignature
    text, origin, size, root = re.match(r"(([^ +\n]+)\n(0|[1-9][0-9]*)\n(.+)\n)\n(?:\u2014 [^ \n]+ [^ \n]+\n)+\Z", note).groups()
    lines, met, said = [(name, b64(data)) for _, name, data in map(str.split, note.split("\n")[4:-1])], {"none"}, {}
    for called, name, key_id, key in (key for key in keys if key[0] != b"log" or key[1] == origin):
        for data in (data[4:] for signer, data in lines if signer == name and data[:4] == key_id):
            time, message = int.from_bytes(data[:8], "big"), text
            if called != b"log": message, data, said[called] = f"cosignature/v1\ntime {time}\n{text}", data[8:], time
            need(signs(ED25519 + key[1:], message.encode(), data), "signature of " + name)
            met.add(called)
    for group, count, members in groups: met |= {group} if len(met & members) >= count else set()
    need({b"log", quorum} <= met, "not signed by the log and enough witnesses")
    print(f"log {origin}, size {size}, cosigned by {said or 'nobody'}")
    return origin, int(size), b64(root), "".join([text, "\n", *re.findall(f"\u2014 {re.escape(origin)} .+\n", note)]).encode()
def stamped(response, note, authority):     # judged at its own time, by the signed part of it: a status may say anything
    text = openssl("ts -reply -in t -token_out -out p", t=response, n=note, c=authority) and openssl("ts -reply -in p -token_in -text")
    at = ssl.cert_time_to_seconds(re.sub("[.][0-9]+", "", re.search("^Time stamp: (.+)$", text.decode(), re.M)[1]))
    return openssl(f"ts -verify -data n -in t -CAfile c -attime {at}")
def root_of(leaf, at, size, path):                          # RFC 9162 section 2.1.3.1, from the root down
    if size == 1: return sha(b"\0" + leaf) if at == 0 and not path else None
    half, *below, other = 1 << (size - 1).bit_length() - 1, *path      # the largest power of two below the size
    return sha(b"\1" + (root_of(leaf, at, half, below) + other if at < half else other + root_of(leaf, at - half, size - half, below)))
KINDS = dict(enrolled="credential.enrolled", policy="policy.published", **{role: "action." + role for role in
    ("created", "approved", "rejected", "refused", "held", "released", "cancelled")}, executed="order.executed",
    not_executed="order.refused", unknown="order.unknown", erased="subject.erased")     # in the order of a bundle
def read_entry(role, entry, origin, size, root):            # proof and checkpoint together are c2sp.org/tlog-proof
    need(re.fullmatch("proof,leaf(,salt,body[0-9A-Za-z_-]{43})?", ",".join(entry) + entry.get("salt", "")), role + ": members or salt")
    index, path = re.fullmatch(r"c2sp[.]org/tlog-proof@v1\nindex (0|[1-9][0-9]*)\n(.*)\n", entry["proof"], re.S).groups()
    text, leaf, body = entry["leaf"], json.loads(entry["leaf"]), entry.get("body")
    need(root_of(text.encode(), int(index), size, [*map(b64, path.split("\n")[:-1])]) == root, role + ": not in the log")
    need([canonical(leaf, True), leaf["v"], leaf["log"], leaf["kind"]] == [text, "countersign/leaf/1", origin, KINDS[role]], role)
    need(body is None or sha(b"countersign/body/1\n" + b64url(entry["salt"]) + body.encode()).hex() == leaf["body"], role + ": body")
    print(f"  {role}: position {index}, {leaf['at']}" + (", body erased" if body is None else ""))
    return int(index), leaf, body and dict(json.loads(body)), sha(b"\0" + text.encode()).hex()
def check_signature(body, leaf, verb, created):
    text, answer, signature = b64url(body["message"]), body["assertion"], b64url(body["assertion"]["signature"])
    need(canonical(message := json.loads(text), True).encode() == text and "purpose" not in message, "message")
    need([message[m] for m in ("version", "action_id", "decision")] == ["countersign/1", leaf["action"], verb], "another decision")
    if answer["kind"] == "passkey":                         # WebAuthn level 3, section 7.2
        data, said = b64url(answer["authenticator_data"]), json.loads(client := b64url(answer["client_data_json"]))
        need(said["type"] == ("payment.get" if "payment" in answer else "webauthn.get"), "kind of the answer")
        need("payment" not in answer or said["payment"]["total"]["value"] == message["amount"], "payment that was shown")
        need((b64url(said["challenge"]), data[:32], data[32] & 5) == (sha(text), sha(message["audience"].encode()), 5), "passkey")
        text = data + sha(client)
    elif body.get("signature_format") == "raw": signature = der(signature)
    need(signs(b64url(body["public_key"]), text, signature), "signature of the customer")
    need(all(created["action"][m] == message[m] for m in ("customer_id", "kind")), "another action was created")
    print(f"  {leaf['kind'][7:]}: signed with the {answer['kind']} {leaf['credential']}: {canonical(message, True)}")
def verify(text, policy, authority=None):
    bundle = {"v": "countersign/bundle/1", **{m: json.loads(text)[m] for m in ("checkpoint", "timestamps", "entries")}}
    need(canonical(bundle, False) == text and [*bundle["entries"]] == [role for role in KINDS if role in bundle["entries"]], "form")
    *log, note = read_checkpoint(bundle["checkpoint"], *read_policy(policy))
    for token in map(b64, bundle["timestamps"]): need(not authority or stamped(token, note, authority), "timestamp")
    print(f"timestamps{'' if authority else ', not checked'}: {len(bundle['timestamps']) or 'no timestamp is in this bundle'}")
    records = {role: read_entry(role, entry, *log) for role, entry in bundle["entries"].items()}
    last, gone, told, _ = records.pop("erased", (1 << 63, None, None, None))     # whom, says the leaf alone
    need({other[2] is None for name, other in records.items() if name != "policy"} == {gone is not None}, "a body was left out")
    (role,) = records.keys() & {"approved", "rejected", "refused"}     # exactly one decision
    (at, leaf, body, _), first = records[role], [other for other in ("enrolled", "policy", "created") if other in records]
    need(first == ["enrolled"] * ("credential" in leaf) + ["policy"] * ("policy" in leaf) + ["created"], "records")
    need(not gone or not told and {*gone["subject"]} == {*"0-"} and gone["subject"] != gone["outcome"] == leaf["subject"], "erasure")
    for other, (position, its, _, _) in records.items():
        for member in {"policy": ["policy"], "enrolled": ["subject", "credential"]}.get(other, ["subject", "action"]):
            need(its[member] == leaf[member], f"{other}: other {member}")
        need(position < at if other in first else position < last and role in (other, "approved"), other + ": place")
    for of, n, previous, start in (("action", "aseq", "aprev", "created"), ("credential", "cseq", "cprev", "enrolled")):
        chain = sorted((int(its[n]), its[previous], own, name) for name, (_, its, _, own) in records.items() if of in its)
        for (a, _, own, _), (b, before, _, name) in zip([(0, "", "", ""), *chain], chain):
            need((b == 1, b < int(leaf[n])) == (name == start, name in first) and (a + 1 < b or (a + 1, own) == (b, before)), "chain")
    if "policy" in records:
        (_, published, its, _), verdict = records["policy"], body and body["policy"]["verdict"]
        said = {"digest": leaf["policy"], "version": its["version"], "inputs": leaf} if body is None else body["policy"]
        need(sha(b64url(its["document"])).hex() == leaf["policy"] == said["digest"] and its["version"] == said["version"], "policy")
        need(its.get("active_from", published["at"])[:-1] <= said["inputs"]["at"][:-1] <= leaf["at"][:-1], "not in force")  # no Z
        need(not body or [leaf["outcome"], role] == ([verdict["rule"], "refused"] if "rule" in verdict else ["approved"] * 2), "verdict")
    if "enrolled" in records and body is not None:
        key = records["enrolled"][2] | {"enrolment_evidence_id": records["enrolled"][1]["id"]}
        need(all(key.get(m) == body.get(m) for m in ("public_key", "signature_format", "enrolment_evidence_id")), "another key")
    for told, member in ((records[a][2], m) for a, m in (("executed", "reference"), ("not_executed", "reason")) if a in records):
        need(told is None or b64url(told["raw"]) and isinstance(told[member], str), "no receipt of core banking")
    if body and body["signed"]: check_signature(body, leaf, "reject" if role == "rejected" else "approve", records["created"][2])
    need(role == "rejected" or body is None or body["signed"] or body.get("approval") == "assisted", "not signed")
    later = [KINDS[other] for other in list(KINDS)[6 if role == "approved" else 3:12] if other not in records]
    print("not excluded are later records of this action:", *later, "order.contradicted")
    print("VALID" if body and body["signed"] else "VALID, and no signature of the customer was there to be verified")
try: verify(*(open(p, newline="").read() for p in sys.argv[1:3]), *(open(p, "rb").read() for p in sys.argv[3:4]))
except Exception as fault: sys.exit(f"INVALID: {type(fault).__name__}: {fault}")
