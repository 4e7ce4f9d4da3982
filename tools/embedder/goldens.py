"""Golden texts on which the engine must agree with the tokenizer and the table."""

TEXTS = [
    "",
    " \t\r\n ",
    "a",
    "Hello, world!",
    "I love hiking with my dog.",
    "When did she go to the support group?",
    "The server crashed at 3am; restart nginx.",
    # Words of several pieces, and one without pieces.
    "unaffable telecommunications antidisestablishmentarianism",
    "RetrievalAugmentedGeneration snake_case_name kebab-case-name camelCaseName",
    "☃ snowman",
    # The longest word that is split, and one character more.
    "x" * 100,
    "x" * 101,
    "long " + "ab" * 60 + " word",
    # Case and accents.
    "HELLO World hElLo",
    "Café déjà-vu, naïve façade; Zürich, São Paulo, Ångström, Łódź, İstanbul, ǅ",
    "e\u0301 composed and decomposed \u00e9",
    "Straße Æther œuvre Þór",
    "Việt Nam: Tiếng Việt",
    # Punctuation of all kinds.
    "don't can't it's we're O'Brien's",
    "(a) [b] {c} <d> \"e\" 'f' `g` ~h~ ^i^ |j| \\k/ #l @m $n %o &p *q +r =s _t",
    "wait… “quoted” ‘single’ «guillemets» – en — em ― bar",
    "¿Qué tal? ¡Muy bien! § ¶ · ※",
    "$5.99 €3 £2 ¥100 50% 1,234,567.89 -12 1/2 ½ ²",
    "https://example.com/path?query=1&x=2#top me@mail.example",
    "fn main() { println!(\"{}\", x << 2 && !y); } // comment",
    "{\"key\": [1, 2.5, null], \"nested\": {\"a\": true}}",
    # Control, format and private characters vanish; separators are blanks.
    "zero\u200bwidth soft\u00adhyphen null\u0000byte bell\u0007 bom\ufeff",
    "no\u00a0break\u2003em\u3000wide\u2028line\u2029paragraph\u0085next",
    "replacement \ufffd private \ue000 end",
    # Scripts other than Latin.
    "你好，世界",
    "我上周三在北京见了老朋友。",
    "日本語のテキストとカタカナ",
    "안녕하세요 세계",
    "Привет, мир! Ёлка",
    "Γειά σου Κόσμε ΟΔΟΣ",
    "مرحبا بالعالم שלום עולם",
    "हिन्दी में नमस्ते ภาษาไทย",
    "Mixed 中文 and English 混合text文本",
    "豈 更 compatibility 𠀀 extension",
    # Emoji, with joiners and skin tones.
    "🎉🎉 great job 👍🏽 👨‍👩‍👧 ❤️ ✨",
    "ﬁne ﬂow ＦＵＬＬ　ＷＩＤＴＨ ①②③ ℃ ™",
    "The meeting with Priya moved from Tuesday, 4 March 2025 at 14:30 to next Friday because the venue was double-booked; "
    "she asked me to bring the revised budget, the slides about onboarding and two printed copies of the contract.",
    "word " * 600,
]
