"""Takes one test's commands over HTTP on loopback, until SIGTERM.

`POST /NAME` with JSON calls the command of that name. The answer is {"value": ...}, or
{"error": {"name": ..., "message": ...}} for what the command refuses.
"""

import http.server
import json
import signal


class Refusal(Exception):
    """Something that was asked for and that this side does not do, by its name."""

    def __init__(self, name, message=""):
        super().__init__(name, message)
        self.told = {"error": {"name": name, "message": message}}


def serve(commands):
    """Serves until SIGTERM, which raises SystemExit here; commands come one after another."""

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_POST(self):
            body = self.rfile.read(int(self.headers["Content-Length"]))
            try:
                answer = {"value": commands[self.path[1:]](json.loads(body))}
            except Refusal as refusal:
                answer = refusal.told
            answer = json.dumps(answer).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

        def log_message(self, *ignored):
            pass

    server = http.server.HTTPServer(("127.0.0.1", 0), Handler)
    started = {"event": "service.started", "port": server.server_port}
    print(json.dumps(started, separators=(",", ":")), flush=True)
    server.serve_forever()


def end_on_sigterm():
    """From now on SIGTERM unwinds the stack, so that what was started is ended."""

    def end(*ignored):
        raise SystemExit(0)

    signal.signal(signal.SIGTERM, end)
