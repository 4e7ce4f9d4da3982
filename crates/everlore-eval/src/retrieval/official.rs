//! Readers for the files of LoCoMo and LongMemEval as their authors publish them.

use std::{collections::BTreeMap, collections::HashSet, fs, path::Path};

use anyhow::{Context, Result};
use jiff::{civil::DateTime, fmt::strtime};
use serde::{Deserialize, de::DeserializeOwned};
use serde_json::Value;

use super::{
    data::{BenchQuery, CorpusRow, DataSet},
    metrics::EXCLUDED_CATEGORY,
};

/// Conversation of LoCoMo with its questions.
#[derive(Deserialize)]
struct LocomoSample {
    sample_id: String,
    conversation: BTreeMap<String, Value>,
    qa: Vec<LocomoQuestion>,
}

#[derive(Deserialize)]
struct LocomoTurn {
    speaker: String,
    dia_id: String,
    text: String,
    blip_caption: Option<String>,
}

#[derive(Deserialize)]
struct LocomoQuestion {
    question: String,
    #[serde(default)]
    evidence: Vec<String>,
    category: u8,
}

/// Question of LongMemEval with the sessions to search.
#[derive(Deserialize)]
struct LongmemevalInstance {
    question_id: String,
    question_type: String,
    question: String,
    question_date: String,
    #[serde(default)]
    answer_session_ids: Vec<String>,
    haystack_dates: Vec<String>,
    haystack_session_ids: Vec<String>,
    haystack_sessions: Vec<Vec<LongmemevalTurn>>,
}

#[derive(Deserialize)]
struct LongmemevalTurn {
    role: String,
    content: String,
    #[serde(default)]
    has_answer: bool,
}

/// Reads LoCoMo: a turn is a row, with the caption of the picture it shares; the evidence turns are relevant.
pub(crate) fn locomo(path: &Path) -> Result<DataSet> {
    let samples: Vec<LocomoSample> = read(path)?;
    let mut set = DataSet::default();
    for sample in &samples {
        set.rows.extend(turns_of(sample)?);
    }
    let known: HashSet<&str> = set.rows.iter().map(|row| row.id.as_str()).collect();
    let queries = samples.iter().flat_map(|sample| questions_of(sample, &known));
    set.queries = queries.filter(|query| !query.relevant.is_empty()).collect();
    Ok(set)
}

/// Reads LongMemEval: each question has its own scope. Relevant are the turns marked as having the answer; where none
/// is marked, all turns of the answer sessions.
pub(crate) fn longmemeval(path: &Path) -> Result<DataSet> {
    let instances: Vec<LongmemevalInstance> = read(path)?;
    let mut set = DataSet::default();
    for instance in &instances {
        let (rows, query) = rows_and_query(instance)?;
        set.rows.extend(rows);
        if !query.relevant.is_empty() {
            set.queries.push(query);
        }
    }
    Ok(set)
}

fn read<T: DeserializeOwned>(path: &Path) -> Result<Vec<T>> {
    let text =
        fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
    let value: Value = serde_json::from_str(&text)?;
    // A file with one instance may lack the list around it.
    let list = if value.is_array() { value } else { Value::Array(vec![value]) };
    serde_json::from_value(list).with_context(|| format!("{} has another form", path.display()))
}

/// Returns the turns of a conversation, session by session.
fn turns_of(sample: &LocomoSample) -> Result<Vec<CorpusRow>> {
    let scope = &sample.sample_id;
    let number = |key: &String| key.strip_prefix("session_")?.parse::<u32>().ok();
    let mut sessions: Vec<u32> = sample.conversation.keys().filter_map(number).collect();
    sessions.sort_unstable();
    let mut rows = Vec::new();
    for session in sessions {
        let turns: Vec<LocomoTurn> =
            serde_json::from_value(sample.conversation[&format!("session_{session}")].clone())?;
        let date = sample.conversation.get(&format!("session_{session}_date_time"));
        let time = date.and_then(Value::as_str).map(locomo_time).transpose()?;
        rows.extend(turns.into_iter().map(|turn| CorpusRow {
            id: format!("{scope}/{}", turn.dia_id),
            scope: scope.clone(),
            session: Some(format!("{scope}/S{session}")),
            time: time.clone(),
            text: with_caption(&turn),
            speaker: Some(turn.speaker),
            kind: None,
            seq: None,
        }));
    }
    Ok(rows)
}

fn with_caption(turn: &LocomoTurn) -> String {
    match &turn.blip_caption {
        Some(caption) => format!("{} [shares {caption}]", turn.text),
        None => turn.text.clone(),
    }
}

fn questions_of<'a>(
    sample: &'a LocomoSample,
    known: &'a HashSet<&str>,
) -> impl Iterator<Item = BenchQuery> + 'a {
    let scope = &sample.sample_id;
    sample.qa.iter().enumerate().map(move |(number, question)| {
        // Some evidence names several turns in one string.
        let named = question.evidence.iter().flat_map(|turns| turns.split([';', ',', ' ']));
        let ids = named.map(|turn| format!("{scope}/{}", turn.trim()));
        let mut relevant: Vec<String> = ids.filter(|id| known.contains(id.as_str())).collect();
        relevant.dedup();
        BenchQuery {
            id: format!("{scope}/q{number}"),
            scope: scope.clone(),
            text: question.question.clone(),
            category: category(question.category).into(),
            relevant,
            ..BenchQuery::default()
        }
    })
}

fn category(number: u8) -> &'static str {
    match number {
        1 => "multi-hop",
        2 => "temporal",
        3 => "open-domain",
        4 => "single-hop",
        _ => EXCLUDED_CATEGORY,
    }
}

fn rows_and_query(instance: &LongmemevalInstance) -> Result<(Vec<CorpusRow>, BenchQuery)> {
    let scope = &instance.question_id;
    let (mut rows, mut marked, mut in_session) = (Vec::new(), Vec::new(), Vec::new());
    let dates = instance.haystack_dates.iter();
    let sessions = instance.haystack_session_ids.iter().zip(dates);
    for ((session, date), turns) in sessions.zip(&instance.haystack_sessions) {
        let time = longmemeval_time(date)?;
        for (number, turn) in turns.iter().enumerate() {
            let id = format!("{scope}/{session}/{number}");
            if turn.has_answer {
                marked.push(id.clone());
            }
            if instance.answer_session_ids.contains(session) {
                in_session.push(id.clone());
            }
            rows.push(CorpusRow {
                id,
                scope: scope.clone(),
                session: Some(format!("{scope}/{session}")),
                time: Some(time.clone()),
                speaker: Some(turn.role.clone()),
                text: turn.content.clone(),
                kind: None,
                seq: None,
            });
        }
    }
    let query = BenchQuery {
        id: scope.clone(),
        scope: scope.clone(),
        text: instance.question.clone(),
        category: instance.question_type.clone(),
        relevant: if marked.is_empty() { in_session } else { marked },
        time: Some(longmemeval_time(&instance.question_date)?),
        ..BenchQuery::default()
    };
    Ok((rows, query))
}

/// Parses a time such as "1:56 pm on 8 May, 2023".
fn locomo_time(text: &str) -> Result<String> {
    civil("%I:%M %p on %d %B, %Y", text)
}

/// Parses a time such as "2023/05/20 (Sat) 02:21".
fn longmemeval_time(text: &str) -> Result<String> {
    civil("%Y/%m/%d (%a) %H:%M", text)
}

fn civil(format: &str, text: &str) -> Result<String> {
    let parsed = strtime::parse(format, text).and_then(|time| time.to_datetime());
    let time: DateTime = parsed.with_context(|| format!("`{text}` is no time"))?;
    Ok(time.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(text: &str) -> tempfile::NamedTempFile {
        let file = tempfile::NamedTempFile::new().unwrap();
        fs::write(file.path(), text).unwrap();
        file
    }

    #[test]
    fn a_conversation_of_locomo_is_read_with_its_evidence() {
        let text = r#"[{"sample_id": "c", "conversation": {"speaker_a": "Ann", "speaker_b": "Bo",
            "session_2_date_time": "1:56 pm on 8 May, 2023",
            "session_2": [{"speaker": "Ann", "dia_id": "D2:1", "text": "See!", "blip_caption": "a photo of tea"}],
            "session_1_date_time": "12:05 am on 1 May, 2023",
            "session_1": [{"speaker": "Bo", "dia_id": "D1:1", "text": "Hi"}]},
            "qa": [{"question": "What tea?", "answer": 2022, "evidence": ["D1:1; D2:1"], "category": 1},
                   {"question": "None?", "evidence": ["D9:9"], "category": 2},
                   {"question": "Trick?", "evidence": ["D2:1"], "category": 5}]}]"#;
        let set = locomo(file(text).path()).unwrap();
        assert_eq!(set.rows[0].time.as_deref(), Some("2023-05-01T00:05:00"));
        assert_eq!(set.rows[1].time.as_deref(), Some("2023-05-08T13:56:00"));
        assert_eq!(set.rows[1].text, "See! [shares a photo of tea]");
        assert_eq!(set.queries.len(), 2);
        assert_eq!(set.queries[0].relevant, ["c/D1:1", "c/D2:1"]);
        assert_eq!(set.queries[1].category, EXCLUDED_CATEGORY);
    }

    #[test]
    fn an_instance_of_longmemeval_is_read_with_the_turns_that_answer_it() {
        let text = r#"{"question_id": "q", "question_type": "single", "question": "What degree?",
            "question_date": "2023/05/30 (Tue) 23:40", "answer": "x", "answer_session_ids": ["s1"],
            "haystack_dates": ["2023/05/20 (Sat) 02:21"], "haystack_session_ids": ["s1"],
            "haystack_sessions": [[{"role": "user", "content": "Hi"},
                                   {"role": "user", "content": "A degree", "has_answer": true}]]}"#;
        let set = longmemeval(file(text).path()).unwrap();
        assert_eq!(set.rows.len(), 2);
        assert_eq!(set.queries[0].relevant, ["q/s1/1"]);
        assert_eq!(set.queries[0].time.as_deref(), Some("2023-05-30T23:40:00"));
        let unmarked = text.replace(", \"has_answer\": true", "");
        let set = longmemeval(file(&unmarked).path()).unwrap();
        assert_eq!(set.queries[0].relevant, ["q/s1/0", "q/s1/1"]);
    }
}
