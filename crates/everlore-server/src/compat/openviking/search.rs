//! `/api/v1/search`: by meaning, by text, by name.

use std::collections::HashSet;

use everlore::{
    engine::fs::{FsFindRequest, FsGrepRequest, FsHit, MAX_PAGE_SIZE, to_viking},
    internal::text::sanitize::sanitize_verbatim,
    types::Tier,
};
use serde::Deserialize;
use serde_json::{Value, json};

use super::{
    envelope::{VikingResponse, VikingResult},
    tree::{virtual_folder, walk},
};
use crate::{Access, JsonBody, Problem, Reader};

/// Folder of all memories, without the turns.
const MEMORIES: &str = "memories";

/// Token budget of a context block by default.
const DEFAULT_TOKENS: usize = 2_000;

/// Entries that a search by name visits.
const MAX_WALKED: usize = MAX_PAGE_SIZE;

/// One uri or several.
#[derive(Deserialize)]
#[serde(untagged)]
enum OneOrMany {
    One(String),
    Many(Vec<String>),
}

/// Search by meaning. A search within a session is the same: the query says what matters.
#[derive(Deserialize)]
pub(super) struct FindBody {
    #[serde(default)]
    query: String,
    target_uri: Option<OneOrMany>,
    limit: Option<usize>,
    node_limit: Option<usize>,
    score_threshold: Option<f64>,
    context_type: Option<OneOrMany>,
    mode: Option<String>,
    max_tokens: Option<usize>,
}

impl FindBody {
    fn targets(&self) -> Vec<String> {
        let named = match &self.target_uri {
            Some(OneOrMany::One(uri)) => vec![uri.clone()],
            Some(OneOrMany::Many(uris)) => uris.clone(),
            None => Vec::new(),
        };
        let named: Vec<String> = named.into_iter().filter(|uri| !uri.is_empty()).collect();
        if named.is_empty() { vec!["viking://".to_owned()] } else { named }
    }

    fn wants_type(&self, context_type: &str) -> bool {
        match &self.context_type {
            None => true,
            Some(OneOrMany::One(one)) => one == context_type,
            Some(OneOrMany::Many(many)) => many.iter().any(|one| one == context_type),
        }
    }
}

pub(super) async fn find(
    Reader(access): Reader,
    JsonBody(query, _): JsonBody<FindBody>,
) -> VikingResult {
    if query.query.trim().is_empty() {
        return Err(Problem::invalid("there is no query", "give one in `query`"));
    }
    let limit = query.node_limit.or(query.limit).unwrap_or(10);
    let hits = find_hits(&access, &query, limit).await?;
    if query.mode.as_deref() == Some("context") {
        return context(&access, &query, hits).await;
    }
    let (mut memories, mut resources) = (Vec::new(), Vec::new());
    for hit in hits {
        let item = hit_json(&access, &hit).await?;
        if hit.document.is_some() { resources.push(item) } else { memories.push(item) }
    }
    let total = memories.len() + resources.len();
    VikingResponse::ok(
        json!({ "memories": memories, "resources": resources, "skills": [], "total": total }),
    )
}

/// Returns the best hits of all targets; of a document only its best chunk.
async fn find_hits(access: &Access, query: &FindBody, limit: usize) -> Result<Vec<FsHit>, Problem> {
    let (engine, mut all) = (access.engine(), Vec::<FsHit>::new());
    for target in query.targets() {
        let of_user = target.starts_with("viking://user") || target.starts_with("viking://~");
        let uri = match virtual_folder(&target, &access.scope) {
            Some(_) => MEMORIES.to_owned(),
            None => target,
        };
        let request = FsFindRequest {
            query: query.query.clone(),
            uri,
            limit,
            min_score: query.score_threshold.unwrap_or(0.0),
            explain: false,
        };
        let hits = engine.fs_find(&access.scope, &request).await?.found.into_iter();
        all.extend(hits.filter(|hit| !(of_user && hit.document.is_some())));
    }
    all.sort_by(|a, b| b.score.total_cmp(&a.score));
    let mut known = HashSet::new();
    all.retain(|hit| known.insert(hit.document.clone().unwrap_or_else(|| hit.uri.clone())));
    all.retain(|hit| query.wants_type(if hit.document.is_some() { "resource" } else { "memory" }));
    all.truncate(limit);
    Ok(all)
}

async fn hit_json(access: &Access, hit: &FsHit) -> Result<Value, Problem> {
    let overview = access.engine().fs_read(&access.scope, &hit.uri, Tier::L1).await?.text;
    let is_chunk = hit.document.is_some();
    let uri = hit.document.as_ref().unwrap_or(&hit.uri);
    Ok(json!({
        "uri": to_viking(uri, &access.scope),
        "context_type": if is_chunk { "resource" } else { "memory" },
        "level": 2,
        "abstract": sanitize_verbatim(&hit.summary),
        "overview": sanitize_verbatim(&overview),
        "category": hit.kind,
        "score": hit.score,
        "match_reason": "",
        "relations": [],
    }))
}

/// Returns the memory block of a prompt, and its entries.
async fn context(access: &Access, query: &FindBody, hits: Vec<FsHit>) -> VikingResult {
    let engine = access.engine();
    let request = engine.context_request(&access.scope, query.query.as_str());
    let budget = query.max_tokens.unwrap_or(DEFAULT_TOKENS);
    let block = engine.context(&request, budget).await?;
    let entries: Vec<Value> = hits
        .iter()
        .map(|hit| {
            let uri = to_viking(hit.document.as_ref().unwrap_or(&hit.uri), &access.scope);
            json!({ "uri": uri, "category": hit.kind, "score": hit.score, "detail": "abstract", "text": sanitize_verbatim(&hit.summary) })
        })
        .collect();
    let stats = json!({ "tokens": block.tokens });
    VikingResponse::ok(json!({ "entries": entries, "rendered": block.text, "stats": stats }))
}

/// Search by text.
#[derive(Deserialize)]
pub(super) struct GrepBody {
    uri: String,
    pattern: String,
    #[serde(default)]
    case_insensitive: bool,
    node_limit: Option<usize>,
}

/// Searches by regular expression, as OpenViking does.
pub(super) async fn grep(
    Reader(access): Reader,
    JsonBody(body, _): JsonBody<GrepBody>,
) -> VikingResult {
    let uri =
        if virtual_folder(&body.uri, &access.scope).is_some() { String::new() } else { body.uri };
    let request = FsGrepRequest {
        pattern: body.pattern,
        uri,
        regex: true,
        ignore_case: body.case_insensitive,
        limit: body.node_limit.unwrap_or(256),
    };
    let report = access.engine().fs_grep(&access.scope, &request).await?;
    let matches: Vec<Value> = report
        .matches
        .iter()
        .map(|line| {
            let uri = to_viking(&line.uri, &access.scope);
            json!({ "uri": uri, "line": line.line, "content": sanitize_verbatim(&line.text) })
        })
        .collect();
    let count = matches.len();
    VikingResponse::ok(
        json!({ "matches": matches, "count": count, "match_count": count, "files_scanned": report.read }),
    )
}

/// Search by name.
#[derive(Deserialize)]
pub(super) struct GlobBody {
    pattern: String,
    #[serde(default = "everywhere")]
    uri: String,
    node_limit: Option<usize>,
}

fn everywhere() -> String {
    "viking://".to_owned()
}

pub(super) async fn glob(
    Reader(access): Reader,
    JsonBody(body, _): JsonBody<GlobBody>,
) -> VikingResult {
    let (walked, _) = walk(&access, &body.uri, usize::MAX, MAX_WALKED).await?;
    let pattern: Vec<&str> = body.pattern.trim_start_matches('/').split('/').collect();
    let fits = |path: &String| matches_path(&pattern, &path.split('/').collect::<Vec<_>>());
    let matches = walked.into_iter().filter(|(path, _)| fits(path)).map(|(_, entry)| entry.uri);
    let matches: Vec<String> = matches.take(body.node_limit.unwrap_or(256)).collect();
    let count = matches.len();
    VikingResponse::ok(json!({ "matches": matches, "count": count }))
}

/// Matches the segments of a path against a pattern; `**` stands for any number of segments. All positions that the
/// pattern can have reached are followed at once, so that no pattern takes long.
fn matches_path(pattern: &[&str], path: &[&str]) -> bool {
    let mut reached = vec![false; path.len() + 1];
    reached[0] = true;
    for part in pattern {
        let mut next = vec![false; path.len() + 1];
        for at in 0..=path.len() {
            if *part == "**" {
                next[at] = reached[at] || (at > 0 && next[at - 1]);
            } else if at > 0 {
                next[at] = reached[at - 1] && matches_segment(part, path[at - 1]);
            }
        }
        reached = next;
    }
    reached[path.len()]
}

/// Matches a name: `*` stands for any characters and `?` for one.
fn matches_segment(pattern: &str, name: &str) -> bool {
    let (pattern, name): (Vec<char>, Vec<char>) =
        (pattern.chars().collect(), name.chars().collect());
    let (mut at, mut from) = (0, 0);
    let mut star: Option<(usize, usize)> = None;
    while from < name.len() {
        if pattern.get(at).is_some_and(|it| *it == '?' || (*it != '*' && *it == name[from])) {
            (at, from) = (at + 1, from + 1);
        } else if pattern.get(at) == Some(&'*') {
            star = Some((at, from));
            at += 1;
        } else if let Some((stood, taken)) = star {
            star = Some((stood, taken + 1));
            (at, from) = (stood + 1, taken + 1);
        } else {
            return false;
        }
    }
    pattern[at..].iter().all(|it| *it == '*')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_fit_their_patterns_in_any_language() {
        let matches = |pattern: &str, path: &str| {
            matches_path(
                &pattern.split('/').collect::<Vec<_>>(),
                &path.split('/').collect::<Vec<_>>(),
            )
        };
        for (pattern, path) in [
            ("**/*.md", "a/b/部署.md"),
            ("**/*.md", "部署.md"),
            ("手册/*.md", "手册/部署.md"),
            ("*署?md", "部署.md"),
            ("**", "a/b"),
            ("a*b*c", "aXXbYYbc"),
        ] {
            assert!(matches(pattern, path), "{pattern} {path}");
        }
        assert!(!matches(&"**/a/".repeat(500), &"a/".repeat(20)), "and no pattern takes long");
        for (pattern, path) in
            [("*.md", "a/b.md"), ("**/*.md", "a/b.txt"), ("a*b", "ac"), ("?", "ab"), ("a", "a/b")]
        {
            assert!(!matches(pattern, path), "{pattern} {path}");
        }
    }
}
