"""web.py PORT: a web server with GET, HEAD, PUT and DELETE and one user, which honours If-Match and If-None-Match or, as
/control says, does not. /control also shows how often each method was used in each folder. Only the standard library."""
import base64
import hashlib
import http.server
import json
import sys
import threading
import time

LOCK = threading.Condition()
STATE = {"honours": True,   # conditions of writes; otherwise it ignores them, and says 200 to all
         "refuses": 0,      # the status of every conditional write, if not 0
         "weak": False,     # its ETags are, and match nothing
         "removes": True,   # otherwise DELETE is answered with 405
         "delay": 0,        # seconds before a request for a lease is answered
         "together": 0}     # a write of a lease waits until this many are waiting
LOGIN = "Basic " + base64.b64encode(b"stet:webSecret66").decode()
FILES, COUNTS, WAITING = {}, {}, set()


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = -1  # an answer in one piece

    def log_message(self, *args):
        pass

    def answer(self, status, body=b"", **headers):
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def body(self):
        return self.rfile.read(int(self.headers.get("Content-Length", 0)))

    def may_pass(self):
        """Answers by itself if not."""
        if self.headers.get("Authorization") != LOGIN:
            self.answer(401)
            return False
        lease = "/leases/" in self.path
        with LOCK:
            kind = f"{self.command} {'lease' if lease else 'message' if '/jobs/' in self.path else 'entry'}"
            COUNTS[kind] = COUNTS.get(kind, 0) + 1
        if lease and STATE["delay"]:
            time.sleep(STATE["delay"])
        if lease and self.command == "PUT" and STATE["together"]:
            with LOCK:
                WAITING.add(self)
                LOCK.notify_all()
                LOCK.wait_for(lambda: len(WAITING) >= STATE["together"], 60)
        return True

    def tag(self):
        text = '"' + hashlib.sha256(FILES.get(self.path, b"")).hexdigest()[:32] + '"'
        return None if self.path not in FILES else "W/" + text if STATE["weak"] else text

    def refusal(self):
        """Of a write, by its condition; 0 if there is none."""
        match, none = self.headers.get("If-Match"), self.headers.get("If-None-Match")
        if not match and not none:
            return 0
        if STATE["refuses"]:
            return STATE["refuses"]
        wrong = (none == "*" and self.tag()) or (match and (STATE["weak"] or match != self.tag()))
        return 412 if wrong and STATE["honours"] else 0

    def do_GET(self):
        if self.path == "/control":
            with LOCK:
                shown = {"counts": COUNTS, "files": {k: v.decode("latin-1") for k, v in FILES.items() if len(v) < 500}}
                return self.answer(200, json.dumps(shown).encode())
        if not self.may_pass():
            return
        with LOCK:
            found, tag = FILES.get(self.path), self.tag()
        self.answer(404) if found is None else self.answer(200, found, ETag=tag)

    do_HEAD = do_GET

    def do_POST(self):
        change = json.loads(self.body())
        with LOCK:
            if change.pop("reset", False):
                COUNTS.clear()
            FILES.update({k: v.encode("latin-1") * change.get("times", 1) for k, v in change.pop("files", {}).items()})
            STATE.update(change)
            WAITING.clear()
            LOCK.notify_all()
        self.answer(200)

    def do_PUT(self):
        body = self.body()
        if not self.may_pass():
            return
        with LOCK:
            status = self.refusal()
            if not status:
                FILES[self.path] = body
        self.answer(status or 201)

    def do_DELETE(self):
        if not self.may_pass():
            return
        with LOCK:
            status = 405 if not STATE["removes"] else 404 if self.path not in FILES else self.refusal()
            if not status:
                del FILES[self.path]
        self.answer(status or 204)


http.server.ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
