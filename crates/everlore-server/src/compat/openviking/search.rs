//! `/api/v1/search`: by meaning, by text, by name.

use std::{collections::HashSet, time::Instant};

use everlore::{
    engine::fs::{FsFindRequest, FsGrepRequest, FsHit, MAX_PAGE_SIZE, to_viking},
    types::Tier,
};
use serde::Deserialize;
use serde_json::{Value, json};

use super::{
    envelope::{VikingResponse, VikingResult},
    tree::{virtual_folder, walk},
};
use crate::{
    auth::{Access, Reader},
    body::JsonBody,
    problem::Problem,
};

/// Memories of all kinds, without what was said word for word.
const MEMORIES: &str = "memories";

/// Tokens of a context block, unless more are asked for.
const DEFAULT_TOKENS: usize = 2_000;

/// Entries that a search by name looks at.
const MAX_WALKED: usize = MAX_PAGE_SIZE;

/// One uri or several.
#[derive(Deserialize)]
#[serde(untagged)]
enum OneOrMany {
    One(String),
    Many(Vec<String>),
}

/// What to find by meaning. A search of a conversation is the same: the query says what matters.
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

    fn wants_type(&self, sort: &str) -> bool {
        match &self.context_type {
            None => true,
            Some(OneOrMany::One(one)) => one == sort,
            Some(OneOrMany::Many(many)) => many.iter().any(|one| one == sort),
        }
    }
}

pub(super) async fn find(
    Reader(access): Reader,
    JsonBody(query, _): JsonBody<FindBody>,
) -> VikingResult {
    let began = Instant::now();
    if query.query.trim().is_empty() {
        return Err(Problem::invalid("there is no query", "say what to look for"));
    }
    let limit = query.node_limit.or(query.limit).unwrap_or(10);
    let found = find_hits(&access, &query, limit).await?;
    if query.mode.as_deref() == Some("context") {
        return context(&access, &query, found, began).await;
    }
    let (mut memories, mut resources) = (Vec::new(), Vec::new());
    for one in found {
        let told = hit_json(&access, &one).await?;
        if one.document.is_some() { resources.push(told) } else { memories.push(told) }
    }
    let total = memories.len() + resources.len();
    VikingResponse::ok(
        began,
        json!({ "memories": memories, "resources": resources, "skills": [], "total": total }),
    )
}

/// The best of all targets; of a document, the best piece only.
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
        let found = engine.fs_find(&access.scope, &request).await?.found.into_iter();
        all.extend(found.filter(|one| !(of_user && one.document.is_some())));
    }
    all.sort_by(|a, b| b.score.total_cmp(&a.score));
    let mut seen = HashSet::new();
    all.retain(|one| seen.insert(one.document.clone().unwrap_or_else(|| one.uri.clone())));
    all.retain(|one| query.wants_type(if one.document.is_some() { "resource" } else { "memory" }));
    all.truncate(limit);
    Ok(all)
}

async fn hit_json(access: &Access, one: &FsHit) -> Result<Value, Problem> {
    let overview = access.engine().fs_read(&access.scope, &one.uri, Tier::L1).await?.text;
    let is_piece = one.document.is_some();
    let uri = one.document.as_ref().unwrap_or(&one.uri);
    Ok(json!({
        "uri": to_viking(uri, &access.scope),
        "context_type": if is_piece { "resource" } else { "memory" },
        "level": 2,
        "abstract": one.summary,
        "overview": overview,
        "category": one.kind,
        "score": one.score,
        "match_reason": "",
        "relations": [],
    }))
}

/// The block for a prompt, and what it was made of.
async fn context(
    access: &Access,
    query: &FindBody,
    found: Vec<FsHit>,
    began: Instant,
) -> VikingResult {
    let engine = access.engine();
    let request = engine.context_request(&access.scope, query.query.as_str());
    let budget = query.max_tokens.unwrap_or(DEFAULT_TOKENS);
    let block = engine.context(&request, budget).await?;
    let entries: Vec<Value> = found
        .iter()
        .map(|one| {
            let uri = to_viking(one.document.as_ref().unwrap_or(&one.uri), &access.scope);
            json!({ "uri": uri, "category": one.kind, "score": one.score, "detail": "abstract", "text": one.summary })
        })
        .collect();
    let stats = json!({ "tokens": block.tokens });
    VikingResponse::ok(began, json!({ "entries": entries, "rendered": block.text, "stats": stats }))
}

/// What to find by text.
#[derive(Deserialize)]
pub(super) struct GrepBody {
    uri: String,
    pattern: String,
    #[serde(default)]
    case_insensitive: bool,
    node_limit: Option<usize>,
}

/// Patterns of that system are regular expressions.
pub(super) async fn grep(
    Reader(access): Reader,
    JsonBody(body, _): JsonBody<GrepBody>,
) -> VikingResult {
    let began = Instant::now();
    let uri =
        if virtual_folder(&body.uri, &access.scope).is_some() { String::new() } else { body.uri };
    let request = FsGrepRequest {
        pattern: body.pattern,
        uri,
        regex: true,
        ignore_case: body.case_insensitive,
        limit: body.node_limit.unwrap_or(256),
    };
    let grepped = access.engine().fs_grep(&access.scope, &request).await?;
    let matches: Vec<Value> = grepped
        .matches
        .iter()
        .map(|one| {
            let uri = to_viking(&one.uri, &access.scope);
            json!({ "uri": uri, "line": one.line, "content": one.text })
        })
        .collect();
    let count = matches.len();
    VikingResponse::ok(
        began,
        json!({ "matches": matches, "count": count, "match_count": count, "files_scanned": grepped.read }),
    )
}

/// What to find by name.
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
    let began = Instant::now();
    let (walked, _) = walk(&access, &body.uri, usize::MAX, MAX_WALKED).await?;
    let pattern: Vec<&str> = body.pattern.trim_start_matches('/').split('/').collect();
    let fits = |path: &String| matches_path(&pattern, &path.split('/').collect::<Vec<_>>());
    let found = walked.into_iter().filter(|(path, _)| fits(path)).map(|(_, entry)| entry.uri);
    let found: Vec<String> = found.take(body.node_limit.unwrap_or(256)).collect();
    let count = found.len();
    VikingResponse::ok(began, json!({ "matches": found, "count": count }))
}

/// Whether the parts of a path fit those of a pattern; `**` stands for any number of them. The places in the path that the
/// pattern so far can lead to are all followed at once, so that no pattern takes long.
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

/// Whether a name fits: `*` stands for any characters and `?` for one.
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
        let fits = |pattern: &str, path: &str| {
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
            assert!(fits(pattern, path), "{pattern} {path}");
        }
        assert!(!fits(&"**/a/".repeat(500), &"a/".repeat(20)), "and no pattern takes long");
        for (pattern, path) in
            [("*.md", "a/b.md"), ("**/*.md", "a/b.txt"), ("a*b", "ac"), ("?", "ab"), ("a", "a/b")]
        {
            assert!(!fits(pattern, path), "{pattern} {path}");
        }
    }
}
