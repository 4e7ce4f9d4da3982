//! Whether a draft deserves to be remembered, and if not, why not.
//!
//! The verdict on a draft depends on the draft and its context alone, never on other drafts or on their order.

use std::{fmt, sync::LazyLock};

use regex::Regex;
use serde::Serialize;

use super::{extract::Draft, likeness::Likeness};
use crate::{
    text::{
        language::is_cjk,
        secrets::{SecretKind, find_secrets, mask_in},
    },
    types::{MAX_NAME_CHARS, Trust},
};

/// A shorter statement says nothing; a Chinese character says as much as a short word.
const MIN_UNITS: usize = 3;

/// A longer statement is a text that belongs among documents.
const MAX_CHARS: usize = 2_000;

/// A draft of which this share was copied from the system prompt leaks it.
const LEAK_SHARE: f64 = 0.5;

/// A draft may fall this far below the wanted confidence and still be worth a look.
const DOUBTFUL: f64 = 0.5;

/// What a draft is held against.
#[derive(Debug, Clone, Default)]
pub struct GateContext {
    /// Below this confidence a draft is not remembered, from 0 to 1.
    pub min_confidence: f64,
    /// Every memory that was put into a prompt of the conversation: what comes back from there is no news.
    pub injected: Vec<Likeness>,
    /// The prompt of the host.
    pub system_prompt: Likeness,
    /// What is known already and near the draft.
    pub known: Vec<Likeness>,
}

/// What becomes of a draft.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// It goes on.
    Accept,
    /// It is not remembered.
    Reject(Reason),
    /// It is not remembered until a person looks at it.
    Quarantine(Reason),
}

/// Why a draft is not remembered.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "each says itself by its `Display`")]
pub enum Reason {
    TooShort,
    TooLong { chars: usize },
    NoTitle,
    LongTitle,
    LowConfidence { confidence: f64, wanted: f64 },
    Vague,
    AboutTheConversation,
    Echo,
    SystemPrompt,
    Known,
    Secret(SecretKind),
    Order,
    TooMany { most: usize },
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooShort => f.write_str("it is too short to mean something on its own"),
            Self::TooLong { chars } => {
                write!(f, "it has {chars} characters; a statement has {MAX_CHARS} at most")
            }
            Self::NoTitle => f.write_str("it has no title"),
            Self::LongTitle => {
                write!(f, "its title is longer than {MAX_NAME_CHARS} characters")
            }
            Self::LowConfidence { confidence, wanted } => {
                write!(f, "its confidence is {confidence:.2}, at least {wanted:.2} is wanted")
            }
            Self::Vague => f.write_str("it is vague: it names nothing in particular"),
            Self::AboutTheConversation => {
                f.write_str("it retells the conversation instead of stating something that lasts")
            }
            Self::Echo => f.write_str("it repeats a memory that was put into the prompt"),
            Self::SystemPrompt => f.write_str("it repeats the system prompt"),
            Self::Known => f.write_str("the same is known already"),
            Self::Secret(kind) => write!(f, "it is about a secret ({kind})"),
            Self::Order => f.write_str("it reads like an order to the model"),
            Self::TooMany { most } => {
                write!(f, "more than {most} statements were found in one piece of conversation")
            }
        }
    }
}

/// Judges one draft.
pub fn judge(draft: &Draft, context: &GateContext) -> Verdict {
    let reasons = [form(draft), content(draft), novelty(draft, context)];
    if let Some(reason) = reasons.into_iter().flatten().next() {
        return Verdict::Reject(reason);
    }
    if trust_of(draft) == Trust::Suspect {
        return Verdict::Quarantine(Reason::Order);
    }
    confidence(draft, context.min_confidence)
}

/// The trust in a draft: lower than its source's where it reads like an order to the model. What the user asks of the
/// agent is no such order.
pub fn trust_of(draft: &Draft) -> Trust {
    trust_in(&draft.content, draft.trust)
}

/// The same for a text of which no more is known than where it comes from.
pub(super) fn trust_in(content: &str, source: Trust) -> Trust {
    let is_order = HIJACK.is_match(content) || source < Trust::Said && COMMAND.is_match(content);
    if is_order { Trust::Suspect } else { source }
}

fn form(draft: &Draft) -> Option<Reason> {
    let chars = draft.content.chars().count();
    let title = draft.name.trim();
    if units(&draft.content) < MIN_UNITS {
        Some(Reason::TooShort)
    } else if chars > MAX_CHARS {
        Some(Reason::TooLong { chars })
    } else if title.is_empty() {
        Some(Reason::NoTitle)
    } else {
        (title.chars().count() > MAX_NAME_CHARS).then_some(Reason::LongTitle)
    }
}

/// Words, and characters of languages without blanks.
fn units(text: &str) -> usize {
    let words = text.split(|c: char| !c.is_alphanumeric() || is_cjk(c));
    words.filter(|word| !word.is_empty()).count() + text.chars().filter(|c| is_cjk(*c)).count()
}

fn content(draft: &Draft) -> Option<Reason> {
    let texts = [&draft.content, &draft.name, &draft.description];
    let secret = texts.into_iter().flat_map(|text| find_secrets(text)).next();
    // What a mask was put in place of is gone; a statement about it says nothing.
    let masked = || texts.into_iter().find_map(|text| mask_in(text));
    if let Some(kind) = secret.map(|secret| secret.kind).or_else(masked) {
        return Some(Reason::Secret(kind));
    }
    if CONVERSATION.is_match(&draft.content) {
        return Some(Reason::AboutTheConversation);
    }
    let telling = GENERIC.replace_all(&draft.content, " ");
    Likeness::of(&telling).is_empty().then_some(Reason::Vague)
}

fn novelty(draft: &Draft, context: &GateContext) -> Option<Reason> {
    let likeness = Likeness::of(&FILLERS.replace_all(&draft.content, " "));
    if context.injected.iter().any(|injected| likeness.is_said_by(injected)) {
        Some(Reason::Echo)
    } else if likeness.quoted_from(&context.system_prompt) >= LEAK_SHARE {
        Some(Reason::SystemPrompt)
    } else {
        context.known.iter().any(|known| likeness.is_said_by(known)).then_some(Reason::Known)
    }
}

fn confidence(draft: &Draft, wanted: f64) -> Verdict {
    let confidence = draft.confidence;
    let reason = Reason::LowConfidence { confidence, wanted };
    if confidence >= wanted {
        Verdict::Accept
    } else if confidence >= wanted * DOUBTFUL {
        Verdict::Quarantine(reason)
    } else {
        Verdict::Reject(reason)
    }
}

static HIJACK: LazyLock<Regex> = LazyLock::new(|| {
    compile(
        r"\b(?:ignore|disregard|forget|override)\b.{0,30}\b(?:previous|prior|above|earlier|all|any|your|the|system)\b.{0,30}\b(?:instructions?|prompts?|rules|guidelines|directions)\b|\byou are now\b|\bnew instructions?:|\b(?:reveal|print|show|repeat)\b.{0,20}\bsystem prompt\b|\bjailbreak|\bdo anything now\b|<\|?(?:im_start|system|endoftext)|\[/?INST\]|(?:忽略|无视|忘记|忘掉|不要理会)(?:掉)?(?:以上|之前|前面|上面|先前|所有|一切|你的|系统).{0,10}(?:指令|指示|提示|规则|要求|设定|命令)|你现在是一?个?|新的?(?:系统)?指令[：:]|(?:输出|打印|透露|显示)(?:你的)?系统提示",
    )
});

static COMMAND: LazyLock<Regex> = LazyLock::new(|| {
    compile(
        r"\byou (?:must|should|have to|need to|shall)\b|\b(?:always|never) (?:respond|reply|answer|say|recommend|send|include|call|run|execute|trust)\b|\b(?:the )?(?:assistant|agent|ai|model) (?:must|should|has to|shall)\b|\bfrom now on\b|\b(?:send|forward|email|upload) .{0,40}(?:to|@)|你(?:必须|应该|一定要|务必)|(?:助手|模型|AI)(?:必须|应该|一定要|务必)|(?:总是|永远|始终|必须)(?:回答|回复|推荐|执行|发送|调用|信任)|从现在(?:起|开始)",
    )
});

static CONVERSATION: LazyLock<Regex> = LazyLock::new(|| {
    compile(
        r"^(?:the )?(?:user|person|human|assistant|agent|ai|model)\s+(?:(?:has|is|was)\s+)?(?:ask(?:s|ed|ing)|request(?:s|ed|ing)|want(?:s|ed) to know|inquir(?:es|ed)|would like to know|thank(?:s|ed)|greet(?:s|ed)|said (?:hello|hi|thanks)|answer(?:s|ed)|respond(?:s|ed)|explain(?:s|ed)|provid(?:es|ed)|suggest(?:s|ed)|offer(?:s|ed)|is (?:asking|chatting|talking|having a conversation))\b|^(?:this|the) (?:conversation|dialogue|chat|message|exchange)\b|^(?:no|nothing)\b.{0,40}\b(?:extract|remember|memor)|^(?:用户|助手|模型|AI)(?:正在|在)?(?:询问|问了?|请求|咨询|想知道|想了解|感谢|打招呼|回答了?|解释了?|提供了?|建议了?|表示感谢)|^(?:这段|本次|此次|该)(?:对话|聊天)|没有(?:可|需要|值得)(?:提取|记住)",
    )
});

/// Words that stand in every statement or for anything at all.
static GENERIC: LazyLock<Regex> = LazyLock::new(|| {
    compile(
        r"\b(?:the|user|user's|users|person|someone|likes?|loves?|enjoys?|prefers?|wants?|needs?|has|have|is|are|uses?|using|interested|interests?|things?|stuff|something|anything|everything|some|various|different|several|many|certain|general|good|great|nice|better|important|interesting|new|information|info|topics?|questions?|help|helping|working|work|works|project|projects|tasks?|issues?|problems?|it|this|that|these|those|in|on|with|about|of|to|a|an|and|be|being|do|does|doing|technology|solutions?|answers?)\b|用户|喜欢|偏好|想要|需要|一些|某些|各种|东西|事情|事物|内容|信息|问题|话题|帮助|很多|许多|不同的?|有趣的?|重要的?|好的?|新的?|项目|工作|任务|方面|感兴趣|有兴趣|对|的|是|有|和|在|用|做",
    )
});

/// Words with which a model hands back what it was given.
static FILLERS: LazyLock<Regex> = LazyLock::new(|| {
    compile(
        r"\b(?:still|also|currently|apparently|indeed|as (?:they|he|she|the user|you) (?:said|mentioned|told me|noted)|(?:previously|earlier|already) (?:said|mentioned|stated|noted))\b|一直|仍然|依然|目前|之前提到|曾经说过|说过|提到过",
    )
});

fn compile(pattern: &str) -> Regex {
    Regex::new(&format!("(?i){pattern}")).expect("valid")
}

#[cfg(test)]
#[path = "gate_tests.rs"]
mod tests;
