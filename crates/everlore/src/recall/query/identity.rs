//! Identity questions: queries about the user that the profile answers even if no word matches.

use serde::Serialize;

use super::phrases::{PhraseMatcher, normalize};

/// Longest message, in bytes, that is classified: a longer one has a topic of its own. The limit also bounds the work
/// on a pasted document.
const MAX_BYTES: usize = 1_000;

/// Clarity with which a query asks about the user.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum IdentityQuestion {
    /// The query does not ask about the user.
    None,
    /// The query touches on the user's likes or habits.
    Weak,
    /// The query asks for the profile.
    Strong,
}

/// Classifies how clearly the query asks about the user.
pub(crate) fn classify_identity(query: &str) -> IdentityQuestion {
    if query.len() > MAX_BYTES {
        return IdentityQuestion::None;
    }
    // "We" and "our" are not "I" and "my"; in Chinese one contains the other.
    let plain = normalize(query).replace("我们", "咱");
    let text = PhraseMatcher::new(&plain);
    if STRONG_PARTS.iter().any(|phrase| text.contains(phrase)) || matches_whole_pattern(&plain) {
        IdentityQuestion::Strong
    } else if WEAK_PARTS.iter().any(|phrase| text.contains(phrase)) {
        IdentityQuestion::Weak
    } else {
        IdentityQuestion::None
    }
}

/// Returns `true` if the query as a whole, without lead-ins and tails, is one of the patterns.
fn matches_whole_pattern(plain: &str) -> bool {
    let mut rest = plain;
    loop {
        if is_pattern(rest) || is_pattern(strip_tails(rest)) {
            return true;
        }
        match LEAD_INS.iter().find_map(|lead| rest.strip_prefix(lead)) {
            Some(shorter) => rest = shorter.trim_start(),
            None => return false,
        }
    }
}

fn is_pattern(query: &str) -> bool {
    STRONG_WHOLE.contains(&query) || asks_attribute(query)
}

fn strip_tails(plain: &str) -> &str {
    let mut rest = plain;
    while let Some(shorter) = TAILS.iter().find_map(|tail| rest.strip_suffix(tail)) {
        rest = shorter.trim_end();
    }
    rest
}

/// Returns `true` if the query is a template with one of the attributes in its gap.
fn asks_attribute(query: &str) -> bool {
    TEMPLATES.iter().any(|(before, after)| {
        let gap = query.strip_prefix(before).and_then(|rest| rest.strip_suffix(after));
        gap.is_some_and(|gap| ATTRIBUTES.contains(&gap))
    })
}

/// Phrases that may precede the question.
#[rustfmt::skip]
const LEAD_INS: &[&str] = &[
    "hey ", "hi ", "hello ", "ok ", "okay ", "so ", "well ", "and ", "but ", "please ", "now ", "can you ", "could you ",
    "would you ", "will you ", "do you know ", "do you remember ", "do you still know ", "do you still remember ",
    "do you recall ", "tell me ", "remind me ", "i forgot ", "i wonder ", "just ", "quick question ", "say ",
    "你好", "嗨", "嘿", "喂", "请问", "请", "那么", "那", "能不能", "可以", "能", "你还知道", "你知道", "你还记得", "你记得", "你记不记得", "你知不知道",
    "告诉我", "说说", "说一下", "讲讲", "提醒我", "我忘了", "还记得", "记得", "知道", "帮我", "给我",
];

/// Phrases that may follow the question.
#[rustfmt::skip]
const TAILS: &[&str] = &[
    " again", " please", " right now", " now", " today", " so far", " anyway", " by the way", " exactly", " currently",
    " these days", " do you know", " do you remember", " if you remember", " to you", " then", " at all",
    "吗", "呢", "嘛", "吧", "啊", "呀", "么了", "来着", "了吗", "现在",
];

/// Text before and after an attribute.
#[rustfmt::skip]
const TEMPLATES: &[(&str, &str)] = &[
    ("what is my ", ""), ("what are my ", ""), ("what was my ", ""), ("what my ", " is"), ("what my ", " are"), ("my ", ""),
    ("know my ", ""), ("remember my ", ""), ("you know my ", ""), ("you remember my ", ""), ("what do you know about my ", ""),
    ("我的", ""), ("我的", "是什么"), ("我的", "是啥"), ("我的", "是多少"), ("我的", "是哪天"), ("我的", "是几号"),
    ("我的", "是什么时候"), ("我的", "在哪里"), ("我的", "在哪"), ("我的", "有哪些"), ("我的", "叫什么"), ("我的", "叫什么名字"),
    ("我有什么", ""), ("我有哪些", ""), ("我", "是什么"), ("我", "是多少"), ("我", "叫什么"), ("我", "叫什么名字"), ("你知道我的", ""), ("你记得我的", ""),
];

/// Attributes of a person's profile.
#[rustfmt::skip]
const ATTRIBUTES: &[&str] = &[
    "name", "full name", "first name", "last name", "nickname", "age", "birthday", "birth date", "date of birth", "job",
    "job title", "occupation", "profession", "career", "work", "hometown", "address", "home address", "nationality", "gender",
    "phone number", "email", "email address", "native language", "profile", "identity", "background", "personality",
    "preferences", "interests", "hobbies", "hobby", "habits", "goals", "likes and dislikes", "family", "wife's name",
    "husband's name", "partner's name", "dog's name", "cat's name", "pets", "kids", "children", "company", "employer",
    "personal information", "zodiac sign", "favorites", "strengths", "weaknesses", "role",
    "名字", "姓名", "全名", "昵称", "外号", "年龄", "岁数", "生日", "出生日期", "职业", "工作", "职位", "岗位", "专业", "老家", "家乡", "籍贯", "住址",
    "地址", "国籍", "性别", "电话", "电话号码", "手机号", "邮箱", "母语", "资料", "个人资料", "个人信息", "信息", "档案", "画像", "用户画像", "身份", "背景",
    "性格", "偏好", "喜好", "爱好", "兴趣", "兴趣爱好", "习惯", "目标", "家人", "家庭", "老婆", "老公", "妻子", "丈夫", "孩子", "宠物", "公司", "星座", "属相",
    "特长", "优点", "缺点", "角色", "口味", "身高", "体重", "学历", "爱人", "狗", "猫",
];

/// Whole queries that ask for the profile.
#[rustfmt::skip]
const STRONG_WHOLE: &[&str] = &[
    "who am i", "who i am", "what am i", "who are you talking to", "who is talking to you", "about me", "about myself",
    "tell me about myself", "tell me about me", "describe me", "describe me in a few words", "summarize me", "introduce me",
    "introduce me to myself", "profile me", "do you know me", "do you remember me", "do you recognize me", "remember me",
    "know me", "you know me", "you remember me", "how well do you know me", "how much do you know me", "what did i tell you",
    "what have i told you", "what i told you", "what did i say about myself", "what did i share with you", "what have i shared with you",
    "what i have told you", "how old am i", "how old i am", "where am i from", "where i am from", "where do i come from",
    "where do i live", "where i live", "where do i work", "where i work", "what do i do", "what do i do for a living",
    "what i do for a living", "what do i do for work", "what kind of person am i", "what sort of person am i", "what do i like",
    "what i like", "what do i dislike", "what do i hate", "what do i love", "what do i enjoy", "when is my birthday", "when was i born",
    "where was i born", "am i married", "do i have kids", "do i have children", "do i have any pets", "do i have pets",
    "what languages do i speak", "what should you call me", "what do you call me", "how should you address me",
    "what am i working on", "what am i like", "what are my likes", "what do i care about", "what are you remembering",
    "what do you remember", "what have you remembered", "what do you have on me", "show me my memories", "list my memories",
    "我是谁", "我是哪位", "我叫什么", "我叫啥", "我叫什么名字", "我叫啥名字", "我姓什么", "我姓啥", "我名字", "我是什么人", "我是什么样的人", "我是怎样的人",
    "我是个什么样的人", "我是个怎样的人", "我是做什么的", "我是干什么的", "我是干嘛的", "我做什么工作", "我从事什么工作", "我从事什么职业", "我在哪工作", "我在哪里工作",
    "我在哪上班", "我在哪里上班", "我在哪家公司", "我住哪", "我住哪里", "我住在哪", "我住在哪里", "我住在哪个城市", "我来自哪里", "我是哪里人", "我是哪儿人", "我哪里人",
    "我老家在哪", "我老家是哪里", "我多大", "我多大了", "我几岁", "我几岁了", "我今年多大", "我今年几岁", "我生日是哪天", "我生日是几号", "我生日是什么时候", "我什么时候生日",
    "我哪年出生", "我有几个孩子", "我养了什么宠物", "我会说什么语言", "我会什么", "我喜欢什么", "我爱好什么", "我讨厌什么", "我不喜欢什么",
    "我爱吃什么", "我喜欢吃什么", "我喜欢做什么", "你认识我", "认识我", "你记得我", "你还记得我", "你记不记得我", "还记得我", "记得我", "你了解我", "你知道我", "你知道我是谁",
    "你认得我", "你是怎么称呼我的", "你该怎么称呼我", "你应该怎么称呼我", "怎么称呼我", "介绍一下我", "介绍我", "介绍下我", "介绍一下我自己", "描述一下我", "描述我", "总结一下我",
    "形容一下我", "说说我", "说说我自己", "聊聊我自己", "评价一下我", "你都记得什么", "你记得什么", "你记住了什么", "你记得哪些事", "我告诉过你什么", "我告诉了你什么", "我跟你说过什么",
    "我和你说过什么", "我对你说过什么", "我给你说过什么", "我说过什么", "我都说过什么", "我告诉过你哪些事", "我跟你说过哪些事", "我跟你讲过什么",
];

/// Phrases that ask for the profile anywhere in a query.
#[rustfmt::skip]
const STRONG_PARTS: &[&str] = &[
    "know about me", "knows about me", "known about me", "remember about me", "remembered about me", "learned about me",
    "learnt about me", "stored about me", "saved about me", "recorded about me", "noted about me", "memories about me",
    "memories of me", "information about me", "info about me", "facts about me", "everything about me", "something about me",
    "anything about me", "things about me", "understand about me", "recall about me", "told you about me", "told you about myself",
    "said about myself", "tell you about myself", "tell you about me", "who i am", "my profile", "my personal information", "my personal details",
    "对我了解", "对我的了解", "对我有多了解", "对我有多少了解", "对我知道", "对我的印象", "有多了解我", "了解我多少", "了解我什么", "知道我什么", "知道我多少", "知道我哪些", "记得我什么",
    "记得我哪些", "记住了我", "记得关于我", "知道关于我", "关于我的信息", "关于我的记忆", "关于我的一切", "关于我的事", "关于我的资料", "关于我你", "我的个人信息", "我的个人资料", "我的用户画像", "你眼中的我",
    "你知道我是谁", "你记得我是谁", "我结婚了吗", "我有孩子吗", "我有宠物吗",
];

/// Phrases that touch on the user's likes and habits.
#[rustfmt::skip]
const WEAK_PARTS: &[&str] = &[
    "about me", "about myself", "my preference", "my preferences", "my favorite", "my favorites", "do i like", "do i love",
    "do i prefer", "do i enjoy", "do i hate", "do i usually", "my taste", "my tastes", "my hobbies", "my hobby", "my interests",
    "my habits", "my usual", "my routine", "my likes", "my personality", "my diet", "am i allergic", "my allergies", "suits me",
    "suit me", "based on what you know", "what did i tell you about", "what have i told you about", "did i tell you", "did i mention",
    "i told you", "have i mentioned",
    "关于我", "我的偏好", "我的喜好", "我的爱好", "我的兴趣", "我的口味", "我的习惯", "我的性格", "我最喜欢", "我喜欢什么", "我喜欢吃", "我喜欢哪", "我喜欢的", "我不喜欢", "我讨厌", "我爱吃",
    "我爱喝", "我平时", "我通常", "我一般", "适合我", "根据我的", "按照我的", "我对什么过敏", "我的忌口", "我告诉过你", "我跟你说过", "我和你说过", "我有没有说过", "我提到过",
];

#[cfg(test)]
mod tests;
