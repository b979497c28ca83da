"""gs.py PORT FOLDER: as much of Google Cloud Storage as a tier uses, with what surrounds it.

It checks what Google's servers document that they check: the signature, audience, scope and times of a JWT, refresh
tokens, the header of metadata requests, whether an access token was given out here and has not expired, GOOG4
signatures over all x-goog- headers and the body, and preconditions on generations. FOLDER/keys has the credentials.
/control shows what it counted and changes how it behaves. Only the standard library and the openssl command."""
import base64
import binascii
import datetime
import hashlib
import hmac
import http.server
import json
import os
import secrets
import subprocess
import sys
import tempfile
import threading
import time
import urllib.parse

PORT, FOLDER = int(sys.argv[1]), sys.argv[2]
TOKEN_URI = f"http://127.0.0.1:{PORT}/token"
SCOPE = "https://www.googleapis.com/auth/devstorage.read_write"
LOCK = threading.Condition()
STATE = {"lives": 3600,       # seconds for which a token is accepted
         "claims": None,      # expires_in of an answer, if not the truth
         "down": False,       # the token server and the metadata server answer 503
         "flavor": True,      # the metadata server answers as one
         "heads": 0,          # a HEAD waits until this many are waiting
         "issued": 0, "puts": 0, "lost": 0, "denied": 0}
TOKENS, OBJECTS, WAITING = {}, {}, set()
GENERATIONS = {}  # the last one of each name; one that was removed does not come again


def openssl(*args, **kw):
    return subprocess.run(["openssl", *args], check=True, capture_output=True, **kw).stdout


def make_keys():
    openssl("genrsa", "-out", FOLDER + "/service.pem", "2048")
    openssl("rsa", "-in", FOLDER + "/service.pem", "-pubout", "-out", FOLDER + "/service.pub")
    with open(FOLDER + "/service.pem") as f:
        pem = f.read()
    return {"service": {"type": "service_account", "client_email": "stet@project.iam.gserviceaccount.com",
                        "private_key_id": secrets.token_hex(20), "private_key": pem, "token_uri": TOKEN_URI},
            "user": {"type": "authorized_user", "client_id": "id-" + secrets.token_hex(8), "token_uri": TOKEN_URI,
                     "client_secret": "GOCSPX+" + secrets.token_hex(8), "refresh_token": "1//" + secrets.token_hex(16)},
            "hmac": {"STET_GS_HMAC_KEY": "GOOG" + secrets.token_hex(12).upper(),
                     "STET_GS_HMAC_SECRET": base64.b64encode(secrets.token_bytes(30)).decode()}}


def unpack(text):
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


def signed(text, signature):
    with tempfile.NamedTemporaryFile(dir=FOLDER) as f:
        f.write(signature)
        f.flush()
        return subprocess.run(["openssl", "dgst", "-sha256", "-verify", FOLDER + "/service.pub", "-signature", f.name],
                              input=text.encode(), capture_output=True).returncode == 0


def is_valid_jwt(jwt):
    try:
        head, claims, signature = jwt.split(".")
        h, c, now = json.loads(unpack(head)), json.loads(unpack(claims)), time.time()
        assert h == {"alg": "RS256", "typ": "JWT", "kid": KEYS["service"]["private_key_id"]}
        assert c["iss"] == KEYS["service"]["client_email"] and c["aud"] == TOKEN_URI and c["scope"] == SCOPE
        assert c["iat"] <= now + 30 and now < c["exp"] <= c["iat"] + 3600
        return signed(head + "." + claims, unpack(signature))
    except (AssertionError, ValueError, KeyError, binascii.Error):
        return False


def grants(form):
    if form.get("grant_type") == "urn:ietf:params:oauth:grant-type:jwt-bearer":
        return is_valid_jwt(form.get("assertion", ""))
    user = KEYS["user"]
    return form == {"grant_type": "refresh_token", **{k: user[k] for k in ("client_id", "client_secret", "refresh_token")}}


def new_token():
    with LOCK:
        token = "ya29." + secrets.token_urlsafe(90)
        TOKENS[token] = time.monotonic() + STATE["lives"]
        STATE["issued"] += 1
        return {"access_token": token, "expires_in": STATE["claims"] or STATE["lives"], "token_type": "Bearer"}


def is_signed_request(method, path, headers, body):
    """GOOG4-HMAC-SHA256, as https://cloud.google.com/storage/docs/authentication/signatures specifies it."""
    try:
        kind, rest = headers["Authorization"].split(" ", 1)
        part = dict(p.strip().split("=", 1) for p in rest.split(","))
        key, day, region, service, request = part["Credential"].split("/")
        stamp, names = headers["x-goog-date"], part["SignedHeaders"].split(";")
        at = datetime.datetime.strptime(stamp, "%Y%m%dT%H%M%SZ").replace(tzinfo=datetime.timezone.utc)
        assert (kind, region, service, request) == ("GOOG4-HMAC-SHA256", "auto", "storage", "goog4_request")
        assert abs(time.time() - at.timestamp()) < 900 and stamp.startswith(day)
        assert "host" in names and all(n.lower() in names for n in headers if n.lower().startswith("x-goog-"))
        content = headers["x-goog-content-sha256"]
        assert content == hashlib.sha256(body).hexdigest() and key == KEYS["hmac"]["STET_GS_HMAC_KEY"]
    except (AssertionError, AttributeError, KeyError, TypeError, ValueError):
        return False
    lines = "".join(f"{n}:{headers[n].strip()}\n" for n in names)
    canonical = "\n".join((method, path, "", lines, ";".join(names), content))
    text = "\n".join((kind, stamp, f"{day}/{region}/{service}/{request}", hashlib.sha256(canonical.encode()).hexdigest()))
    key = ("GOOG4" + KEYS["hmac"]["STET_GS_HMAC_SECRET"]).encode()
    for word in (day, region, service, request, text):
        key = hmac.new(key, word.encode(), hashlib.sha256).digest()
    return hmac.compare_digest(key.hex(), part["Signature"])


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = -1  # an answer in one piece

    def log_message(self, *args):
        pass

    def answer(self, status, body=b"", **headers):
        body = body if isinstance(body, bytes) else json.dumps(body).encode()
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def body(self):
        return self.rfile.read(int(self.headers.get("Content-Length", 0)))

    def deny(self, status, body=b""):
        with LOCK:
            STATE["denied"] += 1
        self.answer(status, body)

    def may_pass(self, body):
        """Answers by itself if not."""
        kind, _, token = self.headers.get("Authorization", "").partition(" ")
        with LOCK:
            good = kind == "Bearer" and TOKENS.get(token, 0) > time.monotonic()
        if not good and kind.startswith("GOOG4"):
            good = is_signed_request(self.command, self.path, self.headers, body)
            kind = "GOOG4"
        if not good:
            self.deny(403 if kind == "GOOG4" else 401)
        return good

    def do_POST(self):
        body = self.body()
        if self.path == "/control":
            with LOCK:
                change = json.loads(body)
                if change.pop("revoke", False):
                    TOKENS.clear()
                STATE.update(change)
                WAITING.clear()
                LOCK.notify_all()
            return self.answer(200)
        if self.path != "/token" or self.headers["Content-Type"] != "application/x-www-form-urlencoded":
            return self.deny(404)
        if STATE["down"]:
            return self.answer(503)
        form = {k: v[0] for k, v in urllib.parse.parse_qs(body.decode(), strict_parsing=True).items()}
        if not grants(form):
            return self.deny(400, {"error": "invalid_grant", "error_description": "Invalid JWT Signature: " + str(form)})
        self.answer(200, new_token())

    def do_GET(self):
        if self.path == "/control":
            with LOCK:
                return self.answer(200, {**STATE, "objects": {k: v[0] for k, v in OBJECTS.items() if "/leases/" not in k}})
        if self.path.startswith("/computeMetadata/"):
            flavor = {"Metadata_Flavor": "Google"} if STATE["flavor"] else {}
            if self.headers.get("Metadata-Flavor") != "Google":
                return self.deny(403)
            if STATE["down"]:
                return self.answer(503, **flavor)
            if self.path != "/computeMetadata/v1/instance/service-accounts/default/token":
                return self.deny(404)
            return self.answer(200, new_token(), **flavor)
        if not self.may_pass(b""):
            return
        with LOCK:
            generation, found = OBJECTS.get(self.path, (0, b""))
            if self.command == "HEAD" and STATE["heads"]:
                WAITING.add(self)
                LOCK.notify_all()
                LOCK.wait_for(lambda: len(WAITING) >= STATE["heads"], 60)
        if generation:
            self.answer(200, found, x_goog_generation=str(generation))
        else:
            self.answer(404, b"<Error><Code>NoSuchKey</Code></Error>")

    do_HEAD = do_GET

    def fits(self):
        """Does the precondition of a write hold? With the lock."""
        wanted = self.headers.get("x-goog-if-generation-match")
        return wanted is None or int(wanted) == OBJECTS.get(self.path, (0, b""))[0]

    def do_PUT(self):
        body = self.body()
        if not self.may_pass(body):
            return
        with LOCK:
            fits = self.fits()
            if "/leases/" not in self.path:
                STATE["puts" if fits else "lost"] += 1
            if fits:
                GENERATIONS[self.path] = GENERATIONS.get(self.path, 0) + 1
                OBJECTS[self.path] = (GENERATIONS[self.path], body)
        self.answer(200 if fits else 412)

    def do_DELETE(self):
        if not self.may_pass(b""):
            return
        with LOCK:
            status = 404 if self.path not in OBJECTS else 204 if self.fits() else 412
            if status == 204:
                del OBJECTS[self.path]
        self.answer(status)


KEYS = make_keys()
with open(FOLDER + "/keys.new", "w") as f:
    json.dump(KEYS, f)
os.rename(FOLDER + "/keys.new", FOLDER + "/keys")
http.server.ThreadingHTTPServer(("127.0.0.1", PORT), Handler).serve_forever()
