"""Writes golden vectors for the engine's tests of Chinese, `golden_zh.json`, and the model's identity, `model_id`.

    python assets.py --assets crates/everlore/assets/embedder --han crates/everlore/assets/han/folds.bin --tokenizer tokenizer.json
"""

import argparse
import hashlib
import json
import sys
from pathlib import Path

import numpy as np
from tokenizers import Tokenizer

sys.path.append(str(Path(__file__).resolve().parent.parent / "embedder"))

import chinese
import int4

WIDTH = 256
# Programs renew the vectors of an earlier version: raise it with every change of the files below.
NAME = "everlore-static-256-v2"
IDENTITY = ["table.i4", "vocab.txt", "zh_words.bin"]
TEXTS = [
    # English goes through as before.
    "I love hiking with my dog.",
    "wait… “quoted” – en — em",
    # Chinese words, single characters, and a character that is in no word.
    "我喜欢喝茶",
    "猫",
    "我上周三在北京见了老朋友。",
    "我对花生严重过敏，吃一点点喉咙就会肿起来。",
    "周末带孩子去哪儿玩比较好？",
    "这个项目的截止日期是什么时候",
    "发展中国家的经济",
    "㐀 is no word",
    # Traditional characters fold into simplified ones.
    "我對海鮮過敏，請幫我訂一家餐廳。",
    "台灣的電腦",
    # Punctuation of Chinese text counts for nothing.
    "，。！？",
    "「你好」、《三体》：（好书）～",
    "你好，世界",
    # Both languages, digits, and other scripts.
    "支付网关是 Go 写的，每周四晚上十点发版",
    "Mixed 中文 and English 混合text文本",
    "端口8081，密码在vault里",
    "日本語のテキストとカタカナ",
    "😀 开心",
    # More words than are read.
    "好" * 600,
]


def main():
    arguments = parse()
    packed = np.fromfile(arguments.assets / "table.i4", np.uint8).reshape(-1, WIDTH // 2 + WIDTH // 16)
    table = int4.unpack(packed, WIDTH)
    words, vectors = chinese.read(arguments.assets / "zh_words.bin", table)
    tokenizer = Tokenizer.from_file(str(arguments.tokenizer))
    bilingual = chinese.Bilingual(table, words, vectors, chinese.Folds(arguments.han), tokenizer)
    lines = []
    for text in TEXTS:
        found, pieces = bilingual.parts(text)
        first = [round(float(value), 6) for value in bilingual.vector(text)[:8]]
        line = {"text": text, "words": [words[number] for number in found], "ids": pieces, "vector": first}
        lines.append(json.dumps(line, ensure_ascii=False))
    (arguments.assets / "golden_zh.json").write_text("[\n" + ",\n".join(lines) + "\n]\n", encoding="utf-8")
    digest = hashlib.sha256(b"".join((arguments.assets / name).read_bytes() for name in IDENTITY))
    (arguments.assets / "model_id").write_text(f"{NAME}-{digest.hexdigest()[:12]}")


def parse():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--assets", type=Path, required=True, help="folder with table.i4 and zh_words.bin")
    parser.add_argument("--han", type=Path, required=True, help="folds of traditional characters")
    parser.add_argument("--tokenizer", type=Path, required=True, help="tokenizer.json of the teacher")
    return parser.parse_args()


if __name__ == "__main__":
    main()
