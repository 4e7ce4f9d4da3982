//! Small talk, and messages that only begin like small talk.

use super::*;

#[track_caller]
fn check(expected: bool, messages: &[&str]) {
    let wrong: Vec<_> =
        messages.iter().filter(|message| is_small_talk(message) != expected).collect();
    assert!(wrong.is_empty(), "{wrong:?}");
}

#[test]
#[rustfmt::skip]
fn english_small_talk() {
    check(true, &[
        "hi", "Hi!", "hello", "Hello there!", "hey", "heyyy", "Hey there", "good morning", "Good Morning!!", "good evening", "how are you?",
        "How's it going", "what's up", "nice to meet you", "thanks", "Thanks a lot", "thank you", "Thank you so much!", "thx", "ty",
        "thanks for your help", "you're welcome", "no problem", "ok", "OK.", "okay", "ok, sounds good", "k", "sure", "yes", "yeah", "yep", "no",
        "nope", "right", "great", "Great, thanks!", "cool", "coool", "awesome", "perfect", "got it", "Got it, thanks", "I see", "makes sense",
        "understood", "fair enough", "never mind", "lol", "LOL", "haha", "hahahaha", "hehe", "continue", "go on", "Go ahead", "please continue",
        "keep going", "bye", "Goodbye!", "see you later", "see you tomorrow", "good night", "take care", "have a nice day", "👍", "😂😂😂", "🙏❤️",
        "...", "!!!", "", "yes please", "hmmm", "ok bye", "test", "Testing, testing", "can you read this? just checking it works", "please continue from where you stopped",
        "is this working?", "oops, wrong window", "never mind, I figured it out", "ping",
    ]);
}

#[test]
#[rustfmt::skip]
fn chinese_small_talk() {
    check(true, &[
        "你好", "你好！", "您好", "嗨", "哈喽", "在吗", "在吗？", "早", "早上好", "早上好呀", "下午好", "晚上好", "好久不见", "你好吗", "谢谢", "谢谢你", "谢谢啦", "多谢", "非常感谢", "太感谢了", "感谢",
        "辛苦了", "不客气", "没关系", "好", "好的", "好的，谢谢", "好的好的", "好吧", "行", "可以", "没问题", "嗯", "嗯嗯", "嗯嗯嗯", "哦", "哦哦", "对", "对的", "是的", "没错", "不用了", "知道了", "明白了", "了解",
        "收到", "原来如此", "真的吗", "太好了", "不错", "厉害", "哈哈", "哈哈哈", "哈哈哈哈哈", "呵呵", "嘿嘿", "继续", "请继续", "继续吧", "然后呢", "再见", "拜拜", "明天见", "晚安", "先这样", "ok", "ok的", "好的 thanks",
        "2333", "666", "👌", "好的👌", "测试测试，能收到吗", "没事了，我自己搞定了", "手滑了", "听得到吗？", "发错了，当我没说",
    ]);
}

#[test]
#[rustfmt::skip]
fn english_messages_with_something_in_them() {
    check(false, &[
        "hello world program crashed", "hi, what did I order?", "thanks to Anna we won", "ok so what is my name", "good morning routine",
        "yes, I moved to Lisbon", "no milk for me", "continue the story about Max", "go on holiday", "hey Siri", "lol that was Tom's dog",
        "what is up with the build", "I like tea", "who am I", "next Friday", "see you at 5", "thank you note for grandma", "cool down the server",
        "test the payment gateway", "does this work with Postgres", "continue where we left off", "ping the server", "typo in the README",
        "right click menu", "great wall of China", "sure, use Postgres", "night shift", "more tea", "take care of the bug", "start the server",
        "do you remember me", "perfect pitch", "later versions", "bye-laws of the club", "help", "3", "why", "good books", "man page for grep",
    ]);
}

#[test]
#[rustfmt::skip]
fn chinese_messages_with_something_in_them() {
    check(false, &[
        "你好，我叫小明", "你好世界程序崩溃了", "谢谢你上次的建议", "好的，我下周去北京", "继续写那个函数", "早上好吃的面", "早上吃了面包", "我喜欢喝茶", "我是谁", "你还记得我吗", "再见到她的时候",
        "晚安故事", "哈哈镜在哪", "对方是谁", "是谁写的", "行程安排", "可以用什么数据库", "没问题的话就部署", "知道了原因", "明白了代码逻辑", "收到邮件", "不错的餐厅", "厉害的程序员", "下一步怎么做", "开始学习日语",
        "测试环境的密码", "试试那家餐厅", "搞定了客户", "能用吗啡吗", "好用的编辑器", "不要香菜", "不用糖", "中国菜", "成都", "得到结果", "周末愉快地爬山", "帮我查一下", "为什么", "明天见客户",
    ]);
}
