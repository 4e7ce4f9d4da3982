//! Questions about the user, and questions that only look like them.

use super::*;

#[track_caller]
fn check(expected: IdentityQuestion, queries: &[&str]) {
    let wrong: Vec<_> = queries
        .iter()
        .map(|query| (query, classify_identity(query)))
        .filter(|(_, found)| *found != expected)
        .collect();
    assert!(wrong.is_empty(), "{wrong:?}");
}

#[test]
#[rustfmt::skip]
fn english_questions_for_the_profile() {
    check(IdentityQuestion::Strong, &[
        "Who am I?", "who am i", "Do you know who I am?", "What do you know about me?", "Tell me everything you know about me", "Do you remember me?",
        "Hey, do you remember me?", "Do you know me", "Tell me about myself", "tell me about me", "Describe me", "How well do you know me?",
        "What have you learned about me so far?", "What do you remember about me", "What did I tell you?", "What have I told you so far?",
        "what did I tell you about myself", "What kind of person am I?", "Show me my memories", "What is in my profile?", "Summarize me please",
        "Do you have any information about me?", "What do you remember?", "what do you have on me",
    ]);
}

#[test]
#[rustfmt::skip]
fn chinese_questions_for_the_profile() {
    check(IdentityQuestion::Strong, &[
        "我是谁", "我是谁？", "你知道我是谁吗", "你还记得我吗", "你记得我吗？", "你认识我吗", "你对我了解多少", "你有多了解我", "你对我有多少了解", "你知道我什么", "你都知道关于我的什么",
        "我告诉过你什么", "我跟你说过什么", "我和你说过什么", "你记得我哪些事情", "你记住了我的什么", "介绍一下我", "介绍一下我自己", "描述一下我", "总结一下我吧", "我是什么样的人",
        "我是个怎样的人", "我的个人信息", "我的用户画像", "你记得什么", "说说我 自己", "你对我有什么印象",
    ]);
}

#[test]
#[rustfmt::skip]
fn english_questions_for_a_topic_of_the_profile() {
    check(IdentityQuestion::Weak, &[
        "what's my name", "What’s my name?", "What is my full name?", "Do you remember my name?", "Can you tell me my name?", "my name?", "How old am I?", "Where am I from?",
        "Where do I live?", "Remind me where I live", "Where do I work?", "What's my job?", "What is my occupation", "What do I do for a living?", "When is my birthday?",
        "What is my birthday", "What are my hobbies?", "What are my preferences?", "What do I like?", "What do I dislike", "Am I married?", "Do I have kids?",
        "What languages do I speak?", "What's my wife's name?", "What's my dog's name again?", "so what is my nationality", "please tell me what my goals are",
        "Recommend a film based on my preferences", "Which tea do I like best?", "what is my favourite colour theme in vim", "What did I tell you about Redis?",
        "does this restaurant suit me", "did I mention a trip to Rome", "did I mention my pets?", "what did I tell you about my family?",
    ]);
}

#[test]
#[rustfmt::skip]
fn chinese_questions_for_a_topic_of_the_profile() {
    check(IdentityQuestion::Weak, &[
        "我叫什么名字", "我叫什么", "你知道我叫什么吗", "请问我叫什么名字呢", "我的名字是什么", "我是做什么的", "我做什么工作", "我是做什么工作的", "我的职业是什么", "我在哪里上班", "我住在哪里", "我住哪", "我是哪里人",
        "我来自哪里", "我多大了", "我几岁了", "我今年多大", "我的生日是哪天", "我生日是什么时候", "我的爱好是什么", "我有什么爱好", "我的兴趣爱好有哪些", "我喜欢什么", "我讨厌什么", "我老婆叫什么名字", "我老婆叫什么", "我的狗叫什么",
        "我结婚了吗", "怎么称呼我", "根据我的口味推荐一家餐厅", "我最喜欢的电影是哪部", "我平时几点起床", "这个城市适合我吗", "我跟你说过那本书吗", "我喜欢哪种咖啡", "我有哪些忌口", "我说过我的宠物吗",
    ]);
}

#[test]
#[rustfmt::skip]
fn english_questions_about_something_else() {
    check(IdentityQuestion::None, &[
        "who is Caroline", "what is my-app's config path", "Who is my manager's boss?", "What is my IP address", "what is my name server set to",
        "tell me about Mexico", "tell me about the project", "who are you", "what is your name", "what do you know about Rust",
        "Where does Anna live?", "how old is the universe", "do you remember the meeting", "what did she tell you", "remind me tomorrow",
        "what is my build failing on", "show me the logs", "describe the image", "what are our goals", "who wrote this function",
        "what is the name of my branch", "hello", "", "fix my code",
    ]);
}

#[test]
#[rustfmt::skip]
fn chinese_questions_about_something_else() {
    check(IdentityQuestion::None, &[
        "我是说这个接口是谁写的", "她是谁", "王小明是谁", "你是谁", "你叫什么名字", "我们是谁", "我们的目标是什么", "你了解我们公司吗", "这个项目叫什么名字", "我的代码为什么报错",
        "我的服务器地址配置在哪", "你记得那次会议吗", "你知道北京吗", "介绍一下北京", "他告诉过你什么", "我想知道天气", "我是程序员", "我叫小明", "我住在上海", "我今年三十岁", "帮我写一个函数",
        "你好", "我的电脑坏了", "谁写的这段代码", "我结婚了",
    ]);
}

#[test]
fn a_question_names_its_aspect_and_the_breadth_of_its_answer() {
    use TopicBreadth::{Open, OwnAttribute, Value};
    let topics = [
        ("What's my wife's name?", Some(ProfileAspect::Family), Value),
        ("我老婆叫什么", Some(ProfileAspect::Family), Value),
        ("which school did I go to?", Some(ProfileAspect::Work), Value),
        ("我答应过我弟弟什么", Some(ProfileAspect::Family), Value),
        ("did I mention my pets?", Some(ProfileAspect::Pet), Open),
        ("我说过我的宠物吗", Some(ProfileAspect::Pet), Open),
        ("where do I live?", Some(ProfileAspect::Home), OwnAttribute),
        ("我住在哪里", Some(ProfileAspect::Home), OwnAttribute),
        ("what foods do I avoid?", Some(ProfileAspect::Health), Open),
        ("我有哪些忌口", Some(ProfileAspect::Health), Open),
        ("我是做什么工作的", Some(ProfileAspect::Work), Open),
        ("what kind of tea does my sister drink?", Some(ProfileAspect::Family), Value),
        ("我姐姐最爱喝的茶是什么", Some(ProfileAspect::Family), Value),
        ("what kind of food do I like?", Some(ProfileAspect::Taste), Open),
        ("what did I tell you about Redis?", None, Open),
    ];
    for (query, aspect, breadth) in topics {
        assert_eq!(profile_topic(query), ProfileTopic { aspect, breadth }, "{query}");
    }
}

/// Returns the share of right answers to the labelled questions of one language: of odd lines, which the rules were made
/// from, and of even lines, which were read only when the rules were done.
fn accuracy(language: &str) -> [f64; 2] {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../everlore-eval/data/cases/dev");
    let text = std::fs::read_to_string(format!("{folder}/identity_{language}.txt")).unwrap();
    let mut counts = [(0, 0); 2];
    for (index, line) in text.lines().enumerate() {
        let (label, query) = line.split_once('\t').unwrap();
        let found = serde_json::to_value(classify_identity(query)).unwrap();
        let (right, all) = &mut counts[index % 2];
        *right += usize::from(found == label);
        *all += 1;
    }
    counts.map(|(right, all)| f64::from(right as u32) / f64::from(all))
}

#[test]
fn questions_by_others_are_told_apart() {
    for language in ["en", "zh"] {
        let [odd, even] = accuracy(language);
        assert!(odd >= 0.95 && even >= 0.8, "{language}: {odd:.3} of odd, {even:.3} of even lines");
    }
}

#[test]
fn a_long_message_that_mentions_knowledge_has_a_topic_of_its_own() {
    for message in [
        "Given what you know about me, could you put together a plan for the two weeks before the marathon, with rest days?",
        "你对我也算了解了，帮我把国庆那几天的行程重新排一下，早上不要太赶，晚上想早点回酒店休息",
    ] {
        assert_ne!(classify_identity(message), IdentityQuestion::Strong, "{message}");
    }
}
