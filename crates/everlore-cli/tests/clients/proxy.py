"""Shared by the scripts for the memory proxy: its address, and waiting for captured turns."""

import json
import os
import time
import urllib.request

URL, KEY = os.environ["URL"], os.environ["KEY"]


def turns(count):
    """Waits for this number of captured turns."""
    until = time.monotonic() + 60
    while True:
        request = urllib.request.Request(
            f"{URL}/v1/memories?kind=turn&limit=100", headers={"Authorization": f"Bearer {KEY}"}
        )
        with urllib.request.urlopen(request) as answer:
            kept = [memory["content"] for memory in json.load(answer)["memories"]]
        if len(kept) >= count:
            assert len(kept) == count, kept
            return kept
        assert time.monotonic() < until, kept
        time.sleep(0.01)
