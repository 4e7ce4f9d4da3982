//! Signals of the user's own messages: role, employer, expertise, tools and pains, read by patterns of both languages.
//!
//! Only what somebody says of themselves counts: not questions, not what they quote, imagine or tell of others.

use std::sync::LazyLock;

use regex::Regex;

use super::{ProfileSignal, SignalBasis, industry::industry_signal_value, stated::is_complaint};
use crate::{
    text::suspect::is_suspect,
    types::{Memory, Trust},
};

/// Confidence in what one message says.
const CONFIDENCE: f64 = 0.8;

/// Confidence in an industry that only words of the work tell.
const INDUSTRY_CONFIDENCE: f64 = 0.5;

/// Most characters of a message that is read: a longer one is pasted.
const MAX_CHARS: usize = 2_000;

/// Most characters of a value.
const MAX_VALUE_CHARS: usize = 60;

/// Most characters of a complaint; a longer one is a story.
const MAX_PAIN_CHARS: usize = 160;

/// Returns what a message of the user says of them.
pub(super) fn signals_of(turn: &Memory) -> Vec<ProfileSignal> {
    let is_own = turn.trust() >= Trust::Imported;
    let is_short = turn.content.chars().count() <= MAX_CHARS;
    if !is_own || !is_short || is_suspect(&turn.content) {
        return Vec::new();
    }
    sentences(&turn.content).flat_map(|sentence| of_sentence(turn, sentence)).collect()
}

fn of_sentence(turn: &Memory, sentence: &str) -> Vec<ProfileSignal> {
    let mut signals = Vec::new();
    let mut add = |name: &'static str, value: String, confidence: f64| {
        signals.push(signal(turn, name, value, confidence));
    };
    if is_complaint(sentence) && sentence.chars().count() <= MAX_PAIN_CHARS {
        add("pains", sentence.to_owned(), CONFIDENCE);
    }
    if NOT_SELF.is_match(sentence) {
        return signals;
    }
    let role = first_of(&ROLES, sentence);
    let (role, place) = role.map_or((None, None), |role| divided(&role));
    let employer = first_of(&EMPLOYERS, sentence).or(place);
    let work = [&employer, &role].into_iter().flatten();
    let industry = { work }.find_map(|text| industry_signal_value(text));
    role.into_iter().for_each(|value| add("role", value, CONFIDENCE));
    employer.into_iter().for_each(|value| add("employer", value, CONFIDENCE));
    industry.into_iter().for_each(|value| add("industry", value, INDUSTRY_CONFIDENCE));
    expertise(sentence).into_iter().for_each(|value| add("expertise", value, CONFIDENCE));
    tools(sentence).into_iter().for_each(|value| add("tools", value, CONFIDENCE));
    signals
}

/// Divides "nurse at St Mary's hospital" into the role and the employer.
fn divided(role: &str) -> (Option<String>, Option<String>) {
    let parts = [" at ", " for "].iter().find_map(|joint| role.split_once(joint));
    let (role, place) = parts.map_or((role, None), |(role, place)| (role, value_of(place)));
    (Some(role.to_owned()), place)
}

fn signal(turn: &Memory, name: &'static str, value: String, confidence: f64) -> ProfileSignal {
    ProfileSignal {
        name,
        set_name: None,
        value,
        confidence,
        since: turn.at,
        until: None,
        evidence: vec![turn.id],
        basis: SignalBasis::Stated,
    }
}

/// Returns the sentences of the user's own words: no questions, no quoted lines, no code.
fn sentences(text: &str) -> impl Iterator<Item = &str> {
    let mut is_code = false;
    let own = text.lines().filter(move |line| {
        let is_fence = line.trim_start().starts_with("```");
        is_code ^= is_fence;
        !is_fence && !is_code && !line.trim_start().starts_with('>')
    });
    let parts =
        own.flat_map(|line| line.split_inclusive(['.', '!', '?', '。', '！', '？', '；', ';']));
    let parts = parts.map(str::trim).filter(|part| !part.ends_with(['?', '？']));
    parts
        .map(|part| part.trim_end_matches(['.', '!', '。', '！', '；', ';']))
        .filter(|it| !it.is_empty())
}

fn first_of(patterns: &[Regex], sentence: &str) -> Option<String> {
    patterns.iter().find_map(|pattern| value_of(&pattern.captures(sentence)?[1]))
}

/// Returns a value without its article and what follows it in the sentence.
fn value_of(raw: &str) -> Option<String> {
    let cut = CUT.find(raw).map_or(raw, |found| &raw[..found.start()]);
    let value = ARTICLE.replace(cut.trim(), "");
    let value = value.trim_matches([' ', ',', '，', '-', '"', '“', '”']);
    let length = value.chars().count();
    (2..=MAX_VALUE_CHARS).contains(&length).then(|| value.to_owned())
}

fn expertise(sentence: &str) -> Vec<String> {
    if let Some(found) = YEARS_OF.captures(sentence) {
        let part = |at: usize| found.get(at).map(|it| it.as_str().trim());
        let pairs = [(1, 2), (4, 3), (6, 5), (8, 7)];
        let told = pairs.iter().find_map(|(what, years)| Some((part(*what)?, part(*years)?)));
        return told.and_then(|(what, years)| with_years(what, years)).into_iter().collect();
    }
    if let Some(value) = first_of(std::slice::from_ref(&NEW_TO), sentence) {
        let is_chinese = !value.is_ascii() || !sentence.is_ascii();
        let told =
            if is_chinese { format!("{value}（新手）") } else { format!("new to {value}") };
        return vec![told];
    }
    let known = EXPERT.captures(sentence).and_then(|found| found.iter().skip(1).flatten().next());
    known.map_or_else(Vec::new, |known| listed(known.as_str()))
}

fn with_years(what: &str, years: &str) -> Option<String> {
    let what = value_of(what)?;
    Some(if what.is_ascii() { format!("{what} ({years})") } else { format!("{what}（{years}）") })
}

/// Returns the tools of a sentence: names after "I use", 用.
fn tools(sentence: &str) -> Vec<String> {
    if let Some(found) = USES.captures(sentence) {
        return listed(&found[1]).into_iter().filter(|name| is_tool(name)).collect();
    }
    if !sentence.contains('我') {
        return Vec::new();
    }
    let named = USES_CHINESE.captures_iter(sentence);
    named.flat_map(|found| listed(&found[1])).filter(|name| is_tool(name)).collect()
}

/// Returns `true` for a name: a word with a capital letter or a digit, or one of the small ones that are known.
fn is_tool(name: &str) -> bool {
    let is_small = SMALL_TOOLS.contains(&name.to_lowercase().as_str());
    let has_mark = name.chars().any(|c| c.is_ascii_uppercase() || c.is_ascii_digit());
    let is_pronoun = ["I", "It", "My", "The", "A", "This", "That", "You"].contains(&name);
    name.split_whitespace().count() <= 3
        && !is_pronoun
        && (is_small || has_mark || !name.is_ascii())
}

/// Splits a list of names.
pub(super) fn listed(text: &str) -> Vec<String> {
    let cut = CUT.find(text).map_or(text, |found| &text[..found.start()]);
    LIST.split(cut).filter_map(value_of).collect()
}

fn compile(pattern: &str) -> Regex {
    Regex::new(pattern).expect("the pattern is valid")
}

/// Words that end an occupation.
const HEADS: &str = "engineer|developer|programmer|manager|nurse|doctor|physician|surgeon|dentist|pharmacist|therapist|paramedic|midwife|vet|veterinarian|teacher|tutor|professor|lecturer|student|researcher|scientist|designer|architect|analyst|consultant|lawyer|attorney|paralegal|accountant|auditor|bookkeeper|banker|trader|broker|director|founder|ceo|cto|cfo|entrepreneur|freelancer|contractor|administrator|admin|sysadmin|technician|specialist|coordinator|assistant|secretary|officer|writer|author|editor|journalist|reporter|translator|interpreter|photographer|illustrator|animator|artist|musician|composer|actor|producer|chef|cook|baker|barista|waiter|bartender|driver|courier|pilot|mechanic|electrician|plumber|carpenter|builder|welder|machinist|farmer|gardener|librarian|firefighter|soldier|recruiter|salesperson|marketer|planner|supervisor|lead|head|president|owner|intern|postdoc|biologist|chemist|physicist|mathematician|statistician|economist|psychologist|geologist|historian|judge|notary|realtor|stylist|hairdresser|coach|trainer|guide|sre|pm|qa|tester|dba";

/// Words that end an occupation in Chinese.
const CHINESE_HEADS: &str = "工程师|程序员|医生|大夫|医师|护士|护士长|药师|兽医|老师|教师|教授|讲师|教练|律师|法务|会计|审计|出纳|经理|总监|总裁|主管|主任|组长|店长|厂长|校长|院长|负责人|创始人|合伙人|设计师|架构师|分析师|咨询师|咨询顾问|顾问|研究员|科学家|学生|研究生|博士生|博士后|编辑|记者|翻译|作家|作者|摄影师|导演|演员|厨师|司机|飞行员|销售|运营|客服|产品|测试|运维|采购|人事|行政|秘书|助理|公务员|警察|消防员|军人|农民|工人|电工|木工|焊工|技师|技术员|自由职业者|个体户|博主|主播|插画师|美术|动画师|音乐人|心理咨询师|营养师|社工";

/// Sentences about others, or about what is not so.
static NOT_SELF: LazyLock<Regex> = LazyLock::new(|| {
    compile(
        r"(?i)\b(?:if i|as if|imagine|pretend|suppose|hypothetical|role-?play|i used to|i was an?|i wish|my (?:wife|husband|friend|brother|sister|mother|father|mom|mum|dad|boss|colleague|coworker|son|daughter|partner|girlfriend|boyfriend|neighbou?r|client|roommate))\b|假如|如果|假设|假装|扮演|以前是|我(?:的)?(?:朋友|老婆|老公|妻子|丈夫|妈|爸|哥|姐|弟|妹|同事|老板|领导|儿子|女儿|邻居|客户|室友|男友|女友|男朋友|女朋友)",
    )
});

static ROLES: LazyLock<Vec<Regex>> = LazyLock::new(|| {
    let heads = HEADS;
    let chinese = format!("(?:{CHINESE_HEADS})(?:经理|工程师|总监|主管|专员|助理)?");
    [
        format!(r"(?i)\bI(?:['’]m| am)(?: now| currently| actually| also| still| just)? (?:an?|the) ((?:[\w+/&'’-]+ ){{0,4}}?(?:{heads}))\b"),
        r"(?i)\bI(?:['’]m| am)?(?: now| currently)? ?(?:work|working|employed|started|hired|was hired|got hired) as (?:an?|the)? ?(.+)".to_owned(),
        r"(?i)\b(?:got|been|was|just) promoted to (.+)".to_owned(),
        r"(?i)\bI(?:['’]ve)? (?:became|become|took (?:a|the) job as|got a job as|have a new job as) (?:an?|the)? ?(.+)".to_owned(),
        r"(?i)\bmy (?:new |current )?(?:job|role|title|job title|position|profession) is (.+)".to_owned(),
        format!(r"我(?:现在|目前|如今|刚|就)?(?:是|当了?|担任|转岗做|转行做|升任|升为|升职为)(?:一?[名个位])?([^，。！？,；、的在]{{0,10}}?(?:{chinese}))"),
        format!(r"我[^。！？]{{0,25}}(?:公司|医院|学校|大学|银行|律所|工厂|集团|研究所|研究院|机构|单位|企业|[a-zA-Z])\s*(?:里|那边)?(?:做|当|担任|任)(?:一?[名个位])?([^，。！？,；、的]{{0,8}}?(?:{chinese}))"),
        format!(r"(?:升职|升任|转岗|跳槽|换工作)[^。！？]{{0,30}}(?:是|做|当|担任|成为)(?:一?[名个位])?([^，。！？,；、的]{{0,8}}?(?:{chinese}))"),
    ]
    .iter()
    .map(|pattern| compile(pattern))
    .collect()
});

static EMPLOYERS: LazyLock<Vec<Regex>> = LazyLock::new(|| {
    let heads = HEADS;
    [
        format!(r"(?i)\bI(?:['’]m| am)[\w ]{{1,40}}(?:{heads}) (?:at|for|with) (.+)"),
        r"(?i)\bI(?:['’]m| am)?(?: now| currently)? ?work(?:ing)? (?:at|for) (.+)".to_owned(),
        r"(?i)\bI(?:['’]ve)? (?:just )?(?:recently )?joined ((?-i:[A-Z]|an? ).+)".to_owned(),
        r"我[^。！？]{0,15}?(?:在|加入了?|入职了?)(?:一家|一所|一个)?([^，。！？,我]{2,20}?(?:公司|医院|学校|大学|银行|律所|工厂|集团|研究所|研究院|事务所|工作室|餐厅|酒店|机构|中学|小学|幼儿园|报社|出版社|厂))".to_owned(),
    ]
    .iter()
    .map(|pattern| compile(pattern))
    .collect()
});

static YEARS_OF: LazyLock<Regex> = LazyLock::new(|| {
    compile(
        r"(?i)\bI(?:['’]ve| have)(?: been)? (?:doing|using|writing|used|worked (?:with|in|on)|working (?:with|in|on)|programming in|coding in|running|building|teaching|practi[cs]ing) (.{2,40}?) for ((?:about |around |over |almost |nearly |more than |some )?[\w+]+ years?)|\b((?:over |about |almost )?[\w+]+ years?) (?:of experience )(?:with|in|of|as an?) (.{2,40})|(?:做|用|写|搞|从事|教|干)了([一二三四五六七八九十两几\d]+多?年)多?的?([^，。！？,了]{1,12})|([一二三四五六七八九十两\d]+多?年)的?([^，。！？,]{1,12}?)(?:工作|开发)?经验",
    )
});

static NEW_TO: LazyLock<Regex> = LazyLock::new(|| {
    compile(
        r"(?i)(?:\bI(?:['’]m| am) (?:an? (?:total |complete |absolute )?(?:beginner|newbie|novice) (?:in|at|with|to)|(?:still |quite |pretty |very |completely )?new to)|我?刚开始学|我?刚接触) ?(.+)",
    )
});

static EXPERT: LazyLock<Regex> = LazyLock::new(|| {
    compile(
        r"(?i)\bI(?:['’]m| am) (?:an expert|experienced|fluent|very good|really good|quite good|pretty good|proficient|well versed) (?:in|at|with) (.+)|\bI (?:mostly|mainly|usually|primarily) (?:write|code in|program in|work with|work in) (.+)|\b(?:mostly|mainly) ((?-i:[A-Z])[\w+#.]*(?:(?:, | and | & |/)(?-i:[A-Z])[\w+#.]*)*)|我?(?:精通|熟悉|擅长)([^，。！？]{1,20})",
    )
});

static USES: LazyLock<Regex> = LazyLock::new(|| {
    compile(
        r"(?i)\bI(?:['’]ve| have)? ?(?:mostly|mainly|usually|always|just|now|only|still|also)? ?(?:use|switched to|moved to|switched from [\w .+#-]{2,25} to|moved from [\w .+#-]{2,25} to|work with|live in) (.+)",
    )
});

static USES_CHINESE: LazyLock<Regex> = LazyLock::new(|| {
    compile(
        r"(?:用|使用|换成了?|改用)(?:的是)? ?([A-Za-z][\w.+#-]*(?: [A-Z][\w.+#-]*)?(?:(?:、|和|跟| 和 |，|,|/) ?[A-Za-z][\w.+#-]*)*|飞书|钉钉|企业微信|微信|腾讯文档|语雀|石墨文档|印象笔记|剪映|墨刀)",
    )
});

/// Tools that are written in small letters.
const SMALL_TOOLS: [&str; 30] = [
    "vim", "neovim", "nvim", "emacs", "tmux", "git", "zsh", "fish", "bash", "docker", "podman",
    "kubectl", "npm", "pnpm", "yarn", "pip", "uv", "pandas", "numpy", "pytest", "cargo", "make",
    "jq", "ffmpeg", "latex", "obsidian", "notion", "slack", "excel", "figma",
];

/// Places where a value ends and the sentence goes on.
static CUT: LazyLock<Regex> = LazyLock::new(|| {
    compile(
        r"(?i)[,，;；(（]| (?:and (?:i|we|my|have|am|it|he|she|they)|but|because|since|where|which|who|so|now|these days|nowadays|at the moment|right now|anymore|as of|starting|when|while|though|for (?:everything|my|the|all|most|work|a|our|this|years|now)|to (?:\w+)|every|on (?:the|my|a)|instead|as (?:an?|my|the)|mostly|mainly)\b|来?(?:做|写|处理|画|剪|记|管理)",
    )
});

static ARTICLE: LazyLock<Regex> =
    LazyLock::new(|| compile(r"(?i)^(?:(?:an?|the|my|our|some) |在|一家|一所|一个)+"));

static LIST: LazyLock<Regex> =
    LazyLock::new(|| compile(r"(?i), (?:and )?| and | & |/|、|，|和|跟| plus "));

#[cfg(test)]
mod tests {
    use super::*;
    use crate::types::{Kind, MemorySource, Origin, Scope, Timestamp};

    fn told(text: &str) -> Vec<(&'static str, String)> {
        let scope = Scope::new("a", "u").unwrap();
        let (source, now) = (MemorySource::new(Origin::Observe), Timestamp::UNIX_EPOCH);
        let turn = Memory::with_content(&scope, Kind::Turn, text.into(), source, now, now);
        signals_of(&turn).into_iter().map(|it| (it.name, it.value)).collect()
    }

    #[track_caller]
    fn assert_told(text: &str, wanted: &[(&'static str, &str)]) {
        let found = told(text);
        for (name, value) in wanted {
            assert!(found.iter().any(|it| it.0 == *name && it.1 == *value), "{text}: {found:?}");
        }
    }

    #[test]
    fn role_employer_and_industry_are_read_in_both_languages() {
        assert_told(
            "Hi! I'm a backend engineer at a logistics company in Hamburg, mostly Go and PostgreSQL these days.",
            &[
                ("role", "backend engineer"),
                ("employer", "logistics company in Hamburg"),
                ("industry", "logistics"),
                ("expertise", "Go"),
                ("expertise", "PostgreSQL"),
            ],
        );
        assert_told(
            "Big news: I got promoted, I'm an engineering manager now.",
            &[("role", "engineering manager")],
        );
        assert_told(
            "I work as a nurse at St Mary's hospital.",
            &[("role", "nurse"), ("employer", "St Mary's hospital")],
        );
        assert_told("I work as a night nurse.", &[("role", "night nurse"), ("industry", "health")]);
        assert_told("I just got promoted to head of platform", &[("role", "head of platform")]);
        assert_told(
            "你好，我是一名儿科医生，在成都的一家三甲医院工作。",
            &[("role", "儿科医生"), ("industry", "医疗")],
        );
        assert_told(
            "我换工作了，现在在一家医疗 AI 创业公司做产品经理。",
            &[("role", "产品经理"), ("employer", "医疗 AI 创业公司")],
        );
    }

    #[test]
    fn expertise_tools_and_pains_are_read_in_both_languages() {
        assert_told(
            "I've been doing Kubernetes for about six years, so skip the basics.",
            &[("expertise", "Kubernetes (about six years)")],
        );
        assert_told(
            "I have over ten years of experience with Java",
            &[("expertise", "Java (over ten years)")],
        );
        assert_told("I'm quite new to Rust.", &[("expertise", "new to Rust")]);
        assert_told(
            "I use Neovim and tmux for everything.",
            &[("tools", "Neovim"), ("tools", "tmux")],
        );
        assert_told(
            "我平时用 Python 做点数据分析，主要用 pandas。",
            &[("tools", "Python"), ("tools", "pandas")],
        );
        assert_told("我做了八年的前端开发", &[("expertise", "前端开发（八年）")]);
        assert_told(
            "Our deploys to staging keep failing, it drives me crazy.",
            &[("pains", "Our deploys to staging keep failing, it drives me crazy")],
        );
        assert_told(
            "最近病历系统老是卡死，真是烦死了，写到一半就没了。",
            &[("pains", "最近病历系统老是卡死，真是烦死了，写到一半就没了")],
        );
    }

    #[test]
    fn questions_others_and_quotes_tell_nothing() {
        for text in [
            "Am I a good engineer?",
            "My wife says I'm a terrible cook",
            "Imagine I'm a doctor. Pretend I'm a nurse",
            "> I'm a backend engineer",
            "```\nI'm a backend engineer\n```",
            "I'm a bit tired and I use the stairs.",
            "如果我是医生会怎么办",
            "我朋友是医生。",
            "我是医生吗？",
        ] {
            assert_eq!(told(text), [], "{text}");
        }
    }
}
