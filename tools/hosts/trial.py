"""One trial: a host in a fresh home, connected one way, run three times against the recording provider, disconnected."""

import contextlib
import json
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import time

from hosts import Place
from provider import ANSWER, ANSWER_AFTER_TOOL, FACT, SECRET, Provider, tool_results

QUESTION = "What is the heron of my sister called, and where does it live?"
SAVE = f"{FACT} Keep that with your memory tool."
SEARCH = "Please ask your memory tool for the heron of my sister."
# Marks of text that no person typed.
MARKS = ("memory-context", "agent-identity", "memory-guide", "hook_context", "system-reminder", "user-prompt-submit-context", "<", "&lt;")
# A host's words against what `connect` wrote.
COMPLAINT = re.compile(r"(?im)^.*(?:warn|error|fail|invalid|ignor).*(?:hooks\.json|everlore[^-]).*$")
# Files of settings.
SUFFIXES = (".json", ".jsonc", ".toml", ".yaml", ".yml", ".js")
RUN_SECONDS = 180
STORE_SECONDS = 20


class Failed(Exception):
    """A check that did not hold, or a host that could not be run, in its own words."""


class Trial:
    """State of one trial."""

    def __init__(self, host, way, everlore, folder, version, log):
        self.host, self.way, self.everlore, self.version, self.log = host, way, str(everlore), version, log
        self.folder = folder
        self.program = folder / host.name / host.program
        self.node = os.pathsep.join([str(folder / "node" / "node_modules" / ".bin"), os.environ["PATH"]])
        self.provider = Provider()
        self.server = None

    def run(self):
        """Runs all steps; raises Failed at the first check that does not hold."""
        with contextlib.ExitStack() as stack:
            stack.callback(self.stop)
            root = pathlib.Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="host-trial-", ignore_cleanup_errors=True)))
            self.place = Place(root / "user", root / "project")
            self.place.user.mkdir()
            self.place.project.mkdir()
            url, key = self.start()
            self.host.settings(self.place, url, key)
            self.bring_dependency()
            self.address, self.key = url, key
            self.try_host()

    def bring_dependency(self):
        """Copies what the host would fetch for itself: here it has no network."""
        if self.host.dependency:
            source, target = self.folder / f"{self.host.name}-dependency", self.place.user / self.host.dependency_folder
            shutil.copytree(source, target, dirs_exist_ok=True, symlinks=True)

    def try_host(self):
        before = self.files()
        connects = self.way != "proxy" or self.host.connects_proxy
        if connects:
            self.memory("connect", self.host.name)
            self.check(self.files() != before, "`connect` changed nothing")
            self.memory("disconnect", self.host.name)
            self.check(self.files() == before, f"`disconnect` left {differences(before, self.files())}")
            self.memory("connect", self.host.name)
        connected = self.files()
        self.tell_fact()
        self.ask()
        if self.way in ("hooks", "plugin"):
            self.search()
        self.check_stored()
        if connects:
            self.check_restored(before, connected)

    def tell_fact(self):
        self.prompt(SAVE if self.way == "mcp" else FACT)
        stored = self.wait_for(lambda: any(SECRET in memory["content"] for memory in self.memories()))
        self.check(stored, "the fact of run 1 was not stored")

    def ask(self):
        self.settle()
        requests = self.prompt(SEARCH if self.way == "mcp" else QUESTION)
        if self.way == "mcp":
            self.check(SECRET in "\n".join(tool_results(requests)), "the tool did not bring the fact of run 1")
        else:
            self.check(SECRET in json.dumps(requests), "the fact of run 1 is not in the prompt of run 2")

    def search(self):
        requests = self.prompt(SEARCH)
        self.check(SECRET in "\n".join(tool_results(requests)), "the tool did not bring the fact of run 1")

    def check_stored(self):
        """Nothing but what was typed and answered is stored, each once."""
        prompts = {"hooks": [FACT, QUESTION, SEARCH], "plugin": [FACT, QUESTION, SEARCH], "proxy": [FACT, QUESTION], "mcp": []}[self.way]
        self.wait_for(lambda: len(self.turns("user")) >= len(prompts))
        self.settle()
        said = self.turns("user")
        self.check(sorted(said) == sorted(prompts), f"stored as the user's words: {json.dumps(said, ensure_ascii=False)[:600]}")
        answers = self.turns("assistant")
        self.check(set(answers) <= {ANSWER, ANSWER_AFTER_TOOL}, f"stored as answers: {json.dumps(answers, ensure_ascii=False)[:600]}")
        self.check(len(answers) == len(prompts), f"{len(answers)} answers are stored for {len(prompts)} prompts")
        for memory in self.memories():
            marks = [mark for mark in MARKS if mark in memory["content"]]
            self.check(not marks, f"{marks} in the memory {memory['content'][:200]!r}")

    def check_restored(self, before, connected):
        ran = self.files()
        self.memory("disconnect", self.host.name)
        after = self.files()
        for name, text in connected.items():
            touched = ran.get(name) != text
            if name in before and not touched:
                self.check(after.get(name) == before[name], f"{name} is not as it was")
            elif name in before or touched:
                self.check("everlore" not in after.get(name, ""), f"{name} still names everlore")
            else:
                self.check(name not in after, f"{name} is still there")

    def start(self):
        """Starts the provider, and Everlore's proxy before it; returns the base URL and the key for the host."""
        if self.way != "proxy":
            return self.provider.url + self.host.base, "none"
        home = self.place.user / ".everlore"
        home.mkdir()
        base = self.provider.url + ("/v1" if self.host.provider == "openai" else "")
        chat = {"provider": self.host.provider, "model": "recorder", "base_url": base, "api_key": "none"}
        lines = ["[chat]"] + [f"{name} = {json.dumps(value)}" for name, value in chat.items()]
        (home / "config.toml").write_text("\n".join(lines) + "\n", encoding="utf-8")
        self.server = subprocess.Popen(
            [self.everlore, "serve", "--port", "0"], env=self.environment(), cwd=self.place.project,
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
        )
        url = self.server.stdout.readline().split()[-1]
        return url + self.host.proxy_base, (home / "server.token").read_text().strip()

    def stop(self):
        self.provider.stop()
        if self.server:
            self.server.terminate()
            self.server.wait(20)

    def environment(self):
        return {
            "HOME": str(self.place.user), "PATH": self.node, "LANG": "C.UTF-8", "TERM": "dumb", "NO_COLOR": "1",
        }

    def prompt(self, text):
        """Runs the host once; returns what the provider was asked."""
        self.provider.take()
        command = [str(self.program), *self.host.arguments(text)]
        environment = {**self.environment(), **self.host.environment(self.address, self.key)}
        try:
            done = subprocess.run(
                command, cwd=self.place.project, env=environment, input=text if self.host.reads_input else "", capture_output=True,
                text=True, timeout=RUN_SECONDS, check=False,
            )
        except subprocess.TimeoutExpired as late:
            raise Failed(f"did not end within {RUN_SECONDS} s: {last_line(late.stdout)}") from late
        requests = self.provider.take()
        self.note({"prompt": text, "exit": done.returncode, "out": done.stdout, "err": done.stderr, "requests": requests})
        said = last_line(done.stderr) or last_line(done.stdout)
        self.check(done.returncode == 0, f"ended with {done.returncode}: {said}")
        complaint = COMPLAINT.search(f"{done.stdout}\n{done.stderr}")
        self.check(not complaint, f"complains: {complaint and complaint[0].strip()[:300]}")
        self.check(any(request["method"] == "POST" for request in requests), f"asked no model: {said}")
        return requests

    def settle(self):
        """Stores what waits in the spool, as the process that a hook starts does."""
        if self.way in ("hooks", "plugin"):
            self.memory("hook", self.host.name, "drain")

    def memory(self, *arguments):
        """Runs Everlore in the trial's home."""
        done = subprocess.run(
            [self.everlore, *arguments], cwd=self.place.project, env=self.environment(), capture_output=True, text=True, check=False,
        )
        self.note({"everlore": arguments, "exit": done.returncode, "out": done.stdout, "err": done.stderr})
        self.check(done.returncode in (0, 1), f"everlore {' '.join(arguments)}: {last_line(done.stderr)}")
        return done.stdout

    def memories(self):
        return json.loads(self.memory("--json", "list", "--limit", "200"))["memories"]

    def turns(self, role):
        turns = json.loads(self.memory("--json", "list", "--kind", "turn", "--limit", "200"))["memories"]
        return [turn["content"] for turn in turns if turn["source"].get("role") == role]

    def wait_for(self, condition):
        end = time.monotonic() + STORE_SECONDS
        while not condition():
            if time.monotonic() > end:
                return False
            self.settle()
            time.sleep(0.2)
        return True

    def files(self):
        """Returns the settings of the user and the project, without Everlore's home and what hosts write for themselves."""
        found = {}
        for root in (self.place.user, self.place.project):
            for path in root.rglob("*"):
                name = str(path.relative_to(root.parent))
                if path.is_file() and not {".everlore", "node_modules"} & set(path.parts) and path.suffix in SUFFIXES:
                    with contextlib.suppress(OSError, UnicodeDecodeError):
                        found[name] = path.read_text(encoding="utf-8")
        return found

    def check(self, holds, why):
        if not holds:
            raise Failed(why)

    def note(self, record):
        self.log.write(json.dumps({"host": self.host.name, "way": self.way, **record}, ensure_ascii=False) + "\n")
        self.log.flush()


def differences(before, after):
    return sorted(name for name in before.keys() | after.keys() if before.get(name) != after.get(name))


def last_line(text):
    text = text.decode("utf-8", "replace") if isinstance(text, bytes) else text or ""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1][:300] if lines else ""
