//! `everlore observe`: stores turns from an argument or from standard input, word for word, as they arrive.
//!
//! A thread reads standard input. All lines that arrived while the last batch was written make the next batch, so a
//! slow conversation gets prompt answers and a large file shares its syncs.

use std::{collections::BTreeSet, io, thread};

use clap::Args;
use everlore::{
    MemoryId, Turn,
    engine::{SavedMemory, SecretKind},
    internal::{ingest::ExportLine, to_millisecond},
    types::{RecordedAnswer, RecordedCall, Role, Timestamp},
};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use tokio::sync::mpsc;

use super::session::extract_ended;
use crate::{
    CliContext, CliError, Exit, Output, Result,
    input::{LineReader, NumberedLine},
    rescue_log,
    times::parse_time_spec,
};

/// Most turns of a batch: enough to share a sync, few enough that none waits long.
const MAX_BATCH: usize = 512;

/// Most bytes of a batch: long turns gain nothing from sharing a sync.
const MAX_BATCH_BYTES: usize = 8 * 1024 * 1024;

/// Store a turn of a conversation, or one per line from standard input
///
/// Without TEXT, a line is a JSON object {"text","session","speaker","role","time"}, of which only the text is
/// required, or plain text. Each stored turn is answered with a line {"id":…} once it is safe on disk, with "masked" if
/// it held secrets; a line that cannot be stored is answered with {"error":…,"line":N}. Empty lines are skipped.
#[derive(Debug, Args)]
pub(crate) struct ObserveArgs {
    /// Text of the turn; without it, turns are read from standard input
    text: Option<String>,
    /// The conversation of turns that name none; a new one if left out
    #[arg(long, value_name = "NAME")]
    session: Option<String>,
    /// The speaker of turns that name none
    #[arg(long, value_name = "NAME")]
    speaker: Option<String>,
    /// The role of turns that name none: user, assistant, system or tool
    #[arg(long, value_name = "ROLE", value_parser = parse_role)]
    role: Option<Role>,
    /// Take every line as plain text, even if it looks like JSON
    #[arg(long)]
    plain: bool,
    /// End the conversations when the input ends, so that memories are extracted from them
    #[arg(long)]
    end: bool,
}

/// Turn as a JSON line.
#[derive(Default, Deserialize)]
#[serde(default)]
struct RawTurn {
    text: String,
    session: Option<String>,
    speaker: Option<String>,
    role: Option<Role>,
    time: Option<String>,
    call: Option<RecordedCall>,
    answer: Option<RecordedAnswer>,
    /// Fields that a turn does not have.
    #[serde(flatten)]
    unknown: Map<String, Value>,
}

/// Answer for a stored turn.
#[derive(Clone, Serialize)]
struct StoredTurnView {
    id: MemoryId,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    masked: Vec<SecretKind>,
    /// Fields of the line that were not read.
    #[serde(skip_serializing_if = "Option::is_none")]
    warning: Option<String>,
}

/// Outcome of one line.
struct LineOutcome {
    number: usize,
    turn: Result<Turn>,
    saved: Option<Result<StoredTurnView>>,
    /// Fields that were not read.
    unknown: Vec<String>,
}

impl ObserveArgs {
    /// Reads turns until the end of standard input.
    pub(crate) async fn run(mut self, cx: &CliContext, out: &mut Output) -> Result<Exit> {
        if self.session.as_ref().is_none_or(|session| session.trim().is_empty()) {
            self.session = Some(new_session_name(cx));
        }
        let mut lines = match self.text.take() {
            Some(text) if text.trim().is_empty() => return Err(empty_turn()),
            Some(text) => {
                self.plain = true;
                single_line(text)
            }
            None => spawn_line_reader(),
        };
        let mut all_stored = true;
        let mut sessions = BTreeSet::new();
        while let Some(batch) = next_batch(&mut lines).await {
            let now = to_millisecond(cx.now().timestamp());
            let mut outcomes: Vec<LineOutcome> = batch
                .into_iter()
                .filter_map(|line| self.parse_line(line, now).transpose())
                .collect::<Result<_>>()?;
            store_batch(cx, &mut outcomes).await;
            sessions.extend(outcomes.iter().filter_map(LineOutcome::stored_session));
            for outcome in outcomes {
                all_stored &= print_outcome(out, outcome)?;
            }
            out.flush()?;
        }
        if self.end {
            end_sessions(cx, sessions).await?;
        }
        Ok(Exit::from_success(all_stored))
    }

    /// Parses a line; `None` if it is blank. An error of the stream ends the command.
    fn parse_line(
        &self,
        line: Result<NumberedLine>,
        now: Timestamp,
    ) -> Result<Option<LineOutcome>> {
        let NumberedLine { number, bytes } = line?;
        let mut unknown = Vec::new();
        let turn = match bytes.and_then(decode_utf8) {
            Ok(text) if text.trim().is_empty() => return Ok(None),
            Ok(text) => self.to_turn(text, now, &mut unknown),
            Err(error) => Err(error),
        };
        Ok(Some(LineOutcome { number, turn, saved: None, unknown }))
    }

    fn to_turn(&self, text: String, now: Timestamp, unknown: &mut Vec<String>) -> Result<Turn> {
        let raw: RawTurn = if self.plain || !text.trim_start().starts_with('{') {
            RawTurn { text, ..RawTurn::default() }
        } else {
            serde_json::from_str(&text).map_err(|error| invalid_turn(&error.to_string()))?
        };
        unknown.extend(raw.unknown.keys().cloned());
        if raw.text.trim().is_empty() && raw.call.is_none() {
            return Err(invalid_turn("its text is empty"));
        }
        let time = match raw.time {
            Some(time) => parse_time_spec(&time).map_err(|error| invalid_turn(&error))?.start(),
            None => now,
        };
        Ok(Turn {
            text: raw.text,
            session: raw.session.or_else(|| self.session.clone()),
            speaker: raw.speaker.or_else(|| self.speaker.clone()),
            role: raw.role.or(self.role),
            time: Some(time),
            call: raw.call,
            answer: raw.answer,
        })
    }
}

impl LineOutcome {
    /// Returns the session of a turn that was stored.
    fn stored_session(&self) -> Option<String> {
        let stored = self.saved.as_ref().is_some_and(Result::is_ok);
        self.turn.as_ref().ok().filter(|_| stored)?.session.clone()
    }
}

/// Marks sessions as ended, and extracts memories from them if that needs no model.
async fn end_sessions(cx: &CliContext, sessions: BTreeSet<String>) -> Result<()> {
    let engine = cx.capture_engine().await?;
    for session in &sessions {
        engine.mark_session_ended(&cx.scope, session).await?;
    }
    // A model is slow: `everlore extract`, or a process that keeps running, asks it.
    for session in sessions.iter().filter(|_| engine.captures_without_model(&cx.scope)) {
        extract_ended(&engine, &cx.scope, session).await?;
    }
    Ok(())
}

/// Stores the turns of a batch, all together if possible.
async fn store_batch(cx: &CliContext, outcomes: &mut [LineOutcome]) {
    let turns: Vec<Turn> =
        outcomes.iter().filter_map(|line| line.turn.as_ref().ok().cloned()).collect();
    let mut saved = match store_turns(cx, &turns).await {
        Err(error) if !error.is_storage() && turns.len() > 1 => store_one_by_one(cx, &turns).await,
        Err(error) => vec![Err(error); turns.len()],
        Ok(ids) => ids.into_iter().map(Ok).collect::<Vec<_>>(),
    }
    .into_iter();
    for outcome in outcomes.iter_mut().filter(|outcome| outcome.turn.is_ok()) {
        outcome.saved = saved.next();
    }
}

/// Stores each turn by itself, so that a rejected one does not affect the others.
async fn store_one_by_one(cx: &CliContext, turns: &[Turn]) -> Vec<Result<StoredTurnView>> {
    let mut saved = Vec::with_capacity(turns.len());
    for turn in turns {
        let stored = store_turns(cx, std::slice::from_ref(turn)).await;
        saved.push(stored.map(|mut stored| stored.remove(0)));
    }
    saved
}

/// Stores turns, all or none; turns that the disk refuses go to the rescue log.
async fn store_turns(cx: &CliContext, turns: &[Turn]) -> Result<Vec<StoredTurnView>> {
    let saved = async {
        let saved = cx.engine().await?.observe(&cx.scope, turns.to_vec()).await?;
        let stored = |saved: SavedMemory| StoredTurnView {
            id: saved.id,
            masked: saved.masked,
            warning: None,
        };
        Ok(saved.into_iter().map(stored).collect())
    };
    saved.await.map_err(|error: CliError| {
        if !error.is_storage() {
            return error;
        }
        let lines: Vec<ExportLine> =
            turns.iter().cloned().map(|turn| ExportLine::Turn(Box::new(turn))).collect();
        rescue_log::rescue_lines(cx, lines, error)
    })
}

/// Prints the answer for a line; returns `false` if it was not stored.
fn print_outcome(out: &mut Output, outcome: LineOutcome) -> Result<bool> {
    let error = match (outcome.turn, outcome.saved) {
        (_, Some(Ok(mut stored))) => {
            stored.warning = unread_fields(&outcome.unknown);
            return out.json(&stored).map(|()| true);
        }
        (Err(error), _) | (_, Some(Err(error))) => error,
        (Ok(_), None) => CliError::new("store", "the turn was not stored", "try again"),
    };
    match error {
        CliError::BrokenPipe => Err(error),
        CliError::Reported(report) => {
            out.json(&json!({ "error": report, "line": outcome.number })).map(|()| false)
        }
    }
}

/// Returns the warning about fields that a turn does not have, such as `at` for `time`.
fn unread_fields(fields: &[String]) -> Option<String> {
    (!fields.is_empty()).then(|| {
        format!("not read: {}; a turn has text, session, speaker, role and time", fields.join(", "))
    })
}

/// Returns a text as the only line.
fn single_line(text: String) -> mpsc::Receiver<Result<NumberedLine>> {
    let (sender, lines) = mpsc::channel(1);
    let line = NumberedLine { number: 1, bytes: Ok(text.into_bytes()) };
    sender.try_send(Ok(line)).expect("room for one line");
    lines
}

/// Reads standard input on a thread of its own.
pub(crate) fn spawn_line_reader() -> mpsc::Receiver<Result<NumberedLine>> {
    let (sender, lines) = mpsc::channel(MAX_BATCH);
    thread::spawn(move || {
        let mut source = LineReader::new(io::stdin().lock());
        while let Some(line) = source.next_line().transpose() {
            let is_last = line.is_err();
            if sender.blocking_send(line).is_err() || is_last {
                break;
            }
        }
    });
    lines
}

/// Waits for the next line and takes all others that have arrived.
async fn next_batch(
    lines: &mut mpsc::Receiver<Result<NumberedLine>>,
) -> Option<Vec<Result<NumberedLine>>> {
    let size = |line: &Result<NumberedLine>| match line {
        Ok(NumberedLine { bytes: Ok(bytes), .. }) => bytes.len(),
        _ => 0,
    };
    let mut batch = vec![lines.recv().await?];
    let mut bytes = size(&batch[0]);
    while batch.len() < MAX_BATCH && bytes < MAX_BATCH_BYTES {
        let Ok(line) = lines.try_recv() else { break };
        bytes += size(&line);
        batch.push(line);
    }
    Some(batch)
}

/// Returns a name for a new conversation: the time, and a few digits in case two begin at once.
pub(crate) fn new_session_name(cx: &CliContext) -> String {
    let now = cx.now();
    let id = MemoryId::new(now.timestamp()).to_string();
    format!("{}-{}", now.strftime("%Y-%m-%dT%H-%M-%S"), &id[id.len() - 4..])
}

fn decode_utf8(bytes: Vec<u8>) -> Result<String> {
    String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to() + 1;
        CliError::invalid(
            format!("the line is not valid UTF-8 at byte {at}"),
            "convert it first, for example with: iconv -t UTF-8",
        )
    })
}

fn empty_turn() -> CliError {
    CliError::invalid(
        "the turn is empty",
        "write what was said: everlore observe \"I moved to Lisbon.\"",
    )
}

fn invalid_turn(reason: &str) -> CliError {
    CliError::invalid(
        format!("the line is not a turn: {reason}"),
        r#"write {"text":"…"} with "session", "speaker", "role" or "time" if you like, or use --plain"#,
    )
}

fn parse_role(text: &str) -> Result<Role, String> {
    serde_json::from_value(json!(text.to_lowercase()))
        .map_err(|_| "use user, assistant, system or tool".to_owned())
}
