//! `everlore recall`: finds memories for a query.

use std::path::PathBuf;

use clap::Args;
use everlore::{
    Engine, Hit, MemoryId, Recall, RecallRequest,
    engine::{HitSignals, ScoreFactors},
};
use jiff::Zoned;
use serde::Serialize;
use serde_json::{Map, Value};

use super::{calibrate, check_args::check_status_line, explain, filter_args::FilterArgs, why_not};
use crate::{
    CliContext, CliError, Exit, Output, Result, input,
    messages::translate,
    output::terminal_width,
    render::{TITLE_CELLS, indent, memory_title, sanitize, truncate_width},
    settings::read_domain,
    times::{TimeSpec, format_age, parse_time_spec},
};

/// Find the memories that are relevant for a question, best first
#[derive(Debug, Args)]
pub(crate) struct RecallArgs {
    /// The question; without it, or with `-`, it is read from standard input
    ///
    /// The single word `calibrate` fits the confidence of recall to your memories instead: it makes questions from them
    /// and asks them of the half they were made from, and of the other half. `recall -- calibrate` searches for the
    /// word.
    query: Vec<String>,
    /// The query after `--`, whatever it looks like
    #[arg(last = true, value_name = "QUERY", hide = true)]
    literal: Vec<String>,
    #[command(flatten)]
    filter: FilterArgs,
    /// The most memories to return [default: from the settings]
    #[arg(long, value_name = "NUMBER")]
    limit: Option<usize>,
    /// Leave out memories with a lower score, from 0 to 1
    #[arg(long, value_name = "SCORE", default_value_t = 0.0, hide_default_value = true)]
    min_score: f64,
    /// Return nothing if the confidence that the best memory answers is lower, from 0 to 1
    #[arg(long, value_name = "SHARE", default_value_t = 0.0, hide_default_value = true)]
    min_confidence: f64,
    /// Also use this domain vocabulary (docs/configuration-guide.md); may be repeated
    #[arg(long, value_name = "FILE")]
    domain: Vec<PathBuf>,
    /// Search the memories as they were at this time; a day is included
    #[arg(long, value_name = "TIME", value_parser = parse_time_spec, conflicts_with = "why_not")]
    as_of: Option<TimeSpec>,
    /// Show the parts of each score
    #[arg(long)]
    explain: bool,
    /// With `calibrate`: only show what would change
    #[arg(long, conflicts_with = "reset")]
    dry_run: bool,
    /// With `calibrate`: go back to the shipped confidence
    #[arg(long)]
    reset: bool,
    /// Explain why this memory was not returned
    #[arg(long, value_name = "ID")]
    why_not: Option<String>,
}

/// Answer for programs.
#[derive(Serialize)]
struct RecallView<'a> {
    query: &'a str,
    hits: Vec<HitView<'a>>,
    abstained: bool,
    confidence: f64,
    candidates: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    without_meaning: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    judgement: Option<&'a everlore::engine::ConfidenceEstimate>,
    #[serde(skip_serializing_if = "Option::is_none")]
    intent: Option<&'a everlore::engine::Intent>,
}

/// Hit for programs.
#[derive(Serialize)]
struct HitView<'a> {
    id: MemoryId,
    uri: &'a str,
    kind: everlore::Kind,
    name: &'a str,
    description: &'a str,
    content: &'a str,
    score: f64,
    at: everlore::types::Timestamp,
    session: Option<&'a str>,
    speaker: Option<&'a str>,
    role: Option<everlore::types::Role>,
    tags: &'a [String],
    status: everlore::Status,
    #[serde(skip_serializing_if = "Option::is_none")]
    superseded_by: Option<MemoryId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    newer: Option<MemoryId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    check: Option<&'a everlore::types::CheckResult>,
    #[serde(skip_serializing_if = "Map::is_empty")]
    metadata: &'a Map<String, Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    explain: Option<ScoreView<'a>>,
}

#[derive(Serialize)]
struct ScoreView<'a> {
    signals: &'a HitSignals,
    factors: &'a ScoreFactors,
}

impl RecallArgs {
    /// Recalls, calibrates, or explains why a memory is not recalled.
    pub(crate) async fn run(self, cx: &CliContext, out: &mut Output) -> Result<Exit> {
        if self.is_calibrate() {
            return calibrate::run(self.dry_run, self.reset, cx, out).await;
        }
        let engine = &self.engine_with_domains(cx).await?;
        let request = self.to_request(engine, cx, out)?;
        if self.limit.is_some_and(|limit| limit > request.limit) {
            let most = request.limit;
            out.note(&format!("note: at most {most} are returned (memory.long_term.max_return)"));
        }
        if let Some(name) = &self.why_not {
            return why_not::explain_recall(&request, name, engine, cx, out).await;
        }
        let recall = match self.as_of {
            Some(at) => engine.recall_as_of(&request, at.last_instant()).await?,
            None => engine.recall(&request).await?,
        };
        if out.is_json() {
            out.json(&recall_view(&request.query, &recall, self.explain))?;
        } else {
            print_recall(&recall, self.explain, cx, out).await?;
        }
        Ok(Exit::from_found(!recall.hits.is_empty()))
    }

    /// Returns the engine with the domain vocabularies of `--domain`.
    async fn engine_with_domains(&self, cx: &CliContext) -> Result<Engine> {
        let mut domains = cx.engine().await?.domains().clone();
        for path in &self.domain {
            let list =
                read_domain(path).map_err(|(message, hint)| CliError::invalid(message, hint))?;
            domains = domains.with_list(list);
        }
        Ok(cx.engine().await?.clone().rebuild().domains(domains).build())
    }

    /// Returns `true` if the query is the single word `calibrate`.
    pub(crate) fn is_calibrate(&self) -> bool {
        self.query == ["calibrate"] && self.literal.is_empty()
    }

    fn to_request(
        &self,
        engine: &Engine,
        cx: &CliContext,
        out: &mut Output,
    ) -> Result<RecallRequest> {
        if self.dry_run || self.reset {
            let message = "--dry-run and --reset go with `everlore recall calibrate`";
            return Err(CliError::invalid(message, "leave them out to recall"));
        }
        for (option, share) in
            [("--min-score", self.min_score), ("--min-confidence", self.min_confidence)]
        {
            if !(0.0..=1.0).contains(&share) {
                let message = format!("{option} is {share}");
                return Err(CliError::invalid(message, "it goes from 0 to 1"));
            }
        }
        let request = engine.recall_request(
            &cx.scope,
            input::query_or_stdin(&[&self.query[..], &self.literal[..]].concat(), "recall", out)?,
        );
        let most = cx.agent_config().memory.long_term.max_return;
        Ok(RecallRequest {
            filter: self.filter.to_filter(),
            limit: self.limit.unwrap_or(request.limit).min(most),
            min_score: self.min_score,
            min_confidence: self.min_confidence,
            ..request
        })
    }
}

fn recall_view<'a>(query: &'a str, recall: &'a Recall, explained: bool) -> RecallView<'a> {
    RecallView {
        query,
        hits: recall.hits.iter().map(|hit| hit_view(hit, explained)).collect(),
        abstained: recall.abstained,
        confidence: recall.confidence,
        candidates: recall.candidates,
        without_meaning: recall.without_meaning.as_deref(),
        judgement: explained.then_some(&recall.judgement),
        intent: explained.then_some(&recall.intent),
    }
}

fn hit_view(hit: &Hit, explained: bool) -> HitView<'_> {
    let memory = &hit.memory;
    HitView {
        id: memory.id,
        uri: &memory.uri,
        kind: memory.kind,
        name: &memory.name,
        description: &memory.description,
        content: &memory.content,
        score: hit.score,
        at: memory.at,
        session: memory.source.session.as_deref(),
        speaker: memory.source.speaker.as_deref(),
        role: memory.source.role,
        tags: &memory.tags,
        status: memory.status,
        superseded_by: memory.superseded_by,
        newer: hit.newer,
        check: hit.check.as_ref(),
        metadata: &memory.metadata,
        explain: explained.then_some(ScoreView { signals: &hit.signals, factors: &hit.factors }),
    }
}

async fn print_recall(
    recall: &Recall,
    explained: bool,
    cx: &CliContext,
    out: &mut Output,
) -> Result<()> {
    if recall.hits.is_empty() {
        out.note("nothing found");
        return Ok(());
    }
    let now = cx.now();
    let all: Vec<_> = recall.hits.iter().map(|hit| hit.memory.id).collect();
    let short = cx.engine().await?.shorten_ids(&cx.scope, &all).await?;
    if explained {
        out.say_text(&explain::render_intent(recall))?;
    }
    for (number, (hit, id)) in recall.hits.iter().zip(short).enumerate() {
        if number > 0 {
            out.line("")?;
        }
        print_hit(number + 1, hit, &id, &now, out)?;
        if explained {
            out.say_text(&explain::render_hit(hit))?;
        }
    }
    Ok(())
}

fn print_hit(number: usize, hit: &Hit, id: &str, now: &Zoned, out: &mut Output) -> Result<()> {
    let memory = &hit.memory;
    let mut fields = vec![memory.kind.to_string(), format_age(memory.at, now), id.to_owned()];
    fields.extend(memory.source.session.as_deref().map(|name| sanitize(name).into_owned()));
    if memory.status != everlore::Status::Active {
        fields.push(translate(memory.status.as_str()).into_owned());
    }
    if hit.newer.is_some() {
        let note = match hit.held_until {
            Some(_) => "contradicted by a newer memory",
            None => "perhaps replaced by a newer memory",
        };
        fields.push(translate(note).into_owned());
    }
    fields.extend(hit.check.as_ref().map(|check| sanitize(&check_status_line(check)).into_owned()));
    let name = truncate_width(&memory_title(memory), title_cells(terminal_width()));
    out.line(&format!("{number}. {}  {} {:.2}", out.bold(&name), score_bar(hit.score), hit.score))?;
    out.line(&out.dim(&indent(&fields.join(" · "), 3)))?;
    out.line(&indent(&memory.content, 3))
}

/// Returns the cells for a title beside its number and its score.
fn title_cells(width: Option<usize>) -> usize {
    const SCORE_CELLS: usize = 20;
    width.map_or(TITLE_CELLS, |width| TITLE_CELLS.min(width.saturating_sub(SCORE_CELLS)))
}

/// Draws a score as a bar of eight cells.
fn score_bar(score: f64) -> String {
    let full = (score * 8.0).round().clamp(0.0, 8.0) as usize;
    "█".repeat(full) + &"░".repeat(8 - full)
}
