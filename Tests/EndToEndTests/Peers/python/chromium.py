"""Chromium without a window, driven by its DevTools protocol over a pair of pipes.

Source: https://chromedevtools.github.io/devtools-protocol/ (domains Target, Page, Runtime, WebAuthn).
"""

import json
import os
import select
import signal
import subprocess
import time

# No answer of the browser takes this long.
DEADLINE_SECONDS = 60


class Chromium:
    """One process group of the browser; nothing of it is left after `close`."""

    def __init__(self, program, profile):
        to_browser, self._commands = os.pipe()
        self._messages, from_browser = os.pipe()
        self._received = b""
        self._last = 0
        # The browser reads commands from descriptor 3 and writes to 4, and ends when they close: so it
        # cannot outlive this process.
        redirect = f'exec "$@" 3<&{to_browser} 4>&{from_browser}'
        self._process = subprocess.Popen(
            ["/bin/sh", "-c", redirect, "sh", program, *flags(profile), "about:blank"],
            pass_fds=(to_browser, from_browser),
            # HOME: what Debian's starter and fontconfig write goes where the profile goes.
            env={"PATH": "/usr/bin:/bin", "LANG": "C.UTF-8", "HOME": profile, "TMPDIR": profile},
            process_group=0,
        )
        os.close(to_browser)
        os.close(from_browser)

    def call(self, method, session=None, **parameters):
        """Calls a method of the protocol and waits for its result; events are passed over."""
        self._last += 1
        message = {"id": self._last, "method": method, "params": parameters}
        if session:
            message["sessionId"] = session
        unsent = json.dumps(message).encode() + b"\0"
        while unsent:
            unsent = unsent[os.write(self._commands, unsent) :]
        deadline = time.monotonic() + DEADLINE_SECONDS
        while True:
            answer = json.loads(self._receive(deadline))
            if answer.get("id") == self._last:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                return answer["result"]

    def _receive(self, deadline):
        while b"\0" not in self._received:
            if not select.select([self._messages], [], [], deadline - time.monotonic())[0]:
                raise TimeoutError("the browser is silent")
            part = os.read(self._messages, 1 << 16)
            if not part:
                raise EOFError("the browser has ended")
            self._received += part
        message, self._received = self._received.split(b"\0", 1)
        return message

    def close(self):
        """Ends the browser with all of its processes."""
        os.close(self._commands)
        os.close(self._messages)
        deadline = time.monotonic() + DEADLINE_SECONDS
        while time.monotonic() < deadline:
            try:
                os.killpg(self._process.pid, signal.SIGKILL)
            except ProcessLookupError:
                break
            self._process.poll()
            time.sleep(0.02)
        self._process.wait()


def flags(profile):
    """Chromium's flags."""
    return [
        "--headless",
        # The sandbox cannot be had by root, nor in most containers. It would guard this machine
        # against pages of others; only the page beside this file is loaded.
        "--no-sandbox",
        "--remote-debugging-pipe",
        "--user-data-dir=" + profile,
        "--disable-gpu",
        # Only what ends it: that there is no desktop goes without saying.
        "--log-level=3",
        # A container's /dev/shm may be small.
        "--disable-dev-shm-usage",
        "--no-first-run",
        "--disable-background-networking",
        "--disable-component-update",
        "--no-proxy-server",
        # Nothing else than this machine is reached.
        "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE localhost, EXCLUDE 127.0.0.1",
        # Secure Payment Confirmation is off on Linux; its two halves have a switch each.
        "--enable-features=SecurePaymentConfirmationBrowser",
        "--enable-blink-features=SecurePaymentConfirmation",
    ]
