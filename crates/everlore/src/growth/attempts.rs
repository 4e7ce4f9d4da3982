//! Attempts: a failure in a conversation, what was tried, and whether the same call or the user's word says that it
//! worked.
//!
//! The solution is only ever what the user or the assistant said, or the calls that were made: output of a tool tells
//! the failure, never the cure.

use std::collections::HashSet;

use super::solved_words::{ERROR_WORD, OTHER_THING, SOLVED, says_solved, shows_failure, told_cure};
use crate::{
    text::{
        error_signature::{ErrorSignature, decisive_message, is_same, signature},
        language::{Language, detect_language},
        terms::terms,
        tool_event::ToolEvent,
    },
    types::{MemoryId, Role, Timestamp, Trust},
};

/// Most characters of a failure's message in the problem.
const MAX_MESSAGE_CHARS: usize = 200;

/// Most characters of an explanation that becomes a solution; the beginning says what to do.
const MAX_SOLUTION_CHARS: usize = 600;

/// Most calls that a solution names: those right before the success.
const MAX_CALLS: usize = 5;

/// Fewest characters of a user's explanation: less is only "it works".
const MIN_EXPLANATION_CHARS: usize = 12;

/// Turn of a conversation, as the rules read it.
#[derive(Debug, Clone)]
pub(crate) struct SessionTurn {
    /// Id of the turn.
    pub(crate) id: MemoryId,
    /// Role of its speaker.
    pub(crate) role: Role,
    /// Own words of its speaker, or output of a tool.
    pub(crate) text: String,
    /// Text that the message only quotes.
    pub(crate) quoted: String,
    /// Time of the turn.
    pub(crate) at: Timestamp,
}

/// Attempt to solve a problem, with its result.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ObservedAttempt {
    /// Problem in words.
    pub(crate) pain: String,
    /// Solution that was tried.
    pub(crate) solution: String,
    /// Outcome in words.
    pub(crate) outcome: String,
    /// Error as it was printed.
    pub(crate) error: String,
    /// Tools that took part.
    pub(crate) tools: Vec<String>,
    /// `true` if it worked.
    pub(crate) worked: bool,
    /// Trust in the solution by its source.
    pub(crate) trust: Trust,
    /// Turns that show it.
    pub(crate) evidence: Vec<MemoryId>,
    /// Time of the result.
    pub(crate) at: Timestamp,
}

/// Failure that nothing has solved yet.
struct OpenFailure {
    signature: ErrorSignature,
    error: String,
    call: Option<String>,
    tool: Option<String>,
    turn: MemoryId,
    /// Place of the failure among the turns.
    place: usize,
}

/// Finds the attempts of a conversation whose result is at `from` or later.
pub(crate) fn observed_attempts(turns: &[SessionTurn], from: usize) -> Vec<ObservedAttempt> {
    let mut open: Vec<OpenFailure> = Vec::new();
    let mut attempts = Vec::new();
    let chinese = is_chinese(turns);
    for (place, turn) in turns.iter().enumerate() {
        if let Some(failure) = failure_in(turn, place) {
            let again = open.iter().position(|older| is_repeated(older, &failure));
            if let Some(older) = again.map(|at| open.remove(at)) {
                attempts.extend(attempt(&older, &turns[older.place + 1..=place], false, chinese));
            }
            open.push(failure);
            continue;
        }
        let is_solved =
            |failure: &OpenFailure| is_solved_by(failure, &turns[failure.place + 1..=place]);
        let mut is_answer = false;
        while let Some(at) = open.iter().rposition(is_solved) {
            let failure = open.remove(at);
            attempts.extend(attempt(&failure, &turns[failure.place + 1..=place], true, chinese));
            is_answer = true;
        }
        if !is_answer {
            attempts.extend(told_with_cure(turn, chinese));
        }
    }
    let is_new = |attempt: &ObservedAttempt| {
        turns[from.min(turns.len())..].iter().any(|turn| Some(&turn.id) == attempt.evidence.last())
    };
    attempts.retain(is_new);
    attempts
}

/// Returns the signature and the text of the failure that a turn shows.
pub(crate) fn shown_failure(turn: &SessionTurn) -> Option<(ErrorSignature, String)> {
    // Most turns name no failure, and a signature costs far more than a look for the words.
    let may_fail = shows_failure(&turn.text) || shows_failure(&turn.quoted);
    if !may_fail && ToolEvent::parse(&turn.text).is_none() {
        return None;
    }
    let failure = failure_in(turn, 0)?;
    Some((failure.signature, failure.error))
}

/// Returns the failure that a turn shows.
fn failure_in(turn: &SessionTurn, place: usize) -> Option<OpenFailure> {
    let event = ToolEvent::parse(&turn.text);
    let (error, call, tool) = match (event, turn.role) {
        (Some(event), _) => (event.error?, Some(event.call), Some(event.tool)),
        (None, Role::Tool) => (turn.text.as_str(), prompt_line(&turn.text), None),
        (None, Role::User) if !turn.quoted.is_empty() => {
            (turn.quoted.as_str(), prompt_line(&turn.quoted), None)
        }
        (None, Role::User) => (turn.text.as_str(), prompt_line(&turn.text), None),
        (None, Role::Assistant | Role::System) => return None,
    };
    let signature = signature(error);
    // A failed call is a failure whatever it prints; elsewhere the text must show one.
    let is_failure = event.is_some() || signature.is_failure() && shows_failure(error);
    let is_told_solved =
        turn.role == Role::User && (says_solved(&turn.text) || told_cure(&turn.text).is_some());
    (is_failure && !is_told_solved).then(|| OpenFailure {
        signature,
        error: error.trim().to_owned(),
        call: call.map(str::to_owned),
        tool: tool.map(str::to_owned),
        turn: turn.id,
        place,
    })
}

/// Returns the command of a pasted terminal: its first line after a prompt sign.
fn prompt_line(text: &str) -> Option<&str> {
    let lines = text.lines().map(str::trim_start);
    let mut commands =
        lines.filter_map(|line| ["$ ", "❯ ", "% "].iter().find_map(|sign| line.strip_prefix(sign)));
    commands.next().map(str::trim)
}

/// Returns `true` if a failure came back: the same call failed again, or the same error appeared.
fn is_repeated(older: &OpenFailure, newer: &OpenFailure) -> bool {
    match (&older.call, &newer.call) {
        (Some(one), Some(other)) => one == other && is_like(older, newer),
        _ => is_same(&older.signature, &newer.signature),
    }
}

fn is_like(older: &OpenFailure, newer: &OpenFailure) -> bool {
    is_same(&older.signature, &newer.signature) || older.error == newer.error
}

/// Returns `true` if the last of the turns after a failure says or shows that it is solved.
fn is_solved_by(failure: &OpenFailure, after: &[SessionTurn]) -> bool {
    let Some(turn) = after.last() else { return false };
    match (ToolEvent::parse(&turn.text), turn.role) {
        (Some(event), _) => event.error.is_none() && failure.call.as_deref() == Some(event.call),
        (None, Role::Tool) => {
            let call = prompt_line(&turn.text);
            call.is_some() && failure.call.as_deref() == call && !ERROR_WORD.is_match(&turn.text)
        }
        (None, Role::User) => says_solved(&turn.text) && is_about(turn, failure, after),
        (None, Role::Assistant | Role::System) => false,
    }
}

/// Returns `true` unless the words that something is solved name another thing: "by the way, my bike is fixed now".
fn is_about(turn: &SessionTurn, failure: &OpenFailure, after: &[SessionTurn]) -> bool {
    if !OTHER_THING.is_match(&turn.text) {
        return true;
    }
    let advice = after.iter().filter(|turn| turn.role == Role::Assistant);
    let known: HashSet<String> = advice
        .map(|turn| turn.text.as_str())
        .chain([failure.error.as_str(), failure.call.as_deref().unwrap_or_default()])
        .flat_map(terms)
        .collect();
    let bare = SOLVED.replace_all(&turn.text, " ");
    terms(&bare).iter().any(|term| term.chars().count() > 1 && known.contains(term))
}

/// Returns the attempt of a message that tells a failure and what solved it.
fn told_with_cure(turn: &SessionTurn, chinese: bool) -> Option<ObservedAttempt> {
    let is_told =
        turn.role == Role::User && turn.quoted.is_empty() && ToolEvent::parse(&turn.text).is_none();
    let text = turn.text.trim();
    let (error, cure) = told_cure(text).filter(|_| is_told)?;
    // 果然是磁盘满了: the cause is the failure.
    let has_cause = error.len() < text.len();
    let is_failure = |text: &str| {
        let found = signature(text);
        found.is_failure() || has_cause && (!found.mentions.is_empty() || ERROR_WORD.is_match(text))
    };
    let error = if is_failure(error) { error } else { text };
    is_failure(error).then_some(())?;
    let is_sign = |sign: char| !sign.is_alphanumeric();
    let cure = cure.trim_start_matches(is_sign);
    let nouns = ["thing: ", "issue: ", "problem: ", "error: "];
    let cure = nouns.iter().find_map(|noun| cure.strip_prefix(noun)).unwrap_or(cure);
    let explains = SOLVED.replace_all(cure, "").chars().filter(|c| c.is_alphanumeric()).count();
    let least = if chinese { MIN_EXPLANATION_CHARS / 3 } else { MIN_EXPLANATION_CHARS };
    let failure = OpenFailure {
        signature: signature(error),
        error: error.trim().to_owned(),
        call: None,
        tool: None,
        turn: turn.id,
        place: 0,
    };
    (explains >= least).then(|| ObservedAttempt {
        pain: pain(&failure, chinese),
        solution: cut(cure),
        outcome: outcome(turn, true, chinese),
        error: failure.error.clone(),
        tools: Vec::new(),
        worked: true,
        trust: Trust::Said,
        evidence: vec![turn.id],
        at: turn.at,
    })
}

/// Builds the attempt of the turns after a failure, of which the last shows the result; `None` if nothing says what was
/// tried.
fn attempt(
    failure: &OpenFailure,
    after: &[SessionTurn],
    worked: bool,
    chinese: bool,
) -> Option<ObservedAttempt> {
    let last = after.last()?;
    let tried = &after[..after.len() - 1];
    let (solution, trust, source) = told_by_user(last)
        .or_else(|| calls_between(tried, chinese))
        .or_else(|| told_by_assistant(tried))?;
    let mut evidence = vec![failure.turn];
    evidence.extend(source.filter(|id| *id != last.id));
    evidence.push(last.id);
    Some(ObservedAttempt {
        pain: pain(failure, chinese),
        solution,
        outcome: outcome(last, worked, chinese),
        error: failure.error.clone(),
        tools: failure.tool.iter().cloned().collect(),
        worked,
        trust,
        evidence,
        at: last.at,
    })
}

fn pain(failure: &OpenFailure, chinese: bool) -> String {
    let message: String =
        decisive_message(&failure.error).chars().take(MAX_MESSAGE_CHARS).collect();
    match (&failure.call, chinese) {
        (Some(call), false) => format!("`{call}` failed: {message}"),
        (Some(call), true) => format!("`{call}` 失败：{message}"),
        (None, _) => message,
    }
}

fn outcome(last: &SessionTurn, worked: bool, chinese: bool) -> String {
    let text = match (worked, chinese, last.role == Role::User) {
        (true, false, false) => "The same call then succeeded.",
        (true, true, false) => "之后同一个命令成功了。",
        (true, false, true) => "The user said that it worked.",
        (true, true, true) => "用户说解决了。",
        (false, false, _) => "It failed again in the same way.",
        (false, true, _) => "又以同样的方式失败了。",
    };
    text.to_owned()
}

/// Returns `true` if people speak Chinese in a conversation.
fn is_chinese(turns: &[SessionTurn]) -> bool {
    let spoken = turns.iter().filter(|turn| matches!(turn.role, Role::User | Role::Assistant));
    let chinese = spoken.clone().filter(|turn| detect_language(&turn.text) == Language::Chinese);
    chinese.count() * 2 > spoken.count()
}

/// Solution with the trust in it and the turn that tells it.
type ToldSolution = (String, Trust, Option<MemoryId>);

/// Returns what the user says solved it, if the message that reports the result also explains it.
fn told_by_user(turn: &SessionTurn) -> Option<ToldSolution> {
    let is_user = turn.role == Role::User && ToolEvent::parse(&turn.text).is_none();
    let bare = SOLVED.replace_all(&turn.text, "");
    let explains = bare.chars().filter(|sign| sign.is_alphanumeric()).count();
    let told = (is_user && explains >= MIN_EXPLANATION_CHARS).then(|| cut(&turn.text))?;
    Some((told, Trust::Said, Some(turn.id)))
}

/// Words before the calls of a solution, and the mark between two calls.
const ENGLISH_CALLS: (&str, &str) = ("In between, this was run: ", "; ");
const CHINESE_CALLS: (&str, &str) = ("当时在两次之间执行了：", "；");

/// Returns the tools and calls of a solution that lists calls; `None` if it is told in other words.
pub(crate) fn calls_of_solution(solution: &str) -> Option<Vec<(String, String)>> {
    let list = |(intro, separator): (&str, &str)| {
        let calls = solution.strip_prefix(intro)?.split(separator);
        calls.map(|call| call.strip_suffix('`')?.split_once(" `")).collect::<Option<Vec<_>>>()
    };
    let calls = list(ENGLISH_CALLS).or_else(|| list(CHINESE_CALLS))?;
    Some(calls.into_iter().map(|(tool, call)| (tool.to_owned(), call.to_owned())).collect())
}

/// Returns the calls that succeeded between failure and result, as a fact about the past.
fn calls_between(turns: &[SessionTurn], chinese: bool) -> Option<ToldSolution> {
    let mut calls: Vec<String> = Vec::new();
    for event in turns.iter().filter_map(|turn| ToolEvent::parse(&turn.text)) {
        let call = format!("{} `{}`", event.tool, event.call);
        if event.error.is_none() && !event.call.is_empty() && calls.last() != Some(&call) {
            calls.push(call);
        }
    }
    let calls = &calls[calls.len().saturating_sub(MAX_CALLS)..];
    let (intro, separator) = if chinese { CHINESE_CALLS } else { ENGLISH_CALLS };
    let told = format!("{intro}{}", calls.join(separator));
    (!calls.is_empty()).then_some((cut(&told), Trust::Inferred, None))
}

/// Returns the assistant's last words before the result.
fn told_by_assistant(turns: &[SessionTurn]) -> Option<ToldSolution> {
    let turn = turns.iter().rev().find(|turn| turn.role == Role::Assistant)?;
    Some((cut(&turn.text), Trust::Inferred, Some(turn.id)))
}

fn cut(text: &str) -> String {
    let text = text.trim();
    match text.char_indices().nth(MAX_SOLUTION_CHARS) {
        Some((end, _)) => format!("{}…", text[..end].trim_end()),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn turns(lines: &[(Role, &str)]) -> Vec<SessionTurn> {
        let turn = |(place, (role, text)): (usize, &(Role, &str))| SessionTurn {
            id: MemoryId::from_bytes([place as u8 + 1; 16]),
            role: *role,
            text: (*text).to_owned(),
            quoted: String::new(),
            at: Timestamp::UNIX_EPOCH,
        };
        lines.iter().enumerate().map(turn).collect()
    }

    fn only(lines: &[(Role, &str)]) -> ObservedAttempt {
        let mut found = observed_attempts(&turns(lines), 0);
        assert_eq!(found.len(), 1, "{found:?}");
        found.remove(0)
    }

    #[test]
    fn the_same_call_that_succeeds_closes_a_failure() {
        let found = only(&[
            (
                Role::Tool,
                "[tool Bash failed] python app.py\nModuleNotFoundError: No module named 'yaml'",
            ),
            (Role::Tool, "[tool Bash succeeded] pip install pyyaml"),
            (Role::Tool, "[tool Bash succeeded] python app.py"),
        ]);
        assert_eq!(found.solution, "In between, this was run: Bash `pip install pyyaml`");
        assert!(found.pain.contains("No module named") && found.worked);
        assert_eq!((found.trust, found.evidence.len()), (Trust::Inferred, 2));
    }

    #[test]
    fn the_users_word_closes_a_failure_with_its_explanation_or_the_assistants() {
        let error = "$ cargo build\nerror: linker `cc` not found";
        let explained = only(&[
            (Role::User, error),
            (Role::Assistant, "Is a C compiler installed?"),
            (Role::User, "I installed build-essential and it works now"),
        ]);
        assert_eq!(
            (explained.trust, explained.solution.as_str()),
            (Trust::Said, "I installed build-essential and it works now")
        );
        let assistants = only(&[
            (Role::User, error),
            (Role::Assistant, "Install build-essential: the linker comes with it."),
            (Role::User, "that worked, thanks"),
        ]);
        assert_eq!(assistants.trust, Trust::Inferred);
        assert!(assistants.solution.starts_with("Install build-essential"));
    }

    #[test]
    fn chinese_conversations_are_read_too() {
        let found = only(&[
            (Role::User, "启动报错：端口 8080 已被占用"),
            (Role::Assistant, "先用 lsof -i :8080 找到占用的进程，结束它。"),
            (Role::User, "好了，谢谢"),
        ]);
        assert!(found.solution.contains("lsof") && found.outcome.contains("解决"));
    }

    #[test]
    fn what_is_not_solved_or_not_tried_is_no_success() {
        let error = (Role::User, "error: linker `cc` not found");
        for last in ["did that work?", "还是不行", "it still doesn't work", "thanks"] {
            let told = turns(&[error, (Role::Assistant, "Install gcc."), (Role::User, last)]);
            assert!(observed_attempts(&told, 0).iter().all(|found| !found.worked), "{last}");
        }
        assert!(observed_attempts(&turns(&[error, (Role::User, "好了")]), 0).is_empty());
    }

    #[test]
    fn a_printed_failure_needs_no_word_for_it() {
        for (failure, advice, solved) in [
            (
                "ModuleNotFoundError: No module named 'yaml'",
                "Run pip install pyyaml.",
                "that worked",
            ),
            (
                "I get ModuleNotFoundError: No module named 'yaml'",
                "Run pip install pyyaml.",
                "that worked",
            ),
            (
                "docker build says: no space left on device",
                "Run docker system prune -a.",
                "perfect, it works now",
            ),
            (
                "I get this when I run the tests:\nsqlite3.OperationalError: database is locked",
                "Close the other process.",
                "great, that worked!",
            ),
            ("跑测试报 database is locked", "先关掉另一个进程。", "解决了，谢谢"),
            ("一直报 No module named yaml", "pip install pyyaml 就行。", "可以了"),
            ("docker build 提示 no space left on device 怎么办", "清理一下镜像。", "清完就好了"),
        ] {
            let found =
                only(&[(Role::User, failure), (Role::Assistant, advice), (Role::User, solved)]);
            assert!(found.worked && found.solution == advice, "{found:?}");
        }
    }

    #[test]
    fn everyday_words_of_a_failure_are_none() {
        for said in [
            "Is the meeting room still in use?",
            "The door of the shed is locked",
            "我给老板报 A 方案，他同意了",
            "提示 Anna 明天带护照",
        ] {
            let told = turns(&[
                (Role::User, said),
                (Role::Assistant, "Ask the caretaker."),
                (Role::User, "that worked"),
            ]);
            assert!(observed_attempts(&told, 0).is_empty(), "{said}");
        }
    }

    #[test]
    fn a_thing_of_another_topic_solves_nothing() {
        let error = (
            Role::User,
            "cargo build says error[E0433]: failed to resolve: use of undeclared crate `serde`",
        );
        let advice = (Role::Assistant, "Add serde to Cargo.toml.");
        for aside in [
            "by the way, my bike is fixed now, the chain was rusty",
            "顺便说一下，我的自行车修好了，换了链条",
        ] {
            let told = turns(&[error, advice, (Role::User, aside)]);
            assert!(observed_attempts(&told, 0).is_empty(), "{aside}");
        }
        for answer in [
            "that fixed it",
            "I fixed the serde line in Cargo.toml",
            "the build is green now",
            "加上 serde 就好了",
        ] {
            let found = only(&[error, advice, (Role::User, answer)]);
            assert!(found.worked, "{answer}");
        }
    }

    #[test]
    fn one_message_may_tell_the_failure_and_its_cure() {
        for (text, cure) in [
            (
                "Finally fixed the ORA-12154: TNS:could not resolve the connect identifier thing: TNS_ADMIN pointed to the wrong folder.",
                "TNS_ADMIN pointed",
            ),
            (
                "刚才 pip 报 SSL: CERTIFICATE_VERIFY_FAILED，原来是公司代理的证书没装，装上就好了",
                "代理的证书",
            ),
            ("果然是磁盘满了，清理以后可以启动了", "清理以后"),
        ] {
            let found = only(&[(Role::User, text)]);
            assert!(found.solution.contains(cure), "{found:?}");
            assert_eq!((found.worked, found.trust), (true, Trust::Said));
        }
        for text in
            ["I finally fixed the door of the shed", "端口被占用了怎么办", "the tests are green"]
        {
            assert!(observed_attempts(&turns(&[(Role::User, text)]), 0).is_empty(), "{text}");
        }
    }

    #[test]
    fn a_failure_that_comes_back_is_a_failed_attempt() {
        let failed = "[tool Bash failed] make\nmake: *** No rule to make target 'all'.  Stop.";
        let found = only(&[
            (Role::Tool, failed),
            (Role::Tool, "[tool Bash succeeded] ./configure"),
            (Role::Tool, failed),
        ]);
        assert!(!found.worked && found.solution.contains("./configure"));
    }

    #[test]
    fn results_before_the_new_turns_are_not_told_again() {
        let told = turns(&[
            (Role::User, "error: linker `cc` not found"),
            (Role::Assistant, "Install gcc."),
            (Role::User, "that worked"),
            (Role::User, "next topic"),
        ]);
        assert_eq!(observed_attempts(&told, 2).len(), 1);
        assert!(observed_attempts(&told, 3).is_empty());
    }
}
