"""Reads what a home stores beside turns: memories of any status, and lines of the layers."""

import re

LAYERS = ("soul", "user", "memory", "daily")
SPEAKER = re.compile(r"^(?:- )?(user|assistant|用户|助手)\s*[:：]\s*", re.IGNORECASE)


def read_layers(everlore):
    """Returns the lines of each layer, headings aside."""
    return {layer: lines_of(everlore.json("layer", "show", layer)["text"]) for layer in LAYERS}


def lines_of(text):
    return [line.strip() for line in text.splitlines() if line.strip() and not line.startswith("#")]


def stored_items(everlore, layers_before):
    """Returns each memory and each new line of a layer, with its texts and whether it quotes the assistant."""
    memories = everlore.json("memory", "list", "--all", "--status", "any")["memories"]
    heard = "\n".join(memory["content"] for memory in memories if memory["source"].get("role") == "assistant")
    items = [memory_item(memory) for memory in memories if memory["kind"] != "turn"]
    for layer, lines in read_layers(everlore).items():
        items += [layer_item(layer, line) for line in lines if line not in layers_before[layer]]
    return [{**item, "assistant_said": heard if item["is_assistant"] else ""} for item in items]


def memory_item(memory):
    """Returns the statement, its title unless that repeats it, and the value of its slot."""
    slot = memory.get("metadata", {}).get("slot") or {}
    texts = [memory["content"]] + [text for text in (memory["name"], slot.get("value", "")) if text not in memory["content"]]
    return {"where": f"{memory['kind']}, {memory['status']}", "texts": texts, "is_assistant": False}


def layer_item(layer, line):
    speaker = SPEAKER.match(line)
    is_assistant = bool(speaker) and speaker[1].lower() in ("assistant", "助手")
    return {"where": layer, "texts": [SPEAKER.sub("", line)], "is_assistant": is_assistant}
