"""Channels that do not do what they should: a coordination service of JAX, an agent, a folder."""
import os
import random
import socket
import threading
import time


class Service:
    """The client of jax.distributed. Keys of Stet fail, take long, or have other values than were written; others are JAX's."""

    def __init__(self, client, how):
        self.client, self.how = client, how

    def __getattr__(self, name):
        return getattr(self.client, name)

    def fault(self):
        if self.how == "dead":
            raise RuntimeError("UNAVAILABLE: the service has ended")
        if self.how == "slow":
            time.sleep(3)

    def key_value_set_bytes(self, key, value):
        if not key.startswith("stet/"):
            return self.client.key_value_set_bytes(key, value)
        self.fault()
        if self.how == "lie":
            value = random.randbytes(len(value))
        return self.client.key_value_set_bytes(key, value)

    def key_value_try_get_bytes(self, key):
        if not key.startswith("stet/"):
            return self.client.key_value_try_get_bytes(key)
        self.fault()
        return random.randbytes(200) if self.how == "lie" else self.client.key_value_try_get_bytes(key)


def service(how):
    from jax._src import distributed
    distributed.global_state.client = Service(distributed.global_state.client, how)


def agent(path, how):
    """An agent that never answers (stuck) or answers nonsense (lie); none at all for "dead"."""
    if how == "dead":
        return None
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(path)
    listener.listen(64)
    kept = []

    def serve():
        while True:
            try:
                guest, _ = listener.accept()
                kept.append(guest)
                if how == "lie":
                    guest.sendall(random.randbytes(400))
            except OSError:
                return

    threading.Thread(target=serve, daemon=True).start()
    return listener


class Folder:
    """A folder whose messages go away (dead), or become nonsense (lie)."""

    def __init__(self, folder, how):
        self.folder, self.how, self.over, self.count = folder, how, threading.Event(), 0
        self.thread = threading.Thread(target=self.work)
        self.thread.start()

    def spoil(self, path):
        try:
            if self.how == "dead":
                os.remove(path)
            else:
                with open(path, "r+b") as f:
                    f.write(random.randbytes(64))
            self.count += 1
        except OSError:
            pass  # it has gone

    def work(self):
        while not self.over.wait(0.01):
            for place, _, names in os.walk(self.folder):
                for name in names:
                    self.spoil(os.path.join(place, name))

    def stop(self):
        self.over.set()
        self.thread.join()
