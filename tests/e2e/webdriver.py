"""Chromium without a screen, by the WebDriver protocol: opening a page, asking its DOM, what it logged."""

import base64
import json
import re
import shutil
import subprocess
import tempfile
import urllib.error
import urllib.request

START_S = 60

# The browser as root, on its own: an empty profile, and nothing that calls home.
ARGUMENTS = [
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
]


def missing():
    """What is not there to run it, or None."""
    for name in ("chromedriver", "chromium"):
        if not shutil.which(name):
            return f"no {name}"
    return None


class Browser:
    def __init__(self):
        self.profile = tempfile.mkdtemp(prefix="wakewhy-chromium-")
        self.driver = self.session = None
        try:
            self._start()
        except BaseException:
            self.close()
            raise

    def _start(self):
        self.driver = subprocess.Popen(["chromedriver", "--port=0"], stdout=subprocess.PIPE,
                                       stderr=subprocess.STDOUT, text=True)
        for line in self.driver.stdout:
            found = re.search(r"started successfully on port (\d+)", line)
            if found:
                break
        else:
            raise AssertionError("chromedriver did not start")
        self.url = f"http://127.0.0.1:{found[1]}"
        capabilities = {
            "browserName": "chrome",
            "goog:loggingPrefs": {"browser": "ALL", "performance": "ALL"},
            "goog:chromeOptions": {
                "binary": shutil.which("chromium"),
                "args": [*ARGUMENTS, f"--user-data-dir={self.profile}"],
            },
        }
        made = self._call("POST", "/session", {"capabilities": {"alwaysMatch": capabilities}})
        self.session = f"/session/{made['sessionId']}"
        # What its own first page asked for is over.
        self.open("about:blank")
        self.requests()

    def close(self):
        if self.session:
            self._call("DELETE", self.session)
            self.session = None
        if self.driver:
            self.driver.terminate()
            self.driver.wait()
            self.driver.stdout.close()
            self.driver = None
        shutil.rmtree(self.profile, ignore_errors=True)

    def _call(self, method, path, body=None):
        data = None if method in ("GET", "DELETE") else json.dumps(body or {}).encode()
        request = urllib.request.Request(self.url + path, data=data, method=method,
                                         headers={"Content-Type": "application/json"})
        try:
            with urllib.request.urlopen(request, timeout=START_S) as answer:
                return json.load(answer)["value"]
        except urllib.error.HTTPError as error:
            raise AssertionError(f"{method} {path}: {error.read().decode()[:400]}") from error

    def _devtools(self, command, **parameters):
        return self._call("POST", self.session + "/goog/cdp/execute",
                          {"cmd": command, "params": parameters})

    def look(self, width, height=900, dark=False, media="screen"):
        """The screen that pages are shown on from now on."""
        self._devtools("Emulation.setDeviceMetricsOverride", width=width, height=height,
                       deviceScaleFactor=1, mobile=width < 600)
        self._devtools("Emulation.setEmulatedMedia", media=media, features=[
            {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])

    def open(self, url):
        self._call("POST", self.session + "/url", {"url": url})

    def ask(self, script, *arguments):
        """What a script returns: a body with `return` in it, its arguments in `arguments`."""
        return self._call("POST", self.session + "/execute/sync",
                          {"script": script, "args": list(arguments)})

    def key(self, key):
        self._call("POST", self.session + "/actions", {"actions": [{
            "type": "key", "id": "keys",
            "actions": [{"type": "keyDown", "value": key}, {"type": "keyUp", "value": key}]}]})

    def log(self):
        """What the console got since the last call."""
        return [f"{e['level']}: {e['message']}" for e in
                self._call("POST", self.session + "/se/log", {"type": "browser"})]

    def requests(self):
        """Addresses that the page asked for since the last call."""
        events = [json.loads(e["message"])["message"] for e in
                  self._call("POST", self.session + "/se/log", {"type": "performance"})]
        return [e["params"]["request"]["url"] for e in events
                if e["method"] == "Network.requestWillBeSent"]

    def screenshot(self, path, whole=True):
        shot = self._devtools("Page.captureScreenshot", format="png", captureBeyondViewport=whole)
        with open(path, "wb") as file:
            file.write(base64.b64decode(shot["data"]))
