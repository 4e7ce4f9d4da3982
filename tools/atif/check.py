"""Validates exports of trajectories with Harbor's own models of ATIF: chat, proxy, hooks and the API, in both languages.

    python check.py --everlore PROGRAM --harbor FOLDER

FOLDER is where Harbor's wheel was unpacked.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import re
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Iterator

#: It must be in no export.
SECRET = "sk-proj-abcdefghijklmnopqrstuvwxyz0123456789ABCD"
#: Time for the server to print its address.
START_SECONDS = 60


class Provider(BaseHTTPRequestHandler):
    """A provider with OpenAI's protocol: it answers in the language of the message, and once with a tool call."""

    def do_POST(self) -> None:
        """Answers a chat completion, as a stream where one is wanted."""
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        text = "好的，已经看过了。" if re.search(r"[一-龥]", str(body["messages"][-1])) else "Done, I looked at it."
        message: dict[str, Any] = {"role": "assistant", "content": text}
        if body.get("tools") and body["messages"][-1]["role"] == "user":
            call = {"id": "call_1", "type": "function", "function": {"name": "read_file", "arguments": '{"path": "/etc/hosts"}'}}
            message = {"role": "assistant", "content": None, "tool_calls": [call]}
        self.reply(body, message)

    def reply(self, body: dict[str, Any], message: dict[str, Any]) -> None:
        """Sends a message whole or as one chunk of a stream."""
        usage = {"prompt_tokens": 12, "completion_tokens": 5, "total_tokens": 17}
        ended = "tool_calls" if message.get("tool_calls") else "stop"
        head = {"id": "c1", "created": 1, "model": "small", "usage": usage}
        if body.get("stream"):
            calls = [{"index": 0, **call} for call in message.get("tool_calls", [])]
            delta = {**message, **({"tool_calls": calls} if calls else {})}
            chunk = {**head, "object": "chat.completion.chunk", "choices": [{"index": 0, "delta": delta, "finish_reason": ended}]}
            sent, kind = f"data: {json.dumps(chunk)}\n\ndata: [DONE]\n\n", "text/event-stream"
        else:
            sent = json.dumps({**head, "object": "chat.completion", "choices": [{"index": 0, "message": message, "finish_reason": ended}]})
            kind = "application/json"
        self.send_response(200)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(sent.encode())))
        self.end_headers()
        self.wfile.write(sent.encode())

    def log_message(self, *_: Any) -> None:
        """Says nothing."""


class TestHome:
    """A home in a temporary folder, with a provider."""

    def __init__(self, program: Path, folder: Path, provider: int) -> None:
        self.program, self.folder = program, folder
        self.env = {**os.environ, "EVERLORE_HOME": str(folder), "HOME": str(folder), "OPENAI_API_KEY": "x"}
        self.env.pop("EVERLORE", None)
        (folder / "config.toml").write_text(
            f'[chat]\nprovider = "openai"\nmodel = "small"\nbase_url = "http://127.0.0.1:{provider}/v1"\n'
        )

    def run(self, *arguments: str, text: str = "") -> str:
        """Runs a command and returns what it prints; exit code 1 means that nothing was found."""
        done = subprocess.run([self.program, *arguments], input=text, capture_output=True, text=True, env=self.env)
        if done.returncode > 1:
            sys.exit(f"failed: everlore {' '.join(arguments)}: {done.stderr}")
        return done.stdout

    @contextlib.contextmanager
    def server(self) -> Iterator[str]:
        """Runs the server and yields its address."""
        log = self.folder / "serve.log"
        with log.open("w") as out, subprocess.Popen([self.program, "serve", "--port", "0"], stdout=out, stderr=out, env=self.env) as server:
            try:
                yield self.address(log)
            finally:
                server.terminate()

    @staticmethod
    def address(log: Path) -> str:
        """Waits until the server has printed its address."""
        end = time.monotonic() + START_SECONDS
        while time.monotonic() < end:
            if found := re.search(r"answers at (http://\S+)", log.read_text()):
                return found[1]
            time.sleep(0.05)
        sys.exit(f"the server did not start: {log.read_text()}")

    def post(self, url: str, body: Any, **headers: str) -> Any:
        """Posts JSON with the owner's token."""
        token = (self.folder / "server.token").read_text().strip()
        sent = {"content-type": "application/json", "authorization": f"Bearer {token}", **headers}
        with urllib.request.urlopen(urllib.request.Request(url, json.dumps(body).encode(), sent)) as answer:
            return json.loads(answer.read() or b"null")


def use_chat(home: TestHome) -> None:
    """Talks in both languages, with a secret in a message."""
    home.run("chat", "--session", "chat-en", text=f"I use Neovim for notes.\nMy key is {SECRET}, keep it safe.\n")
    home.run("chat", "--session", "chat-zh", text="我用 Neovim 记笔记。\n谢谢。\n")


def use_hooks(home: TestHome) -> None:
    """Sends events of a coding agent: messages, calls that fail and succeed, one of a subagent, and a long session."""
    for session, ask, error, answer in (
        ("hook-en", "The tests fail to link.", "error: linker `cc` not found", "I installed gcc."),
        ("hook-zh", "服务起不来。", "EADDRINUSE: 端口 8080 已被占用", "我结束了旧进程。"),
    ):
        event(home, "UserPromptSubmit", session, prompt=ask)
        tool(home, session, f"curl -H 'authorization: Bearer {SECRET}' localhost", error=error)
        tool(home, session, "apt install gcc")
        tool(home, session, "ls", agent_id="subagent-1", agent_type="explore")
        event(home, "Stop", session, last_assistant_message=answer)
        event(home, "SessionEnd", session, reason="exit")
    event(home, "SessionStart", "hook-empty", source="startup")
    event(home, "SessionEnd", "hook-empty", reason="exit")
    home.run("hook", "claude-code", "drain")


def event(home: TestHome, name: str, session: str, **fields: Any) -> None:
    """Sends one event of Claude Code."""
    home.run("hook", "claude-code", name, text=json.dumps({"session_id": session, "hook_event_name": name, "cwd": "/srv/shop", **fields}))


def tool(home: TestHome, session: str, command: str, error: str | None = None, **fields: Any) -> None:
    """Sends the event of a tool call."""
    name = "PostToolUseFailure" if error else "PostToolUse"
    outcome = {"error": error} if error else {"tool_response": {"stdout": "ok", "stderr": ""}}
    event(home, name, session, tool_name="Bash", tool_input={"command": command}, tool_use_id=f"{session}-{command}", **outcome, **fields)


def use_proxy(home: TestHome, url: str) -> None:
    """Talks through the proxy, with tools, whole and as a stream."""
    tools = [{"type": "function", "function": {"name": "read_file", "parameters": {"type": "object", "properties": {"path": {"type": "string"}}}}}]
    for session, ask in (("proxy-en", "Read /etc/hosts, please."), ("proxy-zh", "请读一下 /etc/hosts。")):
        messages: list[dict[str, Any]] = [{"role": "system", "content": "You help."}, {"role": "user", "content": ask}]
        headers = {"x-memory-session": session}
        answer = home.post(f"{url}/v1/chat/completions", {"model": "small", "messages": messages, "tools": tools}, **headers)
        messages += [answer["choices"][0]["message"], {"role": "tool", "tool_call_id": "call_1", "content": f"127.0.0.1 localhost {SECRET}"}]
        home.post(f"{url}/v1/chat/completions", {"model": "small", "messages": messages, "tools": tools}, **headers)


def use_api(home: TestHome, url: str) -> None:
    """Stores what no host sends: outputs without calls, odd arguments, repeated ids, blank texts, and a long session."""

    def step(role: str, text: str, session: str, **fields: Any) -> dict[str, Any]:
        return {"role": role, "text": text, "session": session, **fields}

    odd = [
        step("tool", "an output without a call", "api-odd"),
        step("user", "开始 🚀 \u202eright to left\u202c", "api-odd"),
        step("tool", "first", "api-odd", call={"id": "same", "name": "shell", "arguments": {"command": ["a", "b"]}}),
        step("tool", "second", "api-odd", call={"id": "same", "name": "shell", "arguments": {"nested": {"x": [1, None, True]}}, "failed": True}),
        step("tool", "third", "api-odd", call={"name": "", "arguments": "plain text"}),
        step("tool", "no arguments", "api-odd", call={"name": "名字 带空格"}),
        step("system", "A rule of the house.", "api-odd"),
        step("assistant", "fertig", "api-odd"),
        step("tool", "an output after the answer", "api-odd"),
    ]
    long = [step("user", "Count to three hundred.", "api-long")]
    for number in range(300):
        long.append(step("tool", f"第 {number} 个 " + "x" * 400, "api-long", call={"id": f"c{number}", "name": "count", "arguments": {"number": number}}))
    for turns in (odd, long):
        for turn in turns:
            try:
                home.post(f"{url}/v1/turns", turn)
            except urllib.error.HTTPError as refused:
                print(f"  refused by the server: {turn.get('call')}: {refused.read().decode()[:160]}")


def validate(home: TestHome, harbor: Path) -> int:
    """Exports everything, whole and compressed, and returns the number of invalid trajectories."""
    sys.path.insert(0, str(harbor))
    from harbor.models.trajectories import Trajectory  # noqa: PLC0415
    from harbor.utils.trajectory_validator import TrajectoryValidator  # noqa: PLC0415

    failed = 0
    for budget in ((), ("--budget", "400")):
        exported = home.run("trajectory", "export", "--format", "atif", *budget)
        if SECRET in exported:
            at = exported.index(SECRET)
            sys.exit(f"a secret is in the export: {exported[max(0, at - 200) : at + 60]}")
        lines = [json.loads(line) for line in exported.splitlines()]
        sessions = {line["session_id"].rsplit("/", 1)[-1] for line in lines}
        missing = {"chat-en", "chat-zh", "hook-en", "hook-zh", "proxy-en", "proxy-zh", "api-odd", "api-long"} - sessions
        if missing:
            sys.exit(f"not exported: {sorted(missing)}")
        for line in lines:
            validator = TrajectoryValidator()
            is_valid = validator.validate(line)
            failed += not is_valid
            calls = sum(len(step.get("tool_calls") or []) for step in line["steps"])
            print(f"{'ok   ' if is_valid else 'FAIL '} {line['session_id']}: {len(line['steps'])} steps, {calls} calls {' '.join(budget)}")
            for error in validator.errors:
                print(f"      {error}")
            if is_valid and len(Trajectory.model_validate(line).steps) != len(line["steps"]):
                sys.exit("steps were lost")
    return failed


def main() -> None:
    """Fills a home and validates what it exports."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--everlore", type=Path, required=True, help="program to check")
    parser.add_argument("--harbor", type=Path, required=True, help="folder with Harbor's unpacked wheel")
    args = parser.parse_args()
    provider = ThreadingHTTPServer(("127.0.0.1", 0), Provider)
    threading.Thread(target=provider.serve_forever, daemon=True).start()
    with tempfile.TemporaryDirectory() as folder:
        home = TestHome(args.everlore.resolve(), Path(folder), provider.server_port)
        use_chat(home)
        use_hooks(home)
        with home.server() as url:
            use_proxy(home, url)
            use_api(home, url)
        failed = validate(home, args.harbor.resolve())
    if failed:
        sys.exit(f"{failed} trajectories are no valid ATIF")


if __name__ == "__main__":
    main()
