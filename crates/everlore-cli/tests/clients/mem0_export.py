"""mem0's own library writes memories, and the export of docs/migrate-mem0.md runs on them: the guide, and a folder to work in.

Only the vectors are made up, by a server in this process: the export does not read them.
"""

import hashlib
import http.server
import json
import os
import re
import sys
import threading
from pathlib import Path

guide, folder = Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve()
folder.mkdir(exist_ok=True)
os.chdir(folder)
os.environ.update(MEM0_DIR=str(folder / "mem0"), OPENAI_API_KEY="none")

from mem0 import Memory  # noqa: E402: it reads the variables when it is imported

DIMENSIONS = 64


class Embeddings(http.server.BaseHTTPRequestHandler):
    """Answers OpenAI's route of embeddings with digests as vectors."""

    def do_POST(self):
        request = json.loads(self.rfile.read(int(self.headers["content-length"])))
        texts = request["input"] if isinstance(request["input"], list) else [request["input"]]
        data = [{"object": "embedding", "index": at, "embedding": vector(text)} for at, text in enumerate(texts)]
        usage = {"prompt_tokens": 1, "total_tokens": 1}
        answer = json.dumps({"object": "list", "model": "none", "usage": usage, "data": data}).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, *_):
        pass


def vector(text: str) -> list[float]:
    return [byte / 255 for byte in hashlib.sha512(text.encode()).digest()[:DIMENSIONS]]


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Embeddings)
threading.Thread(target=server.serve_forever, daemon=True).start()
model = {"model": "none", "openai_base_url": f"http://127.0.0.1:{server.server_port}/v1"}
memory = Memory.from_config({
    "embedder": {"provider": "openai", "config": {**model, "embedding_dims": DIMENSIONS}},
    "llm": {"provider": "openai", "config": model},
    "vector_store": {"provider": "qdrant", "config": {"path": str(folder / "vectors"), "embedding_model_dims": DIMENSIONS}},
    "history_db_path": str(folder / "history.db"),
})
for number in range(25):
    memory.add(f"Ana's order {number} went to Graz", user_id="ana", infer=False)
memory.add("喜欢喝龙井茶", user_id="小林", infer=False, metadata={"mood": "calm"})

code = re.search(r"```python\n(.*?)```", guide.read_text(), re.DOTALL).group(1)
exec(compile(code, str(guide), "exec"), {"memory": memory})
print(len(json.loads((folder / "mem0-export.json").read_text())))
