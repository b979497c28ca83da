"""Real servers for the agent's tiers, on free ports, and a proxy that delays, cuts and lies."""
import json
import os
import shutil
import socket
import subprocess
import sys
import threading
import time
import urllib.request

# The fake plugin reads its shapes from the comments.
PROGRAM = """// fake program p{n}
// in f32[{n},3]
// out f32[{n},3]
module @p{n} {{
  func.func @main(%a: tensor<{n}x3xf32>) -> tensor<{n}x3xf32> {{
    %b = stablehlo.add %a, %a : tensor<{n}x3xf32>
    return %b : tensor<{n}x3xf32>
  }}
}}
"""


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def listens(port):
    try:
        socket.create_connection(("127.0.0.1", port), 0.2).close()
        return True
    except OSError:
        return False


def wait_for(what, seconds=60):
    """False when it has not come about; the limit only ends a test that would hang."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if what():
            return True
        time.sleep(0.01)
    return False


class Server:
    """A child process that listens at self.port."""

    def start(self):
        for _ in range(5):  # somebody may take the port first
            self.port = getattr(self, "port", None) or free_port()
            with open(f"{self.dir}/{type(self).__name__}.log", "ab") as log:
                self.process = subprocess.Popen(**self.command(), stdout=log, stderr=log)
            if wait_for(lambda: listens(self.port) or self.process.poll() is not None) and \
                    self.process.poll() is None:
                return self
            self.stop()
            self.port = None
        raise RuntimeError(f"{type(self).__name__} does not start")

    def stop(self):
        self.process.kill()
        self.process.wait()


class Redis(Server):
    def __init__(self, folder, password=None, tls=None):
        self.dir, self.password, self.tls = folder, password, tls
        self.start()

    def command(self):
        # Debian's redis-server is another name of this file; what it is called decides what it does.
        args = ["redis-server", "--bind", "127.0.0.1", "--save", "", "--appendonly", "no", "--dir", self.dir]
        if self.tls:
            args += ["--port", "0", "--tls-port", str(self.port), "--tls-cert-file", self.tls + ".crt",
                     "--tls-key-file", self.tls + ".key", "--tls-ca-cert-file", self.tls + ".crt",
                     "--tls-auth-clients", "no"]
        else:
            args += ["--port", str(self.port)]
        if self.password:
            args += ["--requirepass", self.password]
        return {"args": args, "executable": shutil.which("redis-check-rdb")}

    def ask(self, *words):
        """One command; the raw answer."""
        out = b"*%d\r\n" % len(words)
        for w in words:
            w = w if isinstance(w, bytes) else str(w).encode()
            out += b"$%d\r\n%s\r\n" % (len(w), w)
        with socket.create_connection(("127.0.0.1", self.port), 2) as s:
            s.sendall(out)
            return s.recv(1 << 16)

    def put(self, key, value):
        assert self.ask("SET", "stet:1:entry:" + key, value).startswith(b"+OK")

    def has(self, key):
        return self.ask("EXISTS", "stet:1:entry:" + key) == b":1\r\n"

    @property
    def url(self):
        return f"{'rediss' if self.tls else 'redis'}://127.0.0.1:{self.port}"


class Nginx(Server):
    def __init__(self, folder, tls=None, user=None):
        self.dir, self.tls, self.user = folder, tls, user
        os.makedirs(folder + "/dav", exist_ok=True)
        os.makedirs(folder + "/tmp", exist_ok=True)
        self.start()

    def command(self):
        conf = self.dir + "/nginx.conf"
        ssl = f"ssl_certificate {self.tls}.crt; ssl_certificate_key {self.tls}.key;" if self.tls else ""
        auth = f"auth_basic stet; auth_basic_user_file {self.user};" if self.user else ""
        paths = "".join(f"{kind}_temp_path {self.dir}/tmp/{kind}; "
                        for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
        with open(conf, "w") as f:
            f.write(f"""daemon off; master_process off; pid {self.dir}/nginx.pid; error_log {self.dir}/nginx.log; worker_processes 1;
            {"user root;" if os.geteuid() == 0 else ""}
            events {{ worker_connections 64; }}
            http {{ access_log {self.dir}/access.log; {paths}
              server {{ listen 127.0.0.1:{self.port} {"ssl" if self.tls else ""}; {ssl} root {self.dir}/dav;
                client_max_body_size 0;
                location / {{ {auth} dav_methods PUT DELETE; create_full_put_path on; }} }} }}
            """)
        return {"args": ["nginx", "-c", conf, "-e", self.dir + "/nginx.log"],
                "executable": shutil.which("nginx", path=os.environ["PATH"] + ":/usr/sbin")}

    def path(self, key):
        return f"{self.dir}/dav/{key[:2]}/{key}.stet"

    def put(self, key, value):
        os.makedirs(os.path.dirname(self.path(key)), exist_ok=True)
        with open(self.path(key), "wb") as f:
            f.write(value)

    def has(self, key):
        return os.path.exists(self.path(key))

    @property
    def url(self):
        return f"{'https' if self.tls else 'http'}://127.0.0.1:{self.port}"


class Moto(Server):
    """An S3 that checks signatures, with one bucket and one user's keys."""

    def __init__(self, folder, python):
        self.dir, self.python = folder, python
        self.start()

    def command(self):
        return {"args": [self.python, os.path.join(os.path.dirname(__file__), "s3.py"), str(self.port),
                         self.dir + "/keys"]}


class Controlled(Server):
    """A script of this folder that serves /control."""

    def __init__(self, folder):
        self.dir = folder
        self.start()

    def command(self):
        return {"args": [sys.executable, os.path.join(os.path.dirname(__file__), self.script), str(self.port), self.dir]}

    def control(self, **change):
        """Changes how it behaves; what it counted."""
        address = f"http://127.0.0.1:{self.port}/control"
        if change:
            urllib.request.urlopen(address, json.dumps(change).encode(), timeout=60).close()
        with urllib.request.urlopen(address, timeout=60) as answer:
            return json.load(answer)


class Web(Controlled):
    """A web server that honours the conditions of writes (web.py)."""
    script = "web.py"


class Gcs(Controlled):
    """A Google Cloud Storage with its token server and metadata server (gs.py)."""
    script = "gs.py"

    def __init__(self, folder):
        super().__init__(folder)
        with open(folder + "/keys") as f:
            self.keys = json.load(f)


class Proxy:
    """Stands before a server; each answer goes through `change(bytes)`, after `delay` seconds."""

    def __init__(self, port, delay=0.0, change=lambda b: b):
        self.to, self.delay, self.change = port, delay, change
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            try:
                client, _ = self.listener.accept()
                server = socket.create_connection(("127.0.0.1", self.to))
            except OSError:
                return
            threading.Thread(target=self.pump, args=(client, server, False), daemon=True).start()
            threading.Thread(target=self.pump, args=(server, client, True), daemon=True).start()

    def pump(self, a, b, answers):
        try:
            while data := a.recv(1 << 16):
                if answers:
                    time.sleep(self.delay)
                    data = self.change(data)
                    if data is None:  # cut
                        break
                b.sendall(data)
        except OSError:
            pass
        for s in (a, b):
            try:
                s.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass

    def close(self):
        self.listener.shutdown(socket.SHUT_RDWR)  # or accept() goes on
        self.listener.close()


def certificate(folder):
    """A self-signed one for 127.0.0.1; the path without its ending."""
    base = folder + "/tls"
    subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=127.0.0.1",
                    "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", base + ".key", "-out", base + ".crt"],
                   check=True, capture_output=True)
    return base
