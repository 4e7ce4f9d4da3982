"""Tries Everlore with a real small chat model and checks that every memory was said by the user: make small-model

Each conversation of conversations.json is held in three ways, each in a fresh home: with `everlore chat`, with `everlore
serve` as a proxy, and as observed turns from which `everlore extract` draws memories with the model. In the first two the
model answers and rules extract; in the third the turns of the assistant are those of the file. Then all memories and layers
are compared with the user's words (support.py says how). Exit codes: 0 all supported, 1 something is not, 2 failed.
"""

import argparse
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import urllib.request
import venv

from stored import LAYERS, read_layers, stored_items
from support import all_user_words, date_problems, own_words, problems

HERE = pathlib.Path(__file__).resolve().parent
WAYS = ("chat", "proxy", "extract")
# After three unusable answers rules extract.
MAX_EXTRACTIONS = 4
# A busy machine reads a prompt for a while before the first word of the answer.
SILENCE = "5m"
DIRECT = urllib.request.build_opener(urllib.request.ProxyHandler({}))


class Everlore:
    """The program with a home of its own."""

    def __init__(self, binary, home):
        self.command = [str(binary), "--home", str(home)]
        self.home = pathlib.Path(home)
        self.environment = {key: value for key, value in os.environ.items() if not key.startswith("EVERLORE_")}

    def run(self, *arguments, text=None, accepted=(0,)):
        done = subprocess.run(
            [*self.command, *arguments], input=text, env=self.environment, capture_output=True, text=True, check=False
        )
        if done.returncode not in accepted:
            raise RuntimeError(f"everlore {' '.join(arguments)}: {done.stderr.strip() or done.stdout.strip()}")
        return done.stdout

    def json(self, *arguments, accepted=(0, 1)):
        return json.loads(self.run("--json", *arguments, accepted=accepted))

    def configure(self, section, base_url):
        settings = {"provider": "openai", "model": "smollm2", "base_url": base_url, "api_key": "none", "timeout": SILENCE}
        lines = [f"[{section}]"] + [f"{key} = {json.dumps(value)}" for key, value in settings.items()]
        if section == "memory_agent":
            lines.append("enabled = true")
        (self.home / "config.toml").write_text("\n".join(lines) + "\n", encoding="utf-8")

    def extract_all(self):
        """Extracts until nothing is pending; returns who extracted."""
        extractors = set()
        for _ in range(MAX_EXTRACTIONS):
            extractions = self.json("extract", accepted=(0, 1, 2))["extractions"]
            extractors |= {extraction["by"] for extraction in extractions if not extraction["error"]}
            if not any(extraction["error"] for extraction in extractions):
                break
        return extractors


def hold_chat(everlore, conversation):
    """Types the user's messages, one a line."""
    lines = [message.replace("\n", " ") for message in user_messages(conversation)]
    everlore.run("chat", "--session", conversation["name"], text="\n".join(lines) + "\n")
    return everlore.extract_all()


def hold_proxy(everlore, conversation):
    """Talks to the model through the proxy as a client does, sending the whole conversation each time."""
    server = subprocess.Popen(
        [*everlore.command, "serve", "--port", "0"],
        env=everlore.environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
    )
    try:
        url = server.stdout.readline().split()[-1]
        talk_through(url, (everlore.home / "server.token").read_text().strip(), conversation)
    finally:
        stop(server)
    return everlore.extract_all()


def talk_through(url, token, conversation):
    messages = []
    for text in user_messages(conversation):
        messages.append({"role": "user", "content": text})
        body = json.dumps({"model": "everlore", "messages": messages}).encode()
        headers = {
            "Authorization": f"Bearer {token}", "Content-Type": "application/json", "x-memory-session": conversation["name"],
        }
        with DIRECT.open(urllib.request.Request(f"{url}/v1/chat/completions", body, headers)) as response:
            messages.append(json.load(response)["choices"][0]["message"])


def observe_and_extract(everlore, conversation):
    """Stores the turns of the file, those of the assistant included, and lets the model extract."""
    keys = ("role", "text")
    turns = [{"session": conversation["name"], **{key: turn[key] for key in keys}} for turn in conversation["turns"]]
    everlore.run("observe", "--end", text="".join(json.dumps(turn) + "\n" for turn in turns))
    return everlore.extract_all()


HOLD = {"chat": hold_chat, "proxy": hold_proxy, "extract": observe_and_extract}


def user_messages(conversation):
    return [turn["text"] for turn in conversation["turns"] if turn["role"] == "user"]


def hold(way, everlore, conversation):
    """Returns who extracted, and why the conversation broke off, if it did: what is stored by then counts."""
    try:
        return HOLD[way](everlore, conversation), ""
    except (RuntimeError, OSError) as error:
        return set(), str(error)


def untouched_layers(options):
    """Returns the layers of a home in which nothing but a greeting was said: SOUL.md as it is delivered."""
    with tempfile.TemporaryDirectory(prefix="everlore-small-model-") as home:
        everlore = Everlore(options.everlore, home)
        everlore.run("observe", text="Hi\n")
        return read_layers(everlore)


def try_conversation(options, base_url, way, conversation):
    """Holds one conversation in a fresh home and returns what is stored there, judged."""
    with tempfile.TemporaryDirectory(prefix="everlore-small-model-") as home:
        everlore = Everlore(options.everlore, home)
        everlore.configure("memory_agent" if way == "extract" else "chat", f"{base_url}/v1")
        extractors, failure = hold(way, everlore, conversation)
        items, drafts = stored_items(everlore, options.layers), everlore.json("quarantine", "list")["drafts"]
    for item in items:
        item["problems"] = judge(item, conversation)
    return {
        "way": way, "conversation": conversation["name"], "language": conversation["language"],
        "extractors": sorted(extractors), "failure": failure, "items": items, "drafts": drafts,
    }


def judge(item, conversation):
    """Returns why the item is not supported."""
    said = words_to_compare(item, conversation)
    past = own_words(conversation, only_past=True)
    reasons = [reason for text in item["texts"] for reason in problems(text, said) + date_problems(text, past)]
    return list(dict.fromkeys(reasons))


def words_to_compare(item, conversation):
    """Returns what must support an item: the daily log may tell what the user asked or quoted, and, if it names the
    assistant, what the assistant said."""
    if item["is_assistant"]:
        return item["assistant_said"]
    return all_user_words(conversation) if item["where"] == "daily" else own_words(conversation)


def print_result(result):
    stored, dropped = len(result["items"]), len(result["drafts"])
    print(f"{result['way']} {result['conversation']}: {stored} stored, {dropped} not stored", flush=True)
    if result["failure"]:
        print(f"  FAILED: {result['failure']}")
    for item in result["items"]:
        if item["problems"]:
            print(f"  NOT SUPPORTED ({item['where']}): {' | '.join(item['texts'])}")
            print(f"    {'; '.join(item['problems'])}")


def print_table(results):
    heads = (
        "way", "language", "conversations", "model extracted", "memories", "supported", "not supported",
        "layer lines", "supported", "not supported", "quarantined", "rejected",
    )
    print("| " + " | ".join(heads) + " |")
    print("|" + "---|" * len(heads))
    for way in WAYS:
        for language in ("en", "zh"):
            chosen = [it for it in results if it["way"] == way and it["language"] == language]
            if chosen:
                print("| " + " | ".join(map(str, (way, language, *counts(chosen)))) + " |")


def counts(results):
    items = [item for result in results for item in result["items"]]
    verdicts = [draft["verdict"] for result in results for draft in result["drafts"]]
    by_model = sum(any(it != "rules" for it in result["extractors"]) for result in results)
    memories = support_counts([item for item in items if item["where"] not in LAYERS])
    lines = support_counts([item for item in items if item["where"] in LAYERS])
    rejected = verdicts.count("rejected")
    return len(results), by_model, *memories, *lines, len(verdicts) - rejected, rejected


def support_counts(items):
    unsupported = sum(bool(item["problems"]) for item in items)
    return len(items), len(items) - unsupported, unsupported


def prepare_environment(folder):
    """Makes the virtual environment with the model, unless it is there with the same requirements."""
    requirements = HERE / "requirements.txt"
    ready = folder / "ready"
    if ready.exists() and ready.read_bytes() == requirements.read_bytes():
        return
    venv.create(folder, clear=True, with_pip=True)
    subprocess.run(
        [folder / "bin/pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps", "--require-hashes",
         "--only-binary", ":all:", "--requirement", requirements],
        check=True,
    )
    ready.write_bytes(requirements.read_bytes())


def start_model(options):
    log = options.folder / "model.jsonl"
    log.unlink(missing_ok=True)
    server = subprocess.Popen(
        [options.folder / "venv/bin/python", HERE / "model_server.py", str(options.threads), str(options.answer_tokens), log],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
    )
    base_url = server.stdout.readline().strip()
    if not base_url:
        stop(server)
        raise RuntimeError("the model server did not start")
    return server, base_url


def stop(process):
    process.terminate()
    try:
        process.wait(10)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def try_all(options, conversations):
    options.layers = untouched_layers(options)
    server, base_url = start_model(options)
    try:
        for way in options.ways:
            for conversation in conversations:
                result = try_conversation(options, base_url, way, conversation)
                print_result(result)
                yield result
    finally:
        stop(server)


def parse_options():
    parser = argparse.ArgumentParser(description="Try Everlore with a real small chat model.")
    parser.add_argument("--everlore", type=pathlib.Path, required=True, help="the program to try")
    parser.add_argument("--folder", type=pathlib.Path, required=True, help="where the virtual environment, the log and the report go")
    parser.add_argument("--threads", type=int, default=1, help="threads of the model")
    parser.add_argument("--answer-tokens", type=int, default=300, help="most tokens of an answer of the model")
    parser.add_argument("--ways", nargs="+", choices=WAYS, default=WAYS)
    parser.add_argument("--only", nargs="+", metavar="NAME", help="only conversations whose name begins so")
    return parser.parse_args()


def main():
    # A stop by another program cleans up like Ctrl+C.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    options = parse_options()
    conversations = json.loads((HERE / "conversations.json").read_text(encoding="utf-8"))
    if options.only:
        conversations = [it for it in conversations if it["name"].startswith(tuple(options.only))]
    prepare_environment(options.folder / "venv")
    results = []
    try:
        results.extend(try_all(options, conversations))
    except KeyboardInterrupt:
        return 2
    except (RuntimeError, OSError) as error:
        print(error, file=sys.stderr)
        return 2
    (options.folder / "report.json").write_text(json.dumps(results, ensure_ascii=False, indent=1), encoding="utf-8")
    print_table(results)
    if any(item["problems"] for result in results for item in result["items"]):
        return 1
    return 2 if any(result["failure"] for result in results) else 0


if __name__ == "__main__":
    sys.exit(main())
