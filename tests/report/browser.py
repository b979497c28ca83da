"""A headless Chromium over its DevTools pipe: no package but the browser itself.

    with Browser() as browser:
        page = browser.page(width=1200, height=900, dark=True)
        page.open("file:///…")
        page.js("document.title")
"""

import base64
import json
import os
import select
import shutil
import subprocess
import tempfile
import time


class Browser:
    def __init__(self):
        self.profile = tempfile.mkdtemp(prefix="stet-browser-")
        to_read, self.write = os.pipe()
        self.read, to_write = os.pipe()
        # The browser reads commands from descriptor 3 and answers on 4.
        command = ["chromium", "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
                   "--disable-background-networking", "--disable-component-update", "--no-first-run", "--hide-scrollbars",
                   "--remote-debugging-pipe", f"--user-data-dir={self.profile}", "about:blank"]
        self.process = subprocess.Popen(["bash", "-c", f'exec 3<&{to_read} 4>&{to_write} "$@"', "-"] + command,
                                        pass_fds=(to_read, to_write), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(to_read)
        os.close(to_write)
        self.buffer, self.number, self.events = b"", 0, []

    def __enter__(self):
        return self

    def __exit__(self, *_):
        try:
            self.send("Browser.close", wait=False)
        except OSError:
            pass
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        os.close(self.read)
        os.close(self.write)
        shutil.rmtree(self.profile, ignore_errors=True)

    def take(self, timeout):
        """The next message, or None."""
        end = time.monotonic() + timeout
        while b"\0" not in self.buffer:
            left = end - time.monotonic()
            if left <= 0 or not select.select([self.read], [], [], left)[0]:
                return None
            piece = os.read(self.read, 1 << 20)
            if not piece:
                raise RuntimeError("the browser has gone")
            self.buffer += piece
        text, self.buffer = self.buffer.split(b"\0", 1)
        return json.loads(text)

    def send(self, method, params=None, session=None, wait=True, timeout=60):
        self.number += 1
        number = self.number
        message = {"id": number, "method": method, "params": params or {}}
        if session:
            message["sessionId"] = session
        data = json.dumps(message).encode() + b"\0"
        while data:
            data = data[os.write(self.write, data):]
        end = time.monotonic() + timeout
        while wait:
            answer = self.take(max(0, end - time.monotonic()))
            if answer is None:
                raise TimeoutError(method)
            if answer.get("id") != number:
                self.events.append(answer)
            elif "error" in answer:
                raise RuntimeError(f"{method}: {answer['error']['message']}")
            else:
                return answer["result"]

    def page(self, **how):
        return Page(self, **how)


class Page:
    def __init__(self, browser, width=1280, height=900, dark=False, mobile=False):
        self.browser = browser
        target = browser.send("Target.createTarget", {"url": "about:blank"})["targetId"]
        self.session = browser.send("Target.attachToTarget", {"targetId": target, "flatten": True})["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.send(domain + ".enable")
        self.send("Emulation.setDeviceMetricsOverride", {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": mobile})
        self.send("Emulation.setEmulatedMedia",
                  {"features": [{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]})
        self.size = (width, height)

    def send(self, method, params=None, **how):
        return self.browser.send(method, params, session=self.session, **how)

    def mine(self, method=None):
        """Events of this page so far."""
        return [e for e in self.browser.events if e.get("sessionId") == self.session and (not method or e["method"] == method)]

    def open(self, url, ready="document.documentElement.dataset.ready === 'yes'", timeout=60):
        self.send("Page.navigate", {"url": url})
        self.wait(ready, timeout)

    def js(self, expression):
        answer = self.send("Runtime.evaluate", {"expression": expression, "returnByValue": True, "awaitPromise": True})
        if "exceptionDetails" in answer:
            raise RuntimeError(answer["exceptionDetails"].get("exception", {}).get("description", "exception"))
        return answer["result"].get("value")

    def wait(self, expression, timeout=60):
        end = time.monotonic() + timeout
        while time.monotonic() < end:
            try:
                if self.js(expression):
                    return
            except RuntimeError:
                pass  # the page is being replaced
            time.sleep(0.02)
        raise TimeoutError(expression)

    def click(self, selector):
        self.js(f"document.querySelector({json.dumps(selector)}).scrollIntoView({{block: 'center', behavior: 'instant'}})")
        box = self.js(f"(() => {{ const r = document.querySelector({json.dumps(selector)}).getBoundingClientRect();"
                      " return [r.x + r.width / 2, r.y + r.height / 2]; })()")
        for kind in ("mousePressed", "mouseReleased"):
            self.send("Input.dispatchMouseEvent", {"type": kind, "x": box[0], "y": box[1], "button": "left", "clickCount": 1})

    def key(self, key, code=None, number=0, text=None):
        for kind in ("keyDown", "keyUp"):
            event = {"type": kind, "key": key, "code": code or key, "windowsVirtualKeyCode": number}
            if text and kind == "keyDown":
                event["text"] = text
            self.send("Input.dispatchKeyEvent", event)

    def screenshot(self, path, whole=False):
        params = {"format": "png", "captureBeyondViewport": whole}
        if whole:
            box = self.send("Page.getLayoutMetrics")["cssContentSize"]
            params["clip"] = {"x": 0, "y": 0, "width": box["width"], "height": min(box["height"], 12000), "scale": 1}
        data = base64.b64decode(self.send("Page.captureScreenshot", params)["data"])
        with open(path, "wb") as f:
            f.write(data)
        return len(data)

    def problems(self):
        """Everything the console, the network or the policy complained of, and every request but the page's own."""
        out = []
        for e in self.mine():
            p = e["params"]
            if e["method"] == "Runtime.exceptionThrown":
                out.append(p["exceptionDetails"].get("exception", {}).get("description", p["exceptionDetails"]["text"]))
            elif e["method"] == "Runtime.consoleAPICalled" and p["type"] in ("error", "warning", "assert"):
                out.append(f"console: {p['args']}")
            elif e["method"] == "Log.entryAdded" and p["entry"]["level"] in ("error", "warning"):
                out.append(f"log: {p['entry']['text']}")
            elif e["method"] == "Network.requestWillBeSent":
                url = p["request"]["url"]
                if p["type"] != "Document" and not url.startswith("data:"):
                    out.append(f"request: {url}")
        return out
