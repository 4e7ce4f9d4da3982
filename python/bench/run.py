"""Measures Everlore in a Python process beside its own server, mem0ai and shodh-memory: the same saves and recalls, in one run.

    python bench/run.py --everlore 'VENV/bin/python' --peers 'VENV/bin/python' [--facts 1000] [--json FILE]

Each system runs in a process of its own, one after the other, with an empty folder. ``--everlore`` is the Python that has
the wheel installed, ``--peers`` the one with bench/requirements.txt; by default both are this one.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

from facts import facts
from systems import LIMIT, SYSTEMS


def measure(name: str, count: int, folder: Path) -> dict[str, Any]:
    """Saves the facts, asks all questions, and returns times in milliseconds."""
    began = time.perf_counter()
    system = SYSTEMS[name](folder)
    system.save("The benchmark began. 测试开始了。")
    system.recall("Did it begin?")
    ready = time.perf_counter() - began
    chosen = facts()[:count]
    saves = [timed(lambda: system.save(fact.text))[0] for fact in chosen]
    recalls, found = [], {"english": [], "chinese": []}
    for index, fact in enumerate(chosen):
        took, texts = timed(lambda: system.recall(fact.question))
        recalls.append(took)
        found["chinese" if index % 2 else "english"].append(fact.text in texts[:LIMIT])
    system.close()
    return {
        "ready_s": ready,
        "save_ms": summary(saves),
        "recall_ms": summary(recalls),
        "recall_at_5": {language: statistics.mean(hits) for language, hits in found.items() if hits},
    }


def timed(call: Any) -> tuple[float, Any]:
    """Returns the milliseconds of a call and its result."""
    began = time.perf_counter()
    result = call()
    return (time.perf_counter() - began) * 1000, result


def summary(times: list[float]) -> dict[str, float]:
    """Returns the median, the 95th percentile and the sum in seconds."""
    ordered = sorted(times)
    return {"p50": statistics.median(ordered), "p95": ordered[int(len(ordered) * 0.95)], "total_s": sum(times) / 1000}


def run_apart(name: str, python: str, count: int) -> dict[str, Any]:
    """Measures a system in a process of its own; one that cannot run is reported with its own words."""
    with tempfile.TemporaryDirectory(prefix="everlore-bench-") as folder:
        command = [python, __file__, "--only", name, "--facts", str(count), "--folder", folder]
        ran = subprocess.run(command, capture_output=True, text=True, env={**os.environ, "PYTHONUTF8": "1"})
    lines = ran.stdout.strip().splitlines()
    if ran.returncode == 0 and lines:
        return dict(json.loads(lines[-1]))
    return {"failed": (ran.stderr.strip().splitlines() or [f"exit code {ran.returncode}"])[-1]}


def print_table(results: dict[str, dict[str, Any]]) -> None:
    """Prints the results as a table in markdown."""
    print("| | ready | save p50 / p95 | recall p50 / p95 | right one in the first 5: English, Chinese |")
    print("|---|---|---|---|---|")
    for name, result in results.items():
        if "failed" in result:
            print(f"| {name} | failed: {result['failed']} | | | |")
            continue
        save, recall, right = result["save_ms"], result["recall_ms"], result["recall_at_5"]
        shares = ", ".join(f"{share:.1%}" for share in right.values())
        print(
            f"| {name} | {result['ready_s']:.2f} s | {save['p50']:.2f} / {save['p95']:.2f} ms "
            f"| {recall['p50']:.2f} / {recall['p95']:.2f} ms | {shares} |"
        )


def main() -> None:
    """Runs one system, or all of them apart."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--everlore", default=sys.executable, help="Python with the wheel")
    parser.add_argument("--peers", default=sys.executable, help="Python with mem0ai and shodh-memory")
    parser.add_argument("--facts", type=int, default=1000, help="number of saves and of recalls")
    parser.add_argument("--json", type=Path, help="file for the results")
    parser.add_argument("--only", choices=SYSTEMS, help=argparse.SUPPRESS)
    parser.add_argument("--folder", type=Path, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.only:
        print(json.dumps(measure(args.only, args.facts, args.folder)))
        return
    results = {}
    for name in SYSTEMS:
        python = args.everlore if name.startswith("everlore") else args.peers
        results[name] = run_apart(name, python, args.facts)
        print(f"{name}: done", file=sys.stderr)
    print_table(results)
    if args.json:
        args.json.write_text(json.dumps(results, indent=2))


if __name__ == "__main__":
    main()
