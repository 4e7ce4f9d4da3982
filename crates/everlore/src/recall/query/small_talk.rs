//! Small talk: greetings, thanks, nods, farewells, laughter, and trying if it works, which give nothing to look up.

use super::phrases::{is_han, normalize};

/// Longest small talk, in characters; a longer message has content, whatever its words.
const MAX_CHARS: usize = 80;

/// Words of the longest English phrase in the table.
const MAX_PHRASE_WORDS: usize = 6;

/// Returns `true` if the whole message is small talk; a single other word makes it a real message.
pub(crate) fn is_small_talk(message: &str) -> bool {
    if message.chars().nth(MAX_CHARS).is_some() {
        return false;
    }
    let plain = normalize(message);
    let words: Vec<&str> = plain.split(' ').filter(|word| !word.is_empty()).collect();
    words.chunk_by(|a, b| a.starts_with(is_han) == b.starts_with(is_han)).all(|run| match run {
        [han] if han.starts_with(is_han) => is_chinese_small_talk(han),
        words => is_english_small_talk(words),
    })
}

/// Returns `true` if the words are a sequence of phrases.
fn is_english_small_talk(words: &[&str]) -> bool {
    let mut rest = words;
    while !rest.is_empty() {
        let longest = rest.len().min(MAX_PHRASE_WORDS);
        let Some(used) = (1..=longest).rev().find(|count| is_phrase(&rest[..*count])) else {
            return false;
        };
        rest = &rest[used..];
    }
    true
}

fn is_phrase(words: &[&str]) -> bool {
    match words {
        [word] => ENGLISH.contains(word) || is_laughter(word) || is_elongated(word),
        _ => ENGLISH.contains(&words.join(" ").as_str()),
    }
}

/// Returns `true` for hahaha, hehe, 2333.
fn is_laughter(word: &str) -> bool {
    let voiced = |vowel: char| word.contains(vowel) && word.chars().all(|c| c == 'h' || c == vowel);
    let laughs =
        word.len() >= 4 && word.contains('h') && ['a', 'e', 'i', 'o'].into_iter().any(voiced);
    laughs
        || word
            .strip_prefix("23")
            .is_some_and(|rest| !rest.is_empty() && rest.chars().all(|c| c == '3'))
}

/// Returns `true` for heyyy, thankssss, coool: three equal letters or more stand for one or two.
fn is_elongated(word: &str) -> bool {
    let is_known = |max_run| ENGLISH.contains(&shorten(word, max_run).as_str());
    shorten(word, 2) != word && (is_known(1) || is_known(2))
}

/// Cuts runs of three equal letters or more to `max_run`.
fn shorten(word: &str, max_run: usize) -> String {
    let letters: Vec<char> = word.chars().collect();
    let runs = letters.chunk_by(|a, b| a == b);
    runs.flat_map(|run| &run[..if run.len() >= 3 { max_run } else { run.len() }]).collect()
}

/// Returns `true` if the characters are a sequence of phrases, each the longest that fits.
fn is_chinese_small_talk(text: &str) -> bool {
    let mut rest = text;
    while !rest.is_empty() {
        let fitting = CHINESE.iter().filter(|phrase| rest.starts_with(**phrase));
        let Some(phrase) = fitting.max_by_key(|phrase| phrase.len()) else { return false };
        rest = &rest[phrase.len()..];
    }
    true
}

#[rustfmt::skip]
const ENGLISH: &[&str] = &[
    // greetings
    "hi", "hello", "hey", "hiya", "yo", "howdy", "greetings", "hi there", "hello there", "hey there", "hi all", "hi everyone",
    "hello everyone", "hello again", "hi again", "good morning", "good afternoon", "good evening", "good day", "morning", "evening",
    "how are you", "how are you doing", "how are you today", "how are you doing today", "how is it going", "how do you do", "how is your day", "how is your day going", "how was your day", "how have you been", "hope you are well", "what is up",
    "sup", "nice to meet you", "pleased to meet you", "long time no see", "are you there", "you there", "anyone there", "welcome back",
    "i am back", "i am fine", "i am good", "i am fine thank you", "not much", "happy new year", "merry christmas", "happy birthday",
    // thanks
    "thanks", "thank you", "thx", "ty", "tysm", "cheers", "thanks a lot", "thanks so much", "thanks a bunch", "thanks a million", "many thanks",
    "thank you so much", "thank you very much", "thank you kindly", "much appreciated", "i appreciate it", "appreciate it", "appreciated",
    "thanks for your help", "thank you for your help", "thanks for the help", "thank you for the help", "thanks again", "thank you again",
    "that is very kind", "you are welcome", "no problem", "no worries", "my pleasure", "anytime", "do not mention it",
    // nods
    "ok", "okay", "k", "kk", "okey", "okie", "alright", "all right", "sure", "sure thing", "of course", "yes", "yeah", "yep", "yup", "ya", "aye",
    "no", "nope", "nah", "right", "correct", "exactly", "indeed", "agreed", "i agree", "true", "fine", "good", "great", "cool", "nice", "awesome",
    "perfect", "excellent", "amazing", "wonderful", "fantastic", "brilliant", "lovely", "sweet", "wow", "oh", "ah", "aha", "hm", "hmm", "mm", "mhm",
    "uh", "um", "uh-huh", "i see", "got it", "gotcha", "understood", "makes sense", "that makes sense", "sounds good", "sounds great", "that sounds good",
    "sounds good to me", "works for me", "that works for me", "that works", "fine by me", "looks good", "looks good to me", "lgtm", "that is right", "that is great", "that is good", "that is cool", "that is nice",
    "that is fine", "that is it", "that is all", "that is correct", "very good", "very nice", "so cool", "well done", "good job", "great job",
    "nice job", "good to know", "good point", "fair enough", "no thanks", "no thank you", "not bad", "never mind", "nevermind", "it is fine",
    "it is ok", "it is okay", "all good", "good idea", "interesting", "really", "noted", "roger", "done", "yes please", "please", "sorry", "my bad",
    "oops", "np", "bravo", "congrats", "congratulations", "love it", "i love it", "me too", "same here", "i know", "i think so", "let us do it", "let us go",
    // go on
    "continue", "go on", "go ahead", "keep going", "carry on", "proceed", "next", "more", "please continue", "please go on", "continue please",
    "go for it", "do it", "tell me more", "and then", "start", "ready", "i am ready",
    "where you stopped", "from where you stopped", "where you left off", "from where you left off",
    // trying if it works
    "test", "testing", "just testing", "just a test", "this is a test", "testing testing", "just checking", "only checking", "can you hear me", "can you read this",
    "can you see this", "can you read me", "does this work", "does it work", "is this working", "is this on", "are you working", "it works", "checking it works",
    "ping", "pong", "ignore that", "ignore this", "wrong window", "wrong chat", "typo", "i figured it out", "i got it working", "i solved it",
    // farewells
    "bye", "bye bye", "goodbye", "good bye", "good night", "night", "see you", "see you later", "see you soon", "see you tomorrow", "see ya", "cya",
    "later", "talk to you later", "talk later", "ttyl", "take care", "have a nice day", "have a good day", "have a great day", "have a good one",
    "have a good night", "have a great weekend", "farewell", "gotta go", "i have to go", "brb", "gn", "until next time", "talk to you soon", "talk to you tomorrow", "talk tomorrow", "speak soon", "sweet dreams", "sleep well",
    // laughter
    "lol", "lmao", "rofl", "haha", "hehe", "ha", "heh", "xd", "lolol", "kek", "666",
    // who is spoken to
    "there", "everyone", "all", "buddy", "friend", "my friend", "man", "dude", "mate", "bot", "assistant", "guys", "folks",
];

#[rustfmt::skip]
const CHINESE: &[&str] = &[
    // greetings
    "你好", "您好", "你好啊", "你们好", "大家好", "嗨", "嘿", "哈喽", "哈啰", "喂", "在吗", "在么", "在不在", "你在吗", "有人吗", "早", "早啊", "早安", "早上好", "上午好", "中午好",
    "下午好", "晚上好", "午安", "好久不见", "最近好吗", "最近怎么样", "你好吗", "吃了吗", "吃了没", "很高兴认识你", "幸会", "久仰", "新年快乐", "生日快乐", "节日快乐", "周末愉快",
    "我回来了", "我来了", "我很好", "我还好", "还好", "还行",
    // thanks
    "谢谢", "谢谢你", "谢谢您", "谢了", "谢谢啦", "多谢", "多谢了", "非常感谢", "十分感谢", "感谢", "感谢你", "感谢您", "太感谢了", "辛苦了", "辛苦", "麻烦你了", "麻烦了", "不客气",
    "不用谢", "没事", "没事的", "没关系", "不好意思", "对不起", "抱歉", "谢谢你的帮助", "感谢你的帮助", "谢谢帮助",
    // nods
    "好", "好的", "好吧", "好啊", "好呀", "好哒", "好滴", "好嘞", "好了", "好耶", "行", "行吧", "行啊", "可以", "可以的", "没问题", "嗯", "嗯嗯", "恩", "恩恩", "哦", "噢", "喔", "啊",
    "额", "呃", "唔", "对", "对的", "对啊", "对呀", "是", "是的", "是啊", "是呀", "没错", "不是", "不", "不用", "不用了", "不要", "没有", "不对", "当然", "当然可以", "确实", "的确", "知道了",
    "我知道了", "明白", "明白了", "我明白了", "了解", "了解了", "懂了", "我懂了", "收到", "清楚了", "原来如此", "原来是这样", "这样啊", "是吗", "真的吗", "真的", "真棒", "太好了", "太棒了",
    "很好", "非常好", "挺好", "挺好的", "不错", "很不错", "真不错", "厉害", "厉害了", "牛", "牛逼", "赞", "点赞", "棒", "完美", "优秀", "同意", "我同意", "可", "得", "中", "成", "有道理", "说得对",
    "说得好", "加油", "算了", "随便", "都行", "都可以", "请", "那好", "那好吧", "那行", "好主意", "有意思", "哇", "哎", "唉", "哎呀", "天哪",
    // go on
    "继续", "请继续", "继续吧", "继续说", "接着说", "接着", "往下说", "然后呢", "还有呢", "还有吗", "下一个", "下一步", "开始", "开始吧", "来吧", "走起", "说吧", "你说", "请说", "展开说说",
    "再来", "再说", "准备好了",
    // trying if it works
    "测试", "测试一下", "测一下", "测试下", "试试", "试一下", "试一试", "能收到吗", "收到了吗", "收得到吗", "能看到吗", "看得到吗", "能听到吗", "听得到吗", "听得见吗", "能用吗", "好使吗", "还在吗", "你还在吗",
    "手滑了", "手滑", "按错了", "发错了", "打错了", "打错字了", "点错了", "没事了", "搞定了", "我搞定了", "我自己搞定了", "解决了", "已经解决了", "忽略这条", "当我没说",
    // farewells
    "再见", "拜拜", "拜", "回见", "回头见", "明天见", "下次见", "一会见", "晚安", "好梦", "先这样", "就这样", "就这样吧", "我先走了", "我走了", "下了", "下线了", "回聊", "改天聊", "下次聊", "保重", "慢走",
    // laughter
    "哈", "哈哈", "呵呵", "嘿嘿", "嘻嘻", "呵", "嘻", "笑死", "笑死我了", "笑哭", "哼", "呜呜", "呜",
    // particles
    "呢", "吧", "呀", "啦", "嘛", "哟", "呦", "咯", "哒", "的", "了",
];

#[cfg(test)]
mod tests;
