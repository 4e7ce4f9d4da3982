"""The 1,000 facts of the benchmark, half of them Chinese, and a question about each in other words."""

from __future__ import annotations

from typing import NamedTuple


class Fact(NamedTuple):
    """A statement to save, and a question that it answers."""

    text: str
    question: str


ENGLISH_NAMES = """Abigail Benedict Camille Dmitri Eleanor Fabian Greta Hector Imogen Jasper Katya Leopold Marisol Nikolai
Odette Percival Quentin Rosalind Sebastian Tabitha Ulrich Vivienne Winston Xavier Yolanda Zachary Ambrose Beatrix Cornelius
Daphne Emeric Florence Gideon Harriet Ignatius Josephine Konrad Lavinia Magnus Noelle Orlando Philippa Roderick Saskia
Thaddeus Ursula Valentin Wilhelmina Yannick Zelda""".split()

CHINESE_NAMES = """陈思远 林晓彤 赵文博 孙雨欣 周子墨 吴佳怡 郑浩然 王诗涵 冯天宇 蒋梦瑶 沈俊杰 韩雪琴 杨志强 朱丽萍 秦少华
许若曦 何建国 吕小燕 施国栋 张海燕 孔令辉 曹玉兰 严明哲 华清影 金永昌 魏紫萱 陶宏伟 姜春梅 戚大勇 谢婉婷 邹立新 喻小军
柏青松 水灵儿 窦文涛 章雅静 云飞扬 苏慕白 潘晓峰 葛秀英 奚美娟 范志毅 彭家骏 郎月明 鲁思齐 韦海波 昌盛强 马兰花 苗翠花 凤采薇""".split()

# A topic: a statement and a question about a person and a value, and the values.
ENGLISH_TOPICS = [
    ("{who} has a serious allergy to {what}.", "Which food makes {who} ill?",
     ["shellfish", "walnuts", "sesame", "kiwi fruit", "soybeans"]),
    ("{who} commutes to the office by {what}.", "How does {who} get to work?",
     ["tram", "ferry", "bicycle", "motorbike", "on foot along the canal"]),
    ("The birthday of {who} is on {what}.", "When was {who} born?",
     ["3 February", "19 June", "27 August", "11 October", "30 December"]),
    ("{who} plays the {what} in an amateur orchestra.", "Which musical instrument does {who} practise?",
     ["oboe", "cello", "trombone", "harp", "bassoon"]),
    ("{who} keeps a {what} called Pepper at home.", "What pet does {who} have?",
     ["tortoise", "greyhound", "parrot", "ferret", "tabby cat"]),
    ("{who} is writing a doctoral thesis about {what}.", "What is {who}'s research on?",
     ["glacier melt", "medieval trade", "protein folding", "bridge resonance", "bird migration"]),
    ("{who} asked for invoices to be paid within {what}.", "What payment terms does {who} want?",
     ["10 days", "21 days", "45 days", "60 days", "90 days"]),
    ("The database server that {who} looks after runs on port {what}.", "Where does {who}'s database listen?",
     ["5544", "6021", "7733", "8190", "9317"]),
    ("{who} prefers {what} for a holiday.", "Where does {who} like to spend the vacation?",
     ["the Dolomites", "Hokkaido", "the Azores", "Patagonia", "the Baltic coast"]),
    ("{who} drinks {what} right after getting up.", "What is {who}'s favourite morning beverage?",
     ["oolong tea", "espresso", "hot chocolate", "rooibos", "plain water with lemon"]),
]  # fmt: skip
CHINESE_TOPICS = [
    ("{who}对{what}严重过敏。", "{who}吃什么会不舒服？", ["虾蟹", "核桃", "芝麻", "猕猴桃", "黄豆"]),
    ("{who}每天坐{what}去公司。", "{who}怎么上班？", ["有轨电车", "轮渡", "班车", "地铁二号线", "朋友的顺风车"]),
    ("{who}的生日是{what}。", "{who}是哪一天出生的？", ["二月三日", "六月十九日", "八月二十七日", "十月十一日", "十二月三十日"]),
    ("{who}在业余乐团里演奏{what}。", "{who}会哪种乐器？", ["双簧管", "大提琴", "长号", "竖琴", "琵琶"]),
    ("{who}家里养了一只{what}，名字叫豆豆。", "{who}有什么宠物？", ["乌龟", "灰狗", "鹦鹉", "雪貂", "虎斑猫"]),
    ("{who}正在写关于{what}的博士论文。", "{who}研究的是什么方向？", ["冰川融化", "中世纪贸易", "蛋白质折叠", "桥梁共振", "候鸟迁徙"]),
    ("{who}要求发票在{what}内付清。", "{who}的付款期限是多久？", ["十天", "二十一天", "四十五天", "六十天", "九十天"]),
    ("{who}负责的数据库服务器用的端口是{what}。", "{who}的数据库监听在哪里？", ["5544", "6021", "7733", "8190", "9317"]),
    ("{who}放假最喜欢去{what}。", "{who}度假爱去哪儿？", ["张家界", "北海道", "三亚", "川西", "北戴河"]),
    ("{who}起床以后先喝一杯{what}。", "{who}早上习惯喝什么？", ["乌龙茶", "浓缩咖啡", "热可可", "豆浆", "柠檬水"]),
]  # fmt: skip


def facts() -> list[Fact]:
    """Returns all facts, languages and topics mixed."""
    made = []
    for person in range(50):
        for topic in range(10):
            for names, topics in ((ENGLISH_NAMES, ENGLISH_TOPICS), (CHINESE_NAMES, CHINESE_TOPICS)):
                text, question, values = topics[topic]
                who, what = names[person], values[(person + topic) % len(values)]
                made.append(Fact(text.format(who=who, what=what), question.format(who=who)))
    return made
