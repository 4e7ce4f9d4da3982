//! Chinese identity questions.

use super::{IdentityQuestion, TopicBreadth, strip_leads};
use crate::recall::query::profile_aspect::ProfileAspect;

/// Classifies a normalized text with Chinese characters.
pub(super) fn classify(plain: &str) -> IdentityQuestion {
    let text = unify(plain);
    let names_user = text.contains(['我', '咱']);
    if contains_any(&text, PROFILE_PARTS) || names_user && asks_profile(&text) {
        IdentityQuestion::Strong
    } else if names_user && asks_topic(&text) {
        IdentityQuestion::Weak
    } else {
        IdentityQuestion::None
    }
}

/// Returns the breadth of the answer to a question for a topic.
pub(super) fn breadth(plain: &str) -> TopicBreadth {
    let text = unify(plain);
    let bare = strip_leads(&text, LEAD_INS).trim_end_matches(QUESTION_ENDS);
    let is_past = text.contains(['过', '了']) && !contains_any(&text, SAID);
    if OWN_ATTRIBUTES.iter().any(|own| bare.trim_start_matches("你") == *own) {
        TopicBreadth::OwnAttribute
    } else if contains_any(&text, SINGLE_VALUES) || is_past {
        TopicBreadth::Value
    } else {
        TopicBreadth::Open
    }
}

/// Returns the text without blanks, with one word for "we": 我们 contains 我 but is not the user alone.
fn unify(plain: &str) -> String {
    let text = plain.replace(' ', "").replace("我们", "咱").replace("咱们", "咱");
    text.replace('俺', "我").replace("请问", "")
}

/// Returns `true` if the text asks for the profile as a whole.
fn asks_profile(text: &str) -> bool {
    knows_self(text)
        || is_about_self(text)
        || asks_who_i_am(text)
        || wants_description(text)
        || names_record(text)
}

/// Returns `true` for 你了解我多少, 你存了我什么资料: a verb of knowledge, and the user as its object.
fn knows_self(text: &str) -> bool {
    let speaks_to_assistant = text.contains('你') || strip_leads(text, LEAD_INS).len() < text.len();
    speaks_to_assistant
        && KNOWLEDGE.iter().any(|verb| {
            text.match_indices(verb).any(|(at, _)| {
                let object = strip_leads(&text[at + verb.len()..], AFTER_KNOWLEDGE);
                object.strip_prefix('我').is_some_and(is_whole_self)
            })
        })
}

/// Returns `true` for 关于我你记得些什么, 你对我有什么印象.
fn is_about_self(text: &str) -> bool {
    let after = |part: &str| text.split_once(part).map(|(_, after)| after);
    let about = ["关于我", "有关我"].iter().filter_map(|part| after(part));
    let is_asked = text.contains('你') || is_question(text) || contains_any(text, REQUESTS);
    is_asked && about.into_iter().any(|rest| is_whole_self(rest) || rest.starts_with('你'))
        || after("对我").is_some_and(|rest| {
            !contains_any(rest, NOT_OPINIONS) && contains_any(rest, OPINIONS) && is_asked
        })
}

/// Returns `true` if the text after 我 goes on with the person as a whole, not with a possession or an action.
fn is_whole_self(after: &str) -> bool {
    let rest = strip_leads(after, SELF_MODIFIERS);
    let noun = strip_leads(rest, QUANTITIES);
    let asked = noun.len() < rest.len();
    // 你知道我哪些习惯 asks for one topic, 你知道我哪些情况 for all of them.
    let is_general = GENERAL_NOUNS.iter().any(|general| noun.starts_with(general));
    rest.is_empty()
        || is_general
        || contains_start(rest, AFTER_SELF)
        || asked && (noun.is_empty() || contains_start(noun, PARTICLES))
}

/// Returns `true` for 我是谁, 我是个什么样的人.
fn asks_who_i_am(text: &str) -> bool {
    SELF_QUESTIONS.iter().any(|question| {
        text.match_indices(question).any(|(at, _)| {
            let rest = &text[at + question.len()..];
            (rest.is_empty() || contains_start(rest, PARTICLES))
                && !text[..at].ends_with(NOT_SUBJECT)
        })
    })
}

/// Returns `true` for 介绍一下我, 总结我这个人.
fn wants_description(text: &str) -> bool {
    DESCRIPTIONS.iter().any(|verb| {
        text.match_indices(verb).any(|(at, _)| {
            let rest = strip_leads(&text[at + verb.len()..], AFTER_DESCRIPTION);
            let after = rest.strip_prefix('我').map(|rest| strip_leads(rest, SELF_MODIFIERS));
            after.is_some_and(|rest| {
                rest.is_empty()
                    || contains_start(rest, PARTICLES)
                    || GENERAL_NOUNS.iter().any(|noun| rest.starts_with(noun))
            })
        })
    })
}

/// Returns `true` for 我的用户画像, 我的档案给我看看.
fn names_record(text: &str) -> bool {
    RECORDS.iter().any(|record| {
        text.match_indices(record).any(|(at, _)| {
            let rest = &text[at + record.len()..];
            !NOT_RECORDS.iter().any(|other| rest.starts_with(other))
        })
    })
}

/// Returns `true` if the text asks for a topic of the user's life.
fn asks_topic(text: &str) -> bool {
    contains_any(text, TOPIC_PARTS)
        || said_before(text)
        || is_question(text)
            && !contains_any(text, GENERIC)
            && (asks_habit(text) || asks_possession(text))
}

/// Returns `true` for 我跟你说过我的宠物吗, 咱上个月都聊了些啥.
fn said_before(text: &str) -> bool {
    let said = SAID.iter().any(|verb| text.contains(verb));
    said && (text.contains('我') || text.contains('咱') && is_question(text))
        && (text.contains('你') || text.contains('咱') || is_question(text))
}

/// Returns `true` for 我平时喜欢吃什么: a question for something the user does.
fn asks_habit(text: &str) -> bool {
    subjects(text).any(|after| contains_start(strip_leads(after, SUBJECT_MODIFIERS), HABITS))
}

/// Returns `true` for 我老婆叫什么, 我的口味偏什么: a question for a possession that belongs to a person's life.
fn asks_possession(text: &str) -> bool {
    subjects(text).any(|after| {
        let whole = after.strip_prefix('的').unwrap_or(after);
        // 老 is a modifier in 老朋友 and a part of the word in 老婆.
        is_life_topic(whole) || is_life_topic(strip_leads(whole, NOUN_MODIFIERS))
    })
}

/// Returns `true` if the text begins with a noun of a person's life.
fn is_life_topic(text: &str) -> bool {
    contains_start(text, LIFE_TOPICS) || ProfileAspect::begins(text)
}

/// Returns the texts after each 我 that is not the object of a verb: 给我, 帮我 and 告诉我 name the listener.
fn subjects(text: &str) -> impl Iterator<Item = &str> {
    text.match_indices('我').filter_map(|(at, own)| {
        let is_object = LISTENERS.iter().any(|verb| text[..at].ends_with(verb));
        (!is_object).then(|| &text[at + own.len()..])
    })
}

fn is_question(text: &str) -> bool {
    contains_any(text, QUESTION_WORDS) || text.ends_with(QUESTION_ENDS)
}

fn contains_any(text: &str, parts: &[&str]) -> bool {
    parts.iter().any(|part| text.contains(part))
}

fn contains_start(text: &str, starts: &[&str]) -> bool {
    starts.iter().any(|start| text.starts_with(start))
}

/// Phrases that may precede a question and speak to the assistant.
#[rustfmt::skip]
const LEAD_INS: &[&str] = &["还记得", "记得", "知道", "认识", "请", "说说", "讲讲", "告诉我", "列出", "列一下", "回忆一下", "回忆", "总结一下", "总结", "把"];

/// Verbs and nouns of knowledge.
#[rustfmt::skip]
const KNOWLEDGE: &[&str] = &[
    "知道", "了解", "记得", "记住", "认识", "晓得", "掌握", "存", "保存", "记录", "收集", "清楚", "懂", "记下", "记了", "在记", "记着", "记", "认得", "熟悉", "想起", "学到", "积累", "留着", "储存", "忘了", "忘记", "还有", "手里有", "手上有", "那儿有", "那里有", "你有",
];

/// Words between a verb of knowledge and its object.
#[rustfmt::skip]
const AFTER_KNOWLEDGE: &[&str] = &["了", "过", "的", "着", "不知道", "不", "都", "到", "下", "些", "多少", "什么", "哪些", "啥", "住", "有", "关于", "有关", "你", "所", "是"];

/// Continuations of 我 that still mean the whole person.
#[rustfmt::skip]
const SELF_MODIFIERS: &[&str] = &["自己", "这个人", "这人", "本人", "个人", "的", "这个用户", "这位用户", "到底", "究竟", "现在", "目前", "都", "有", "了", "一些", "所有", "全部", "相关", "整个"];

/// Question words after which a noun may follow.
#[rustfmt::skip]
const QUANTITIES: &[&str] = &["多少", "些什么", "些啥", "什么", "啥", "哪些", "哪几", "几", "方面", "有多", "到什么程度", "多深", "个", "件", "点", "条"];

/// Nouns that stand for everything about a person.
#[rustfmt::skip]
const GENERAL_NOUNS: &[&str] = &[
    "事", "情况", "资料", "信息", "东西", "底细", "一切", "全部", "记忆", "档案", "笔记", "数据", "内容", "印象", "特点", "方面", "细节", "背景", "故事", "所有", "记录", "信", "为人", "画像", "点", "底", "人设", "memory", "profile", "info", "都说", "都列", "都讲", "都告诉", "都写", "说出来", "列出来", "说说", "列一",
];

/// Words that may follow 我 where it stands for the whole person.
#[rustfmt::skip]
const AFTER_SELF: &[&str] = &[
    "多少", "吗", "么", "嘛", "吧", "呢", "不", "没", "啊", "呀", "是谁", "是哪", "是什么人", "是什么样", "是个什么", "是怎样", "是啥", "，", "你", "能", "说", "有没", "哪些", "什么", "啥", "些", "记得", "知道", "了解", "是不是", "来着", "到", "告诉", "列", "全", "都", "几分", "最", "几",
];

/// Particles and other words that may end a question.
#[rustfmt::skip]
const PARTICLES: &[&str] = &["吗", "么", "嘛", "吧", "呢", "不", "没", "啊", "呀", "来着", "凭", "你", "根据", "给", "都", "说", "列", "就", "发", "知", "记", "告诉", "，", "了", "用", "按", "从", "哈", "好", "在", "看", "show", "写", "一", "是", "读", "拿", "以", "对", "能"];

/// Opinions and impressions.
#[rustfmt::skip]
const OPINIONS: &[&str] = &["印象", "了解", "认识", "看法", "评价", "记忆", "memory", "知道", "感觉", "观察", "熟悉", "记得", "熟不熟", "有多熟", "掌握", "记录", "认知", "理解"];

/// Words that turn 对我 into something else: 对我的老板的看法.
const NOT_OPINIONS: &[&str] = &["我的老板", "我老板", "我家", "来说", "而言"];

/// Questions for the person.
#[rustfmt::skip]
const SELF_QUESTIONS: &[&str] = &[
    "我是谁", "我是哪个", "我是哪位", "我是什么人", "我是何人", "我是什么样的人", "我是怎样的人", "我是个什么样的人", "我是个怎样的人", "我是一个什么样的人", "我是一个怎样的人", "我是啥人", "我是啥样的人", "我是个啥样的人", "我是个什么人", "我这个人怎么样", "我这人怎么样", "我是怎么样的人", "我是个怎么样的人", "我属于什么样的人",
];

/// Characters before 我 that make it the object of another verb.
const NOT_SUBJECT: &[char] = &['问', '说', '骂', '笑'];

/// Verbs of describing.
#[rustfmt::skip]
const DESCRIPTIONS: &[&str] = &["介绍", "描述", "总结", "概括", "形容", "评价", "说说", "聊聊", "讲讲", "分析", "猜猜", "刻画", "描绘", "夸夸", "吐槽", "谈谈", "写写", "归纳", "回顾"];

/// Words between a verb of describing and its object.
const AFTER_DESCRIPTION: &[&str] =
    &["一下", "下", "一番", "一个", "一", "你", "眼中", "眼里", "的"];

/// Records about the user.
#[rustfmt::skip]
const RECORDS: &[&str] = &[
    "我的用户画像", "我的画像", "我的档案", "我的资料", "我的个人资料", "我的个人信息", "我的用户资料", "我的用户信息", "我的基本信息", "我的基本情况", "我的信息", "我的记录", "我的笔记", "我的人设", "我的profile", "我的memory", "我的记忆", "我的用户档案", "我的个人档案", "我的身份信息", "我的小档案", "我的情况", "我的事情", "我的事", "我的底细", "我的一切", "我的所有", "我的故事", "我的生平", "我的数据", "我的个人情况",
];

/// Continuations that make a record something else: 我的笔记本, 我的记忆力.
const NOT_RECORDS: &[&str] =
    &["本", "力", "库", "表", "系统", "同步", "页", "丢", "软件", "应用", "格式", "接口", "存在哪"];

/// Phrases that ask for the profile anywhere in a text.
#[rustfmt::skip]
const PROFILE_PARTS: &[&str] = &[
    "知道的我", "了解的我", "记得的我", "认识的我", "眼中的我", "眼里的我", "心中的我", "心里的我", "心目中的我", "脑子里的我", "脑海里的我", "脑海中的我", "印象中的我", "印象里的我", "记忆中的我", "记忆里的我", "笔下的我", "所知的我", "看到的我", "掌握的我",
    "我在你那", "我在你这", "我在你心", "我在你眼", "我在你记", "我在你脑", "我在你印象", "我在你看来", "你的熟人", "咱熟吗", "咱认识吗", "咱俩熟", "咱算熟", "给我画个像", "给我画像", "画一下我", "给我画一幅", "给我画一张像", "给我立个人设", "给我做个画像", "做个用户画像", "咱认识多久",
    "你记得什么", "你都记得什么", "你记住了什么", "你都记住了什么", "你记得哪些事", "你都记了些什么", "你都记了什么", "你记了些什么", "我告诉过你什么", "我告诉了你什么", "我都告诉过你什么", "我跟你说过什么", "我和你说过什么", "我对你说过什么", "我给你说过什么", "我跟你说过哪些事", "我告诉过你哪些事", "我跟你讲过什么", "我都跟你说过什么", "我都说过什么",
    "有多了解我", "多了解我", "跟你在聊天的是谁", "和你聊天的是谁", "和你说话的是谁", "跟你说话的是谁", "你在跟谁说话", "你在和谁说话", "你在跟谁聊天", "你在和谁聊天", "你知道你在跟谁", "把我忘", "忘了我", "忘记我", "把我记", "记住我", "对我熟", "我对你来说是", "我是个啥", "我是啥样", "我这个人咋样", "我这人咋样", "我给你的印象", "我给你留下", "有我的信息", "有我的资料", "有我的记录", "有我的档案", "有我的数据", "怎么看我", "怎么看待我", "如何看我", "如何看待我", "怎么形容我", "怎么介绍我", "怎么描述我", "咋看我", "认出我",
];

/// Requests for what is known.
const REQUESTS: &[&str] = &[
    "说", "列", "讲", "读", "写", "告诉", "给", "摆", "展示", "总结", "发", "看看", "瞅", "show",
    "回忆", "念",
];

/// Phrases that ask for a topic anywhere in a text.
#[rustfmt::skip]
const TOPIC_PARTS: &[&str] = &[
    "关于我", "我的偏好", "我的喜好", "我的爱好", "我的兴趣", "我的口味", "我的习惯", "我的性格", "我最喜欢", "我喜欢什么", "我喜欢吃", "我喜欢哪", "我喜欢的", "我不喜欢", "我讨厌", "我爱吃", "我爱喝", "我平时", "我通常", "我一般", "适合我", "根据我的", "按照我的", "我对什么过敏", "我的忌口", "怎么称呼我", "该叫我", "应该叫我",
];

/// Something said earlier.
#[rustfmt::skip]
const SAID: &[&str] = &[
    "说过", "讲过", "提过", "提到过", "聊过", "谈过", "告诉过", "抱怨过", "交代过", "吩咐过", "嘱咐过", "叮嘱过", "透露过", "分享过", "吐槽过", "要求过", "说起过", "提起过", "聊到过", "问过你", "跟你提", "跟你说的", "和你说的", "跟你讲的", "告诉你的", "跟你说了", "聊了些", "聊了什么", "聊了啥", "聊的什么", "聊些什么", "谈了什么", "谈了些", "聊过什么", "都聊了", "说了些", "让你别", "让你不要", "跟你约定", "说好的",
];

/// Marks of a question.
#[rustfmt::skip]
const QUESTION_WORDS: &[&str] = &[
    "什么", "啥", "哪", "谁", "几", "多少", "怎样", "怎么样", "如何", "吗", "呢", "有没有", "是不是", "你知道", "你记得", "还记得", "你了解", "你说说", "知不知道", "记不记得", "多大", "几岁", "多高", "多重", "多久", "咋", "何", "你清楚", "说说", "列", "讲讲", "告诉我", "吗你",
];

/// Characters that end a question.
const QUESTION_ENDS: &[char] = &['吗', '呢', '吧', '么', '嘛', '不', '没'];

/// Requests that ask what anybody should do, or for something other than the user's life.
#[rustfmt::skip]
const GENERIC: &[&str] = &["我该", "我应该", "我要怎么", "我怎么", "我如何", "我能", "我可以", "我想知道", "我想问", "我想买", "我需要", "我得怎", "我是说", "怎么才能", "为什么报错", "请问怎么", "我要如何", "我想学", "我想去"];

/// Verbs before 我 that name the listener.
#[rustfmt::skip]
const LISTENERS: &[&str] = &["给", "帮", "替", "让", "教", "告诉", "跟", "对", "和", "问", "陪", "请", "为", "提醒", "向", "借", "送"];

/// Adverbs between the user and a verb.
#[rustfmt::skip]
const SUBJECT_MODIFIERS: &[&str] = &[
    "平时", "平常", "一般", "通常", "最近", "现在", "目前", "以前", "曾经", "过去", "小时候", "今年", "去年", "到底", "都", "还", "经常", "总是", "常常", "老是", "每天", "每周", "每个月", "周末", "最", "比较", "特别", "很", "也", "不", "更", "正在", "正", "在", "是", "一直", "早上", "晚上", "日常", "当年", "之前", "原来", "真正", "自己", "业余", "闲着", "没事", "上周", "上个月", "下班后",
];

/// Things that people do as part of their life.
#[rustfmt::skip]
const HABITS: &[&str] = &[
    "有什么", "有啥", "有哪", "有几", "有没有", "有多少", "有谁", "常", "喜欢", "爱", "讨厌", "恨", "怕", "擅长", "会什么", "会哪", "会说", "会几", "会弹", "会啥", "用的", "用什么", "用啥", "用哪", "住", "哪里", "哪儿", "哪", "做什么", "做啥", "干什么", "干嘛", "干啥", "忙", "吃", "喝", "养", "信", "学什么", "学的", "学过", "学啥", "对什么", "对啥", "对哪",
    "多大", "几岁", "多高", "多重", "叫什么", "叫啥", "姓", "来自", "从事", "毕业", "结婚", "单身", "玩", "听什么", "听啥", "看什么", "看哪", "读什么", "追", "开什么车", "开的", "穿", "睡", "起床", "运动", "锻炼", "关心", "在意", "担心", "烦", "发愁", "想要", "想达", "打算", "计划", "支持", "崇拜", "收集", "收藏", "欠", "攒", "谁", "什么时候生", "哪年", "习惯", "偏爱", "属", "抽烟", "喝酒", "几点", "哪天", "什么星座", "什么血型", "什么学", "什么专业", "什么样", "个什么", "哪种", "哪类", "啥时候生", "缺", "追求", "相信", "介意", "戒", "过敏", "去过", "曾", "注重", "讲究", "痴迷", "迷",
];

/// Modifiers of a possession.
#[rustfmt::skip]
const NOUN_MODIFIERS: &[&str] = &["有", "最好的", "最", "新", "大", "小", "老", "每天的", "日常", "平时", "身边的", "现在的", "目前的", "所有的", "全部", "第一", "前", "那个", "这个", "两个", "个人", "自己的", "主要", "真正的", "真实", "人生", "今年的", "长期", "短期"];

/// Topics of a person's life that are no aspect of their own.
#[rustfmt::skip]
const LIFE_TOPICS: &[&str] = &[
    "家", "目标", "计划", "梦想", "理想", "心愿", "愿望", "过去", "童年", "小时候", "经历", "旅行", "财务", "经济", "收入", "存款", "房贷", "优点", "缺点", "强项", "弱点", "短板", "特长", "技能", "能力", "价值观", "信仰", "政治", "风格", "写作", "说话", "语言", "母语", "外语", "性格", "脾气", "背景", "困扰", "烦恼", "压力", "成就", "车", "设备", "电脑配置", "手机号", "电话", "邮箱", "身高", "体重", "鞋码", "尺码", "作息", "日程", "偶像", "男神", "女神", "身边", "社交", "人际", "前任", "情感", "情况", "状况", "学习", "项目", "进度", "纪念日", "忌讳", "禁忌", "雷区", "底线", "观点", "看法", "立场", "三观", "审美", "穿搭", "消费", "理财", "投资", "睡眠", "饮食", "锻炼", "健身", "论文", "考试", "导师", "房东", "客户", "生活", "人生", "职场", "圈子", "开销", "花销", "预算", "烟", "酒",
];

/// Parts of questions that one memory answers.
#[rustfmt::skip]
const SINGLE_VALUES: &[&str] = &["叫什么", "叫啥", "是谁", "哪天", "几号", "几岁", "多大", "在哪", "住哪", "哪年", "什么时候", "多少", "叫什么名字", "多高", "多重", "哪里人", "最", "哪位", "哪个", "几个", "星座", "血型", "生肖"];

/// Whole questions for the user's own person.
#[rustfmt::skip]
const OWN_ATTRIBUTES: &[&str] = &[
    "我叫什么", "我叫啥", "我叫什么名字", "我的名字是什么", "我的名字", "我姓什么", "我住哪", "我住哪里", "我住在哪", "我住在哪里", "我住在哪儿", "我住在哪个城市", "我家在哪", "我家住哪", "我在哪上班", "我在哪里上班", "我在哪工作", "我在哪里工作", "我在哪家公司", "我是哪里人", "我是哪儿人", "我来自哪里",
    "我多大", "我多大了", "我几岁", "我几岁了", "我今年多大", "我今年几岁", "我的职业是什么", "我老家在哪", "我老家是哪里", "我生日是哪天", "我的生日是哪天", "我生日是几号", "我生日是什么时候", "我结婚了",
];
