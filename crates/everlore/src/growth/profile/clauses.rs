//! Clauses of the user's own words, and their stance: something holds, has ended, is denied, or is said of others, hoped
//! for or imagined.

use std::sync::LazyLock;

use regex::Regex;

use crate::text::{language::is_cjk, material_tasks::without_material, sentences::sentences};

/// Stance of a clause.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stance {
    /// It holds.
    Holds,
    /// It held once ("I used to", 以前).
    Past,
    /// It has ended, or never was so ("I no longer", 不再).
    Ended,
    /// It says nothing of what is so: denied, hoped for, imagined, or about others.
    Open,
}

/// Clause with its stance.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct OwnClause {
    /// Words; a subject that the clause before it had is repeated.
    pub(super) text: String,
    pub(super) stance: Stance,
}

/// Returns the sentences of the user's own words with their clauses: no quoted lines, no code, no material of a task; of a
/// question only what is said before it.
pub(super) fn own_sentences(text: &str) -> Vec<Vec<OwnClause>> {
    let own = own_lines(without_material(text));
    let own = QUOTATION.replace_all(&own, " ");
    let lines = own.lines().map(|line| line.trim_start_matches(['-', '*', '•', ' ', '\t']));
    let parts = lines.flat_map(|line| line.split_inclusive(['；', ';']).collect::<Vec<_>>());
    let all = parts.flat_map(sentences).map(str::trim).filter(|sentence| !sentence.is_empty());
    all.map(clauses).collect()
}

/// Returns the stance in which a text names a value; `Holds` if it does not.
pub(super) fn stance_of(text: &str, value: &str) -> Stance {
    let value = value.to_lowercase();
    let clauses = own_sentences(text).into_iter().flatten();
    let stances = clauses.filter(|clause| clause.text.to_lowercase().contains(&value));
    let stances: Vec<Stance> = stances.map(|clause| clause.stance).collect();
    let first = stances.first().copied().unwrap_or(Stance::Holds);
    if stances.contains(&Stance::Holds) { Stance::Holds } else { first }
}

fn own_lines(text: &str) -> String {
    let mut own = String::new();
    let mut is_code = false;
    for line in text.lines() {
        let is_fence = line.trim_start().starts_with("```");
        is_code ^= is_fence;
        if !is_fence && !is_code && !line.trim_start().starts_with('>') {
            own.push_str(line);
            own.push('\n');
        }
    }
    own
}

fn clauses(sentence: &str) -> Vec<OwnClause> {
    let is_question = sentence.trim_end_matches(['"', '”', ')']).ends_with(['?', '？']);
    let mut parts = split_clauses(sentence);
    if is_question {
        parts.pop();
        parts.retain(|part| SUBJECT_FIRST.is_match(part));
    }
    let is_framed = FRAME.is_match(sentence) || is_reported(sentence);
    let mut clauses: Vec<OwnClause> = Vec::new();
    let mut had_subject = false;
    for part in parts {
        let part = part.trim_matches(|c: char| c.is_whitespace() || "，,；;。.!！".contains(c));
        let is_own_start = OWN_START.is_match(part);
        had_subject |= is_own_start;
        let before = clauses.last().map(|clause| clause.stance);
        let has_subject = SUBJECT.is_match(part);
        let own = if is_framed { Stance::Open } else { own_stance(part) };
        let goes_on = !has_subject && own == Stance::Holds && !FRESH.is_match(part);
        let stance = before.filter(|_| goes_on).unwrap_or(own);
        let is_chinese = part.chars().any(is_cjk);
        let needs_subject = !has_subject && had_subject;
        had_subject |= has_subject;
        let text = match (needs_subject, is_chinese) {
            (true, true) => format!("我{part}"),
            (true, false) if VERB_FIRST.is_match(part) => format!("I {part}"),
            _ => part.to_owned(),
        };
        clauses.push(OwnClause { text, stance });
    }
    clauses
}

/// Splits a sentence where another clause begins.
fn split_clauses(sentence: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let mut start = 0;
    let breaks =
        CLAUSE_BREAK.captures_iter(sentence).filter_map(|found| found.get(1).or(found.get(2)));
    let chinese = sentence.match_indices(['，', ',']).filter_map(|(at, mark)| {
        let (before, after) = (&sentence[..at], &sentence[at + mark.len()..]);
        let next = after.split(['，', ',']).next().unwrap_or_default();
        // A list of Latin names goes on.
        let is_clause = before.chars().any(is_cjk) && next.chars().any(is_cjk);
        is_clause.then_some(at + mark.len())
    });
    let mut places: Vec<usize> = breaks.map(|found| found.start()).chain(chinese).collect();
    places.sort_unstable();
    for place in places {
        if place > start {
            parts.push(&sentence[start..place]);
            start = place;
        }
    }
    parts.push(&sentence[start..]);
    parts
}

fn own_stance(clause: &str) -> Stance {
    if OTHERS.is_match(clause) || NOT_YET.is_match(clause) {
        Stance::Open
    } else if PAST.is_match(clause) && !SAID_BEFORE.is_match(clause) {
        Stance::Past
    } else if ENDED.is_match(clause) && !is_sometimes(clause) && !BEGUN.is_match(clause) {
        Stance::Ended
    } else if NEGATED.is_match(clause) {
        Stance::Open
    } else {
        Stance::Holds
    }
}

/// "I don't use Slack on weekends" ends nothing.
fn is_sometimes(clause: &str) -> bool {
    SOMETIMES.is_match(clause) && !FOR_GOOD.is_match(clause)
}

/// Returns `true` if a sentence tells what somebody else said.
fn is_reported(sentence: &str) -> bool {
    let mut reports = REPORT.captures_iter(sentence);
    let is_other =
        |who: &str| !["i", "i've", "i’ve", "we", "as"].contains(&who.to_lowercase().as_str());
    reports.any(|found| found.get(1).is_none_or(|who| is_other(who.as_str())))
}

fn compile(pattern: &str) -> Regex {
    Regex::new(pattern).expect("the pattern is valid")
}

/// Quotation in the first person.
static QUOTATION: LazyLock<Regex> = LazyLock::new(|| {
    compile(
        r#""[^"\n]*\bI\b[^"\n]*"|“[^”\n]*(?:\bI\b|我)[^”\n]*”|「[^」\n]*我[^」\n]*」|"[^"\n]*我[^"\n]*"|'I['’]?m? [^'\n]{1,60}'"#,
    )
});

/// Beginnings of English clauses after a comma or a conjunction.
static CLAUSE_BREAK: LazyLock<Regex> = LazyLock::new(|| {
    compile(
        r"(?i)(?:[,–—]|\s-)\s*(?:(?:and|but|so|then|while|although|though|because|or)\s+)?((?:i|we|my|he|she|they|it|now|these days|nowadays|currently|today|switched|moved|started|use|using|am|which|who|if|mostly|mainly|but|please|sorry|thanks|don['’]?t)\b)|\s(?:and|but|so|because|while|whereas|although|though|then)\s+((?:i|we|my|he|she|they|now|these days|nowadays|currently|switched|moved|started|joined|left|quit|am|(?:love|like|enjoy|hate) (?:it|my|the|every)|work (?:at|for|as))\b)",
    )
});

static SUBJECT: LazyLock<Regex> =
    LazyLock::new(|| compile(r"(?i)\b(?:I|we|my|our)\b|我|咱|俺|本人|在下|^(?:公司|团队|部门)"));

/// Beginnings of what one says of oneself without a subject: 上周刚入职, 刚升了.
static OWN_START: LazyLock<Regex> = LazyLock::new(|| {
    compile(
        r"^(?:上周|上个?月|上个?星期|今年|去年|昨天|前天|最近|这周|这个月|年初|月初|今天|周[一二三四五六日]|\d+月份?)?(?:刚刚?|才|新|已经|正式|终于|又|被)*(?:入职|跳槽到|升职|升任|升为|升了|晋升|转岗|转行)",
    )
});

static SUBJECT_FIRST: LazyLock<Regex> = LazyLock::new(|| {
    compile(
        r"(?i)^\W*(?:(?:hi|hello|hey|so|well|ok)[,! ]+)*(?:I\b|my\b|we\b|[\w ]+ here\b|我|本人|在下)",
    )
});

static VERB_FIRST: LazyLock<Regex> = LazyLock::new(|| {
    compile(
        r"(?i)^(?:now |currently |today )?(?:switched|moved|started|use|am|work|working|joined|left|quit|lead|run)\b",
    )
});

/// Words with which a clause without a subject says something new.
static FRESH: LazyLock<Regex> = LazyLock::new(|| {
    compile(
        r"(?i)^(?:now|these days|nowadays|currently|today|switched|moved|started|use|using|instead)\b|现在|目前|如今|改用|换成|后来|转行|转岗|转做|^(?:而)?是",
    )
});

/// Sentences about what is not so at all.
static FRAME: LazyLock<Regex> = LazyLock::new(|| {
    compile(
        r"(?i)\b(?:if i|if we|if only|as if|as though|imagine|pretend(?:ing)?|suppose|supposing|hypothetical(?:ly)?|role-?play(?:ing)?|let['’]s say|dream(?:ed|t)?|in another life)\b|假如|如果|假设|假装|扮演|要是|倘若|梦见|梦到|比如说?我|角色",
    )
});

/// Reports of speech, with who speaks.
static REPORT: LazyLock<Regex> = LazyLock::new(|| {
    compile(
        r"(?i)([\w’']+) (?:also |just |once |then |has |had )?(?:said|says|told (?:me|us|him|her|them)|wrote|writes|texted|replied|posted|claims (?:that|to|he|she|i)|claimed|asked|goes|thinks|believes)\b(?: that\b| to (?:me|us)\b)?\s*[:,“]?|(?:他|她|他们|她们|有人|人家|对方|候选人|[^我，。]{0,6}(?:老板|同事|客户|朋友|经理|医生))(?:[^，。我]{0,4})(?:说|写道|写|问|回复|告诉我)\s*[：:，,“]|(?:写道|说道)[：:]",
    )
});

/// Clauses about others, and requests.
static OTHERS: LazyLock<Regex> = LazyLock::new(|| {
    compile(
        r"(?i)\bmy (?:wife|husband|friends?|brother|sister|mother|father|mom|mum|dad|boss|manager|colleagues?|coworkers?|co-workers?|son|daughter|kid|partner|girlfriend|boyfriend|fianc[eé]e?|neighbou?r|clients?|roommate|uncle|aunt|cousin|grand\w+|parents|doctor|teacher|landlord|ex)\b|我们?(?:的)?(?:朋友|老婆|老公|妻子|丈夫|媳妇|对象|妈|爸|父|母|爷|奶|哥|姐|弟|妹|同事|老板|经理|领导|儿子|女儿|孩子|邻居|客户|室友|男友|女友|男朋友|女朋友|医生|老师|同学|表哥|表姐|叔|舅|姑)|帮我|给我|教我|告诉我|让我|^[^我]*(?:说|觉得|认为|以为|问|骂)我",
    )
});

/// Clauses about what may come.
static NOT_YET: LazyLock<Regex> = LazyLock::new(|| {
    compile(
        r"(?i)\b(?:hope|hoping|wish|want(?:ed)? to|would|i['’]d|could|might|may|will|i['’]ll|should|shall|plan(?:ning)? (?:to|on)|going to|about to|thinking (?:of|about)|consider(?:ing)?|to become|to be an?|almost|nearly|applied|applying|interview(?:ed|ing)?|looking (?:for|into)|need(?:ed)? (?:an?|to|some)|hiring|learn(?:ing)? (?:how )?to become|try(?:ing)? (?:to|out)|tried|can['’]t|cannot|wonder(?:ing)?|considering|curious)\b|希望|想(?:要|当|成为|做|用|试|学|去|找)|打算|计划|准备(?:用|当|做|换|去|考)|考虑|梦想|差点|差一点|险些|投了|投简历|应聘|面试|在找|找个|找一[个位名]|需要|招(?:聘|一)|要不要|该不该|该用|该选|将来|以后(?:当|做|想|要)|推荐|听说|据说|能不能|可不可以|怎么用|如何用|约了|要见|见一位|像个?[^，]{0,6}一样|怎么|如何|为什么|什么|^\W*(?:请|麻烦|how|what|which|should|do|does|can|could|why|who|when|where)(?:[ 你把用给]|\b)",
    )
});

/// Clauses about what held once.
static PAST: LazyLock<Regex> = LazyLock::new(|| {
    compile(
        r"(?i)\bused to (?:use|be|work|code|write|do|run|teach)\b|\bI was (?:once )?(?:an?|the)\b|\bI (?:had )?(?:once|previously|formerly)\b|\b(?:formerly|previously)\b|\bI worked (?:as|at|for|with)\b|以前|之前|原来|曾经|曾(?:是|任|做|在|当|用)|过去|原先|从前|早年",
    )
});

static SAID_BEFORE: LazyLock<Regex> =
    LazyLock::new(|| compile(r"(?:之前|以前|原来|曾经)[^，]{0,6}(?:说|提|讲|问|告诉)"));

/// Clauses about what has ended or never was.
static ENDED: LazyLock<Regex> = LazyLock::new(|| {
    compile(
        r"(?i)\bno longer\b|\b(?:any ?more|any longer)\b|\bnot (?:using|working (?:at|for|as|with)|an?|the)\b|\bstopped (?:using|working|being|coding|writing|paying)\b|\b(?:gave|given|giving) up (?:on )?|\bgot rid of\b|\b(?:ditched|abandoned|uninstalled|phased out|replaced|swapped)\b|\b(?:moved|switched|migrated) (?:away|off|from)\b|\bquit (?:using|my|working|being|as)\b|\bquit (?-i:[A-Z])|\b(?:don['’]?t|do not|doesn['’]?t|does not|didn['’]?t|never)(?: really| even| actually)? (?:use|used|work (?:at|for|with|in|as)|code in)\b|\b(?:haven['’]?t|have not|never)(?: \w+)? (?:used|touched|worked (?:with|at|for))\b|\bleft (?:my (?:job|position|role)|(?-i:[A-Z]))|\bresigned\b|\blaid off\b|\b(?:got|was|been) (?:fired|let go|sacked|made redundant)\b|\bretired\b|\blost my job\b|不再|再也不|(?:从不|从来不|从没|从未|已经不|早就不|早不|没再|没|不)(?:使)?用过?\s*(?:[A-Za-z]|飞|钉|企|微|腾|语|石|印|剪|墨|金|有|百)|不用了|弃用|停用|停止使用|卸载|卸了|换掉|退订|不(?:当|做|是|干|在)|辞职|离职|离开了|退休|被[^，]{0,12}(?:裁|开除|辞退)|裁员|失业|辞去|辞了|换成|(?:换|切换|迁移|转)到",
    )
});

/// Clauses that name only what took the place of something: 换成了飞书.
static BEGUN: LazyLock<Regex> = LazyLock::new(|| {
    compile(
        r"^(?:我们?|后来|现在|已经|早就|最近|都|就|全|也)*(?:换成|换到|切换到|迁移到|转到|改用)了?[^，。]*$",
    )
});

static SOMETIMES: LazyLock<Regex> = LazyLock::new(|| {
    compile(
        r"(?i)\b(?:don['’]?t|do not|never|haven['’]?t|not)\b.*\b(?:use|using|used|work)\b.*\b(?:on (?:weekends?|sundays?|my|the)|at (?:home|work|night)|for|during|when|while|much|often|a lot|every|today|yesterday|yet|in (?:meetings|the))\b|周末不|今天没|晚上不|不在家",
    )
});

static FOR_GOOD: LazyLock<Regex> = LazyLock::new(|| {
    compile(r"(?i)\b(?:any ?more|any longer|no longer|years|months|ages|since)\b|了$|再")
});

/// Other negations: they end nothing, and tell nothing.
static NEGATED: LazyLock<Regex> = LazyLock::new(|| {
    compile(
        r"(?i)\b(?:not|never|isn['’]?t|wasn['’]?t|don['’]?t|doesn['’]?t|didn['’]?t|haven['’]?t|hate|can['’]?t|won['’]?t|without)\b|没有?|不(?:太|是|会|想|喜欢|在|能)|讨厌|别",
    )
});
