"""Verifies one decision from an evidence bundle (evidence-format.md) with Python's standard library and openssl(1).
usage: python3 verify-bundle.py BUNDLE POLICY [TSA-CA.pem]; exits with 0 only if all holds. Left out: see the page."""
import base64, hashlib, json, pathlib, re, subprocess, sys, tempfile, uuid
def need(holds, what): holds or sys.exit("INVALID: " + what)
def sha(data): return hashlib.sha256(data).digest()
def canonical(value, sort): return json.dumps(value, sort_keys=sort, separators=(",", ":"), ensure_ascii=False)
def b64(text):                                              # RFC 4648 section 4, in its one spelling
    need(base64.b64encode(base64.b64decode(text)).decode() == text, "base64")
    return base64.b64decode(text)
def b64url(text): return b64(text.replace("-", "+").replace("_", "/") + "=" * (-len(text) % 4))
def openssl(arguments, **files):
    with tempfile.TemporaryDirectory() as folder:
        for name, data in files.items(): pathlib.Path(folder, name).write_bytes(data)
        return subprocess.run(["openssl", *arguments.split()], cwd=folder, capture_output=True).returncode == 0
ED25519 = bytes.fromhex("302a300506032b6570032100")         # RFC 8410: the DER before a raw key
def signs(spki, message, signature):                        # a key in DER says itself of which kind it is
    command = f"dgst -sha{384 if len(spki) == 120 else 256} -keyform DER -verify k -signature s m"
    if spki.startswith(ED25519): command = "pkeyutl -verify -pubin -keyform DER -inkey k -rawin -in m -sigfile s"
    return openssl(command, k=spki, m=message, s=signature)
def der(raw):                                               # r and s of P-256, 32 bytes each, as openssl reads them
    r, s = ((b"\0" + part if part[:1] >= b"\x80" else part) for part in (raw[:32].lstrip(b"\0"), raw[32:].lstrip(b"\0")))
    return bytes([0x30, len(r + s) + 4, 2, len(r)]) + r + bytes([2, len(s)]) + s
def read_policy(text):                                      # c2sp.org/tlog-policy
    keys, groups, quorum = [], [], []
    for line in text.split("\n"):
        kind, *words = re.split("[ \t]+", line.strip(" \t"))
        if kind in ("log", "witness"):
            name, key_id, data = words[kind == "witness"].split("+", 2)
            key = bytes([1 if kind == "log" else 4]) + b64(data)[1:]
            need(key == b64(data) and sha(name.encode() + b"\n" + key)[:4].hex() == key_id, "the key of " + name)
            keys.append((kind, words[0], name, bytes.fromhex(key_id), ED25519 + key[1:]))
        elif kind == "group":
            groups.append((words[0], {"all": len(words[2:]), "any": 1}.get(words[1]) or int(words[1]), set(words[2:])))
        elif kind == "quorum": quorum += words
        else: need(kind[:1] in ("", "#"), "policy")
    return keys, groups, *quorum
def read_checkpoint(note, keys, groups, quorum):            # c2sp.org/signed-note, tlog-checkpoint, tlog-cosignature
    text, lines = re.fullmatch(r"(.*\n)\n((?:\u2014 [^ \n]+ [^ \n]+\n)+)", note, re.S).groups()
    origin, size, root = re.fullmatch(r"([^ +\n]+)\n(0|[1-9][0-9]*)\n(.+)\n", text).groups()
    lines = [(line.split(" ")[1], b64(line.split(" ")[2])) for line in lines[:-1].split("\n")]
    met, said = {"none"}, {}
    for kind, called, name, key_id, key in (k for k in keys if k[0] == "witness" or k[2] == origin):
        for data in (data[4:] for signer, data in lines if signer == name and data[:4] == key_id):
            time, message = int.from_bytes(data[:8], "big"), text
            if kind == "witness": message, data, said[called] = f"cosignature/v1\ntime {time}\n{text}", data[8:], time
            need(signs(key, message.encode(), data), "signature of " + name)
            met.add(called if kind == "witness" else b"log")
    for group, count, members in groups: met |= {group} if len(met & members) >= count else set()
    need({b"log", quorum} <= met, "not signed by the log and enough witnesses")
    print(f"log {origin}, size {size}, cosigned by {said or 'nobody'}")
    own = "".join(f"\u2014 {origin} {base64.b64encode(data).decode()}\n" for name, data in lines if name == origin)
    return origin, int(size), b64(root), (text + "\n" + own).encode()
def root_of(leaf, at, last, path):                          # RFC 9162 section 2.1.3.2, from the last position
    node, fits = sha(b"\0" + leaf), at <= last
    for sibling in path:
        fits = fits and last > 0 and len(sibling) == 32
        node = sha(b"\1" + sibling + node) if at & 1 or at == last else sha(b"\1" + node + sibling)
        while at == last and at and not at & 1: at, last = at >> 1, last >> 1
        at, last = at >> 1, last >> 1
    return node if fits and last == 0 else None
KINDS = {"enrolled": "credential.enrolled", "policy": "policy.published", "not_executed": "order.refused", "erased": "subject.erased"}
def read_entry(role, entry, origin, size, root):            # proof and checkpoint together are c2sp.org/tlog-proof
    need(list(entry) in (["proof", "leaf", "salt", "body"], ["proof", "leaf"]), role + ": members")
    index, path = re.fullmatch(r"c2sp.org/tlog-proof@v1\nindex (0|[1-9][0-9]*)\n(.*)\n", entry["proof"], re.S).groups()
    text, leaf, body = entry["leaf"].encode(), json.loads(entry["leaf"]), entry.get("body", "null")
    need(root_of(text, int(index), size - 1, map(b64, path.split("\n")[:-1])) == root, role + ": not in the log")
    need(canonical(leaf, True) == entry["leaf"], role + ": leaf")
    kind = KINDS.get(role, ("order." if role in ("executed", "unknown") else "action.") + role)
    need((leaf["v"], leaf["log"], leaf["kind"]) == ("countersign/leaf/1", origin, kind), role + ": log or kind")
    need("body" not in entry or sha(b"countersign/body/1\n" + b64url(entry["salt"]) + body.encode()).hex() == leaf["body"], role)
    print(f"  {role}: position {index}, {leaf['at']}" + ("" if "body" in entry else ", body erased"))
    return int(index), leaf, json.loads(body), sha(b"\0" + text).hex()
def check_signature(body, leaf, role, created):
    text, answer, signature = b64url(body["message"]), body["assertion"], b64url(body["assertion"]["signature"])
    need(canonical(message := json.loads(text), True).encode() == text and message["version"] == "countersign/1", "message")
    about = (leaf["action"], "reject" if role == "rejected" else "approve")
    need((message["action_id"], message["decision"]) == about and "purpose" not in message, "message of another decision")
    if answer["kind"] == "passkey":                         # WebAuthn level 3, section 7.2
        data, said = b64url(answer["authenticator_data"]), json.loads(client := b64url(answer["client_data_json"]))
        need(said["type"] == ("payment.get" if "payment" in answer else "webauthn.get"), "kind of the answer")
        need("payment" not in answer or said["payment"]["total"]["value"] == message["amount"], "payment that was shown")
        need(b64url(said["challenge"]) == sha(text), "challenge of the passkey")
        need(data[:32] == sha(message["audience"].encode()) and data[32] & 5 == 5, "user of the passkey")
        text = data + sha(client)
    elif body.get("signature_format") == "raw": signature = der(signature)
    need(signs(b64url(body["public_key"]), text, signature), "signature of the customer")
    need(not created or all(created["action"][m] == message[m] for m in ("customer_id", "kind")), "another action was created")
    print(f"  {role}: signed with a {answer['kind']}: {canonical(message, True)}")
def verify(text, policy, authority=None):
    bundle = {"v": "countersign/bundle/1", **{m: json.loads(text)[m] for m in ("checkpoint", "timestamps", "entries")}}
    need(canonical(bundle, False) == text, "form")
    *log, note = read_checkpoint(bundle["checkpoint"], *read_policy(policy))
    for token in map(b64, bundle["timestamps"]):
        need(not authority or openssl("ts -verify -data n -in t -CAfile c", n=note, t=token, c=authority), "time stamp")
    records = {role: read_entry(role, entry, *log) for role, entry in bundle["entries"].items()}
    last, gone, told, _ = records.pop("erased", (1 << 63, None, None, None))     # whom, says the leaf alone
    need({other[2] is None for name, other in records.items() if name != "policy"} == {gone is not None}, "a body was left out")
    (role,) = records.keys() & {"approved", "rejected", "refused"}     # exactly one decision
    (at, leaf, body, _), first = records[role], [other for other in ("enrolled", "policy", "created") if other in records]
    need(first == ["enrolled"] * ("credential" in leaf) + ["policy"] * ("policy" in leaf) + ["created"], "records")
    need(not gone or not told and str(uuid.UUID(int=0)) == gone["subject"] != gone["outcome"] == leaf["subject"], "not erased")
    for other, (position, its, _, _) in records.items():
        for member in {"policy": ["policy"], "enrolled": ["subject", "credential"]}.get(other, ["subject", "action"]):
            need(its[member] == leaf[member], f"{other}: other {member}")
        need(position < (at if other in first else last) and (other in first or role in (other, "approved")), other + ": place")
    for of, sequence, previous in (("action", "aseq", "aprev"), ("credential", "cseq", "cprev")):
        chain = sorted((int(its[sequence]), its[previous], own) for _, its, _, own in records.values() if of in its)
        for (a, _, own), (b, before, _) in zip(chain, chain[1:]): need(a + 1 < b or (a + 1, own) == (b, before), of)
    if its := records.get("policy", [{}] * 3)[2]: need(sha(b64url(its["document"])).hex() == leaf["policy"], "document")
    if its and body: need([body["policy"][m] for m in ("digest", "version")] == [leaf["policy"], its["version"]], "policy")
    if body and "enrolled" in records and (key := records["enrolled"][2]):
        same = all(key.get(member) == body.get(member) for member in ("public_key", "signature_format"))
        need(same and body["enrolment_evidence_id"] == records["enrolled"][1]["id"], "another key was enrolled")
    if body and body["signed"]: check_signature(body, leaf, role, records["created"][2])
    need(role == "rejected" or not body or body["signed"] or body.get("approval") == "assisted", "not signed")
    for answer in records.keys() & {"executed", "not_executed"}: need((records[answer][2] or {"raw": 1})["raw"], "no receipt")
    print("VALID" if body and body["signed"] else "VALID, and no signature of the customer was there to be verified")
if __name__ == "__main__":
    try: verify(*(open(p, newline="").read() for p in sys.argv[1:3]), *(open(p, "rb").read() for p in sys.argv[3:4]))
    except Exception as fault: sys.exit(f"INVALID: {type(fault).__name__}: {fault}")
