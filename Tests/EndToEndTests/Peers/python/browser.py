"""A customer's browser on the bank's page, with a passkey in it: the other side of the service.

usage: browser.py CHROMIUM PROFILE

Commands (see commands.py):
  pages         -> the origins of the bank's page: {"bank", "stranger", "address"}
  open          takes an origin of those; {"in": another} opens it in a frame of the other's page
  call          takes {"function", "argument"} and calls a function of page.html
  authenticator takes {"verified"}: whether the authenticator will know the customer
"""

import http.server
import json
import pathlib
import sys
import threading

from chromium import Chromium
from commands import Refusal, end_on_sigterm, serve

PAGE = pathlib.Path(__file__).with_name("page.html").read_bytes()

# Does not ask the page's script, which may not have been read yet.
LOADED = """new Promise(loaded => document.readyState === "complete"
    ? loaded() : addEventListener("load", () => loaded()))"""


class Page(http.server.BaseHTTPRequestHandler):
    """Serves the page at every path."""

    def do_GET(self):
        self.send_response(200)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(PAGE)))
        self.end_headers()
        self.wfile.write(PAGE)

    def log_message(self, *ignored):
        pass


def serve_page():
    """Serves the page on a port of its own, which is the result."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Page)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server.server_port


class Browser:
    """One tab, and the authenticator that belongs to it."""

    def __init__(self, chromium):
        bank, stranger = serve_page(), serve_page()
        self.origins = {
            "bank": f"http://localhost:{bank}",
            "stranger": f"http://localhost:{stranger}",
            "address": f"http://127.0.0.1:{bank}",
        }
        self._chromium = chromium
        self._tab = self._attach(chromium.call("Target.createTarget", url="about:blank")["targetId"])
        self._frame = self._tab
        chromium.call("WebAuthn.enable", self._tab)
        # A fingerprint reader built into the customer's machine. Its credentials stay with the tab,
        # wherever that goes.
        options = {
            "protocol": "ctap2",
            "transport": "internal",
            "hasResidentKey": True,
            "hasUserVerification": True,
            "isUserVerified": True,
            "automaticPresenceSimulation": True,
        }
        answer = chromium.call("WebAuthn.addVirtualAuthenticator", self._tab, options=options)
        self._authenticator = answer["authenticatorId"]

    def _attach(self, target):
        return self._chromium.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]

    def _evaluate(self, expression):
        """The value of a JavaScript expression in the page, as if the customer had clicked."""
        answer = self._chromium.call(
            "Runtime.evaluate",
            self._frame,
            expression=expression,
            awaitPromise=True,
            returnByValue=True,
            userGesture=True,
        )
        if "exceptionDetails" in answer:
            raise RuntimeError(f"the page failed: {answer['exceptionDetails']}")
        return answer["result"].get("value")

    def pages(self, _):
        return self.origins

    def open(self, argument):
        self._frame = self._tab
        outer = argument.get("in", argument["page"])
        answer = self._chromium.call("Page.navigate", self._tab, url=self.origins[outer] + "/")
        if "errorText" in answer:
            raise RuntimeError(f"the page is not there: {answer['errorText']}")
        self._evaluate(LOADED)
        # The browser itself says yes to what it would ask the customer in a window of its own.
        self._chromium.call("Page.setSPCTransactionMode", self._tab, mode="autoAccept")
        if "in" in argument:
            url = self.origins[argument["page"]] + "/framed"
            self._evaluate(f"embed({json.dumps(url)})")
            targets = self._chromium.call("Target.getTargets")["targetInfos"]
            frame = next(target for target in targets if target["url"] == url)
            self._frame = self._attach(frame["targetId"])
            self._evaluate(LOADED)

    def call(self, argument):
        name, value = argument["function"], json.dumps(argument["argument"])
        answer = json.loads(self._evaluate(f"answer({name}, {value})"))
        if "error" in answer:
            raise Refusal(answer["error"], answer["message"])
        return answer["value"]

    def authenticator(self, argument):
        self._chromium.call(
            "WebAuthn.setUserVerified",
            self._tab,
            authenticatorId=self._authenticator,
            isUserVerified=argument["verified"],
        )


def main(program, profile):
    end_on_sigterm()
    chromium = Chromium(program, profile)
    try:
        browser = Browser(chromium)
        names = ["pages", "open", "call", "authenticator"]
        serve({name: getattr(browser, name) for name in names})
    finally:
        chromium.close()


main(*sys.argv[1:])
