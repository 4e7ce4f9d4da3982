//! Phrase lists of the memory-need classifier: closed word classes of English and Chinese.

/// Opening and closing quotation marks.
pub(super) const QUOTES: &[(char, char)] =
    &[('"', '"'), ('“', '”'), ('「', '」'), ('《', '》'), ('‘', '’')];

/// Phrases that may precede the instruction.
#[rustfmt::skip]
pub(super) const LEAD_INS: &[&str] = &[
    "please", "can you", "could you", "would you", "will you", "can you please", "could you please", "would you please", "hey", "hi", "hello",
    "ok", "okay", "so", "well", "now", "and", "then", "also", "just", "quickly", "quick question", "i need you to", "i want you to", "i would like you to",
    "help me", "help me to", "thanks", "great", "no", "yes", "let us", "go ahead and", "hmm", "actually", "sorry", "wow",
    "请你", "请", "麻烦你", "麻烦", "帮我", "帮忙", "能不能", "可以", "可不可以", "你能", "能", "那么", "那", "你好", "嗨", "来", "给我", "请问", "再", "先",
    "好的", "谢谢", "我想知道", "我想问", "不对", "哇",
];

/// Beginnings of thanks for something.
pub(super) const THANKS: &[&str] = &[
    "thanks for",
    "thank you for",
    "thx for",
    "many thanks for",
    "谢谢你",
    "谢谢您",
    "多谢",
    "感谢",
];

/// Phrases in which "I" means anybody and "me" only names the listener.
#[rustfmt::skip]
pub(super) const GENERIC_SELF: &[&str] = &[
    "what i asked for", "what i asked", "what i said", "what i want", "what i need", "我问的", "我要的", "我说的", "我想要的",
    "how do i", "how can i", "how should i", "how would i", "how could i", "how long should i", "how often should i", "how much should i", "how many should i",
    "when should i", "why should i", "can i", "may i", "should i", "what should i", "tell me", "give me", "show me", "send me", "teach me", "help me", "let me", "get me",
    "make me", "write me", "sing me", "find me", "explain to me", "to me", "for me", "like i", "i want to know", "i need to know", "i wonder", "i would like to know",
    "i do not understand", "i do not think", "i do not get", "i think", "i guess", "i mean", "i see", "i got", "i understand", "what i needed", "what i wanted", "what i meant",
    "帮我", "给我", "教我", "告诉我", "跟我", "为我", "让我", "替我", "我明白", "我懂", "我知道了", "我了解", "我觉得", "我认为", "我很满意", "我想问",
];

/// Phrases in which "do I" asks about the user and not about anybody.
pub(super) const OWN_HABITS: &[&str] = &["do i feel", "do i like", "do i usually", "do i prefer"];

/// Pronouns for the user and for people known to both sides.
#[rustfmt::skip]
pub(super) const PERSONAL_PRONOUNS: &[&str] = &[
    "i", "me", "my", "mine", "myself", "we", "us", "our", "ours", "ourselves", "he", "she", "him", "her", "hers", "his", "they", "them", "their", "theirs",
    "我", "咱", "俺", "他", "她", "本人", "自己", "人家",
];

/// First-person words.
pub(super) const FIRST_PERSON: &[&str] = &["i", "me", "我"];

/// Characters that turn a preceding 我 into "my" or "our".
pub(super) const POSSESSED_CHARS: &str =
    "的们家妈爸父母爷奶外姐妹哥弟老女儿孩朋同丈妻公婆叔舅姑姨团部";

/// Chinese possessives for "my" and "our".
pub(super) const CHINESE_POSSESSIVES: &[&str] =
    &["我的", "我们的", "我们家的", "我家的", "我家", "我们家", "我们", "咱们的", "咱家的"];

/// Phrases that ask for memory or name a recent time.
#[rustfmt::skip]
pub(super) const RECALL_CUES: &[&str] = &[
    "remember", "recall", "remind", "last time", "earlier", "previously", "yesterday", "ago", "did you", "you said", "you told", "you mentioned", "already", "still know", "so far",
    "recently", "last week", "last month", "last year", "today", "tomorrow", "tonight", "this week", "next week",
    "记得", "记住", "上次", "之前", "以前", "昨天", "提到", "提醒", "你说过", "上周", "上个月", "去年", "最近", "曾经", "当时", "后来", "今天", "明天", "本周", "下周",
];

/// Beginnings of questions to the assistant about itself.
#[rustfmt::skip]
pub(super) const ASSISTANT_QUESTIONS: &[&str] = &[
    "which version are you", "what version are you", "what is your favorite", "how are you", "what do you think of yourself", "你最喜欢", "你今天", "你心情", "你觉得自己", "你的版本", "你是哪",
    "who are you", "what are you", "are you a", "are you an", "are you real", "are you human", "are you still there", "are you there", "are you ok", "are you sure", "what can you do",
    "what do you do", "who made you", "who built you", "who created you", "who trained you", "do you have feelings", "do you have emotions", "do you have a", "do you sleep",
    "do you dream", "do you like", "do you speak", "do you understand", "can you see", "can you hear", "can you speak", "can you draw", "how old are you", "where are you from",
    "what is your name", "what language do you", "what languages do you", "how do you feel", "how were you", "what model are you", "which model are you",
    "你是谁", "你叫什么", "你是什么", "你是机器人", "你是真人", "你是人", "你是不是", "你有感情", "你有意识", "你有名字", "你有什么功能", "你会什么", "你会些什么", "你都会", "你会做什么", "你能做什么", "你可以做什么",
    "你多大", "你几岁", "你来自", "你还在", "你在听", "你支持", "你喜欢什么", "你会不会", "你懂", "你能看", "你能听", "会些什么", "都会些什么",
];

/// Endings of questions to the assistant about itself.
pub(super) const ASSISTANT_QUESTION_ENDS: &[&str] =
    &["开发的你", "made you", "built you", "created you"];

/// Verbs of tasks on a text, a number or a piece of code that the message brings.
#[rustfmt::skip]
pub(super) const MATERIAL_TASKS: &[&str] = &[
    "translate", "translation", "summarize", "summarise", "summary", "paraphrase", "rewrite", "rephrase", "reword", "proofread", "correct", "fix", "convert", "format", "reformat", "turn",
    "shorten", "simplify", "polish", "improve", "explain", "analyze", "analyse", "debug", "refactor", "optimize", "optimise", "add", "complete", "continue", "sort", "count", "classify", "extract",
    "check", "edit", "make", "write", "what does", "what is wrong", "why does", "why is", "mean", "means", "say", "spell", "pronounce", "synonym", "synonyms", "antonym", "calculate", "solve", "evaluate",
    "翻译", "译成", "总结", "概括", "归纳", "摘要", "改写", "改成", "改得", "改一下", "改正", "润色", "修改", "检查", "纠正", "校对", "转成", "转换", "转为", "整理", "排序", "解释", "分析", "续写", "扩写", "缩写", "补全",
    "加上", "优化", "重构", "调试", "有什么问题", "什么意思", "怎么读", "怎么念", "怎么说", "怎么写", "病句", "错别字", "近义词", "反义词", "计算一下", "求解", "接龙", "造句", "写一",
];

/// Words that point at a text that follows.
#[rustfmt::skip]
pub(super) const TEXT_POINTERS: &[&str] = &[
    "this", "these", "following", "below", "这", "下面", "以下", "翻译", "病句", "错别字", "注释", "检查", "总结", "概括", "改写", "润色", "整理",
];

/// Verbs of creation.
#[rustfmt::skip]
pub(super) const CREATION_VERBS: &[&str] = &[
    "write", "compose", "draft", "generate", "create", "make", "make up", "invent", "draw", "design", "build", "implement", "code", "program", "tell", "give", "show", "list", "name", "suggest",
    "sing", "play", "flip", "roll", "toss", "pick", "choose", "think of", "come up with", "imagine", "pretend", "act as", "act like", "say", "print", "recite", "brainstorm",
    "tell me", "give me", "show me", "write me", "sing me", "make me", "let us play",
];

/// Determiners of an object that does not exist yet: indefinite or counted.
#[rustfmt::skip]
pub(super) const NEW_OBJECT_DETERMINERS: &[&str] = &[
    "a", "an", "some", "any", "another", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "twenty", "something", "anything", "more", "random", "python",
    "code",
];

/// Chinese requests for something new: a verb of creation and a measure word.
#[rustfmt::skip]
pub(super) const CHINESE_CREATION_PHRASES: &[&str] = &[
    "写一个", "写一首", "写一篇", "写一段", "写一条", "写一副", "写一句", "写一封", "写个", "写首", "写篇", "写段", "写条", "写副", "讲个", "讲一个", "说个", "说一个", "来个", "来一个", "来首", "来一首", "猜个", "猜一个", "唱首", "唱一首", "画个",
    "画一个", "画一幅", "编个", "编一个", "编一段", "生成一个", "生成一段", "生成一份", "生成一张", "想几个", "想个", "起个名", "起名", "取个名", "取名", "起一个", "取一个", "起几个", "取几个", "个名字", "抛个", "抛一枚", "掷一个", "掷个", "随机选", "随机挑", "随机生成",
    "列举", "列出", "举个例子", "举几个", "举一个", "造句", "听个笑话", "讲笑话", "讲故事",
];

/// Words that mark something particular or past.
#[rustfmt::skip]
pub(super) const DEFINITE_MARKERS: &[&str] = &[
    "the", "this", "that", "these", "those", "did", "was", "were", "had", "has", "have", "been", "its",
    "这", "那", "了", "过", "是怎么", "是怎样", "是如何", "的原因", "怎么样",
];

/// "The" with things of common knowledge, or with properties whose bearer the question itself names.
#[rustfmt::skip]
pub(super) const COMMON_KNOWLEDGE_PHRASES: &[&str] = &[
    "the difference", "the meaning", "the definition", "the capital", "the population", "the symbol", "the chemical symbol", "the chemical formula", "the formula", "the plural", "the past tense",
    "the past participle", "the opposite", "the origin", "the rules", "the time complexity", "the complexity", "the best way", "the fastest way", "the easiest way", "the right way",
    "the boiling point", "the melting point", "the speed of", "the distance", "the currency", "the square root", "the sum of", "the tallest", "the largest", "the biggest", "the smallest", "the longest",
    "the highest", "the deepest", "the oldest", "the fastest", "the most", "the sun", "the moon", "the earth", "the sky", "the sea", "the ocean", "the world", "the universe", "the internet",
    "the human body", "the planets", "the continents", "the months", "the steps to", "the pros", "the ratio of",
];

/// Beginnings of general questions in English.
#[rustfmt::skip]
pub(super) const GENERAL_QUESTION_STARTS: &[&str] = &[
    "how to", "is it safe to", "is it ok to", "is it okay to", "is it bad to", "is it normal to", "is it possible to", "is it healthy to", "explain", "define", "compare", "pros and cons",
    "advantages of", "difference between", "convert", "calculate", "compute", "solve", "what happens when you", "what happens if you",
];

/// Frames of general questions in Chinese: definitions, instructions, measures.
#[rustfmt::skip]
pub(super) const CHINESE_GENERAL_FRAMES: &[&str] = &[
    "对身体", "对健康", "有哪些症状", "的做法", "怎么切", "怎么养",
    "什么是", "是什么意思", "什么意思", "怎么读", "怎么念", "怎么写", "怎么说", "有什么区别", "有何区别", "的区别", "有什么不同", "的定义", "的原理", "原理是什么", "近义词", "反义词", "时间复杂度", "空间复杂度", "化学符号", "化学式",
    "首都", "的作者", "作者是谁", "哪一年", "世界上", "地球", "等于多少", "等于几", "摄氏度", "华氏度", "百分之", "乘以", "除以", "平方根", "优缺点", "优点和缺点", "有哪些优点", "怎么做", "怎么洗", "怎么煮", "怎么炒", "怎么用", "怎么退出", "怎么让", "怎么走", "怎么算",
    "怎么计算", "怎么学", "怎样", "如何", "怎么才能", "能吃吗", "可以吃", "能不能吃", "要煮几分钟", "要煮多久", "煮几分钟", "的比例", "几分熟", "是做什么的", "解释一下", "介绍一下", "科普", "最高的", "最大的", "最长的", "最小的", "有多远", "有多高", "冠军",
    "属于什么", "水果还是", "为什么是", "怎么产生",
];

/// English words of remarks about the conversation itself.
#[rustfmt::skip]
pub(super) const CONVERSATION_WORDS: &[&str] = &[
    "plan", "specific", "gist", "option", "two", "three", "leave", "like", "concise", "brief", "again",
    "a", "an", "the", "it", "this", "that", "these", "those", "them", "one", "ones", "you", "your", "is", "are", "was", "be", "do", "does", "not", "no", "yes", "yeah", "yep", "to", "of", "in", "on", "for", "with",
    "and", "or", "but", "so", "at", "as", "if", "then", "now", "just", "please", "can", "could", "would", "will", "should", "let", "us", "more", "less", "bit", "little", "lot", "much", "very", "too", "all", "some", "any", "here", "there",
    "again", "back", "up", "out", "ok", "okay", "what", "why", "how", "right", "wrong", "good", "bad", "better", "worse", "great", "fine", "nice", "perfect", "correct", "incorrect", "fast", "quick", "slow", "short", "shorter", "long",
    "longer", "simple", "simpler", "simply", "clear", "clearer", "formal", "detail", "details", "detailed", "words", "word", "sentence", "paragraph", "answer", "answers", "question", "reply", "response", "say", "explain", "explanation",
    "mean", "means", "meant", "think", "see", "look", "looks", "sounds", "works", "work", "worked", "try", "redo", "repeat", "continue", "go", "ahead", "keep", "going", "stop", "wait", "next", "previous", "last", "first", "step", "part", "point", "change",
    "changes", "edit", "edits", "undo", "revert", "apply", "accept", "reject", "remove", "skip", "ignore", "check", "double-check", "fix", "make", "get", "got", "give", "need", "needed", "exactly", "really", "typo", "mistake", "error", "sorry",
    "thanks", "thank", "helpful", "help", "hilarious", "funny", "interesting", "generating", "generate", "regenerate", "rewrite", "move", "another", "different", "version", "way", "same", "sense", "done", "wow", "hmm", "lol", "oh", "still", "even",
    "cool", "awesome", "amazing", "instead", "else", "maybe", "sure", "never", "mind", "start", "over", "begin", "finish", "finished", "output", "format", "example", "examples", "code", "text", "bullet", "points", "list", "table", "english", "chinese",
];

/// Chinese phrases of remarks about the conversation itself; matched from the beginning, the longest first.
#[rustfmt::skip]
pub(super) const CHINESE_CONVERSATION_PHRASES: &[&str] = &[
    "选", "第一个", "第二个", "第三个", "重点", "问", "不是", "要的", "开头", "结尾", "委婉", "友好", "准备好",
    "再", "简短", "简单", "简洁", "详细", "具体", "通俗", "正式", "清楚", "长", "短", "一点", "一些", "一下", "一遍", "一次", "点", "些", "换", "一种", "一个", "种", "个", "说法", "方式", "方法", "角度", "思路", "重新", "生成", "重写", "重来", "重做", "修改", "改", "写",
    "撤销", "撤回", "还原", "恢复", "取消", "应用", "接受", "保留", "删掉", "去掉", "忽略", "不用管", "不用", "不要", "不对", "不行", "不", "错了", "错", "打错", "字", "对", "好", "好的", "可以", "行", "没问题", "没错", "就", "按", "按照", "这个", "那个", "这样", "那样", "这", "那", "它",
    "来", "做", "办", "继续", "接着", "下一", "下一个", "上一个", "题", "步", "条", "段", "部分", "看起来", "看上去", "听起来", "不错", "很好", "挺好", "真", "太", "很", "非常", "更", "最", "了", "的", "得", "地", "吧", "吗", "呢", "啊", "呀", "哦", "嘛", "啦", "哇", "把", "将", "刚才", "刚刚",
    "上面", "前面", "下面", "后面", "想想", "想一想", "检查", "确认", "解释", "说明", "说", "讲", "讲讲", "回答", "答案", "内容", "结果", "格式", "版本", "例子", "意思", "明白", "懂", "理解", "满意", "有用", "有帮助", "帮了", "大忙", "谢谢", "感谢", "辛苦", "收到", "你", "您", "能不能", "能",
    "可不可以", "请", "麻烦", "为什么", "怎么", "什么", "还", "也", "都", "先", "停", "停下", "等", "等一下", "等等", "快", "慢", "这么", "那么", "好笑", "有趣", "有意思", "厉害", "听", "在", "聊", "开始", "结束", "完成", "完了", "哈", "哈哈", "嗯", "英文", "中文", "代码", "表格",
];

/// Beginnings of questions.
#[rustfmt::skip]
pub(super) const QUESTION_STARTS: &[&str] = &[
    "what is", "what are", "what", "how many", "how much", "how long", "how far", "how often", "how big", "how old", "how do", "how does", "how", "why is", "why are", "why do", "why", "is", "are", "can", "should", "which", "list", "name",
];

/// Words for any member of a kind.
pub(super) const INDEFINITE_WORDS: &[&str] = &["a", "an", "one", "someone", "people", "humans"];

/// Phrases about people in general and about recommended measures.
#[rustfmt::skip]
pub(super) const GENERIC_PERSON_PHRASES: &[&str] = &[
    "bad for you", "good for you", "healthy for you",
    "how do i", "how can i", "how should i", "how would i", "how long should i", "how often should i", "how much should i", "should i", "can i", "how do you", "how can you", "can you", "how does one",
    "what temperature should", "how long should", "how much should", "how often should",
];

/// Beginnings of questions about a kind of thing.
pub(super) const KIND_QUESTION_STARTS: &[&str] = &[
    "how do", "why do", "what do", "can", "do", "are", "why are", "what are", "how are", "should",
];

/// Endings of questions about the purpose or meaning of a thing.
pub(super) const DEFINITION_ENDS: &[&str] = &[" do", " mean", " stand for"];
