//! Scenario files: turns, extracted memories, changes, and the next prompt. Each runs on every store with the same
//! result. `UPDATE_SCENARIOS=1` writes the results into the files; review them.

use std::{
    cell::Cell,
    collections::VecDeque,
    fs,
    path::{Path, PathBuf},
    sync::{Arc, Mutex},
};

use async_trait::async_trait;
use everlore::{
    Config, Engine, Error, Kind, Memory, RememberRequest, Result, Scope, Status, Turn,
    engine::{
        DraftFate, DraftOutcome, ExtractRequest, ExtractionReport, NewExperience, ProposalView,
        ReflectRequest, SkillForm, SkillView,
    },
    llm::{ChatChunk, ChatModel, ChatRequest, ChatStream, StopReason, TokenUsage},
    store::{DirectoryStore, ListOrder, ListQuery, MemoryFilter, RamStore, SqliteStore, Store},
    types::{ChangeAuthor, HOOK_CAUSE, Role, Timestamp},
};

thread_local! {
    /// Time in the scenario that runs on this thread.
    static NOW: Cell<Timestamp> = const { Cell::new(Timestamp::UNIX_EPOCH) };
}

fn now() -> Timestamp {
    NOW.get()
}

/// Model that answers as the scenario says.
#[derive(Default)]
pub(crate) struct ScenarioModel(pub(crate) Mutex<VecDeque<String>>);

struct WholeAnswer(VecDeque<ChatChunk>);

#[async_trait]
impl ChatModel for ScenarioModel {
    fn name(&self) -> &str {
        "scripted"
    }

    async fn chat(&self, _: &ChatRequest) -> Result<Box<dyn ChatStream>> {
        match self.0.lock().unwrap().pop_front() {
            Some(text) if text != "offline" => {
                let tokens = TokenUsage { read: 900, cached: 0, written: 100 };
                let chunks =
                    [ChatChunk::Text(text), ChatChunk::End { stop: StopReason::Done, tokens }];
                Ok(Box::new(WholeAnswer(chunks.into())))
            }
            _ => Err(Error::Remote {
                message: "the provider cannot be reached".into(),
                hint: "try again".into(),
            }),
        }
    }
}

#[async_trait]
impl ChatStream for WholeAnswer {
    async fn next_chunk(&mut self) -> Result<Option<ChatChunk>> {
        Ok(self.0.pop_front())
    }
}

/// Run of a scenario on one store.
struct ScenarioPlayer {
    engine: Engine,
    model: Arc<ScenarioModel>,
    scope: Scope,
    folder: PathBuf,
}

impl ScenarioPlayer {
    fn new(store: Arc<dyn Store>, folder: &Path, with_model: bool) -> Self {
        let mut config = Config::default();
        config.memory_agent.enabled = with_model;
        config.memory_agent.model = "scripted".into();
        let model = Arc::new(ScenarioModel::default());
        let engine = Engine::builder(store)
            .config(config)
            .clock(now)
            .home(folder.join("home"))
            .chat_model(Arc::clone(&model) as Arc<dyn ChatModel>)
            .build();
        let scope = Scope::new("assistant", "sam").unwrap();
        Self { engine, model, scope, folder: folder.to_owned() }
    }

    /// Runs a line and returns its output.
    async fn act(&self, line: &str) -> Vec<String> {
        let (verb, rest) = line.split_once(' ').unwrap_or((line, ""));
        match verb {
            "now" => NOW.set(rest.parse().unwrap()),
            "say" => self.say(rest).await,
            "hook" => self.hook(rest).await,
            "skills" => return self.skills().await,
            "file" => return self.file(rest),
            "model" => self.model.0.lock().unwrap().push_back(rest.to_owned()),
            "end" => {
                assert!(self.engine.mark_session_ended(&self.scope, rest).await.unwrap(), "{rest}")
            }
            "extract" => return self.extract(rest == "--dry-run").await,
            "due" => return self.due().await,
            "memories" => return self.memories().await,
            "experiences" => return self.experiences().await,
            "quarantine" => return self.quarantine().await,
            "restore" => return self.restore(rest).await,
            "forget" => return self.forget(rest).await,
            "prompt" => return self.prompt(rest).await,
            "undo" => return self.undo().await,
            "reflect" => return self.reflect(rest == "--dry-run").await,
            "proposals" => return self.proposals().await,
            "approve" | "reject" | "rollback" => return self.decide(verb, rest).await,
            "layer" => return self.layer(rest).await,
            "write" => self.write_layer(rest).await,
            "profile" => return self.profile().await,
            "remember" => self.remember(rest).await,
            "learn" => self.learn(rest).await,
            "set" => return self.set_profile_field(rest).await,
            "nowhere" => self.assert_nowhere(rest),
            _ => panic!("unknown line: {line}"),
        }
        Vec::new()
    }

    async fn say(&self, rest: &str) {
        let (session, message) = rest.split_once(' ').unwrap();
        let (role, text) = message.split_once(": ").unwrap();
        let role: Role = serde_json::from_value(role.into()).unwrap();
        let turn = Turn {
            text: text.replace("\\n", "\n"),
            session: Some(session.into()),
            role: Some(role),
            ..Turn::default()
        };
        self.engine.observe(&self.scope, vec![turn]).await.unwrap();
    }

    /// Stores a tool call as the hook of a coding agent reports it.
    async fn hook(&self, rest: &str) {
        let (session, text) = rest.split_once(' ').unwrap();
        let author = ChangeAuthor {
            reason: Some(format!("{HOOK_CAUSE} claude-code")),
            ..ChangeAuthor::PERSON
        };
        let turn = Turn {
            text: text.replace("\\n", "\n"),
            session: Some(session.into()),
            role: Some(Role::Tool),
            ..Turn::default()
        };
        self.engine.on_behalf_of(author).observe(&self.scope, vec![turn]).await.unwrap();
    }

    async fn skills(&self) -> Vec<String> {
        let mut lines = Vec::new();
        for form in SkillForm::ALL {
            let line = |it: &SkillView| {
                let effect = format!("worked {} failed {}", it.effect.worked, it.effect.failed);
                format!(
                    "{} {} v{} {} {effect} | {}",
                    it.form, it.name, it.version, it.state, it.description
                )
            };
            let found = self.engine.skills(&self.scope, form, true).await.unwrap();
            lines.extend(found.iter().map(line));
        }
        lines
    }

    /// Returns a file of the scope, or that there is none.
    fn file(&self, name: &str) -> Vec<String> {
        let path = self.folder.join("home/agents/assistant/users/sam").join(name);
        match fs::read_to_string(path) {
            Ok(text) => text.lines().map(str::to_owned).collect(),
            Err(_) => vec!["no such file".to_owned()],
        }
    }

    async fn extract(&self, dry_run: bool) -> Vec<String> {
        let request = ExtractRequest { session: None, dry_run };
        let done = self.engine.extract(&self.scope, &request).await.unwrap();
        done.iter().flat_map(extraction_lines).collect()
    }

    async fn due(&self) -> Vec<String> {
        let mut lines = Vec::new();
        while let Some(extraction) = self.engine.extract_due().await.unwrap() {
            lines.extend(extraction_lines(&extraction));
        }
        lines
    }

    async fn all(&self) -> Vec<Memory> {
        let kinds = Kind::ALL.into_iter().filter(|kind| *kind != Kind::Turn).collect();
        let filter = MemoryFilter { kinds, ..MemoryFilter::default() };
        let page = ListQuery { filter, after: None, order: ListOrder::OldestFirst, limit: 1_000 };
        self.engine.list(&self.scope, &page).await.unwrap()
    }

    async fn memories(&self) -> Vec<String> {
        let line = |memory: &Memory| {
            let trust = memory.metadata["trust"].as_str().unwrap_or_default().to_owned();
            let until = memory.metadata.get("valid_until").and_then(|until| until.as_str());
            let until = until.map_or_else(String::new, |until| format!(" until {until}"));
            let status = match memory.status {
                Status::Active => String::new(),
                other => format!(" [{}{until}]", other.as_str()),
            };
            format!("{} ({trust}) {}{status}", memory.kind, memory.content.replace('\n', " / "))
        };
        self.all().await.iter().map(line).collect()
    }

    async fn experiences(&self) -> Vec<String> {
        let experiences = self.engine.experiences(&self.scope, 100, true).await.unwrap();
        let line = |it: &everlore::engine::ExperienceView| {
            let counts = format!("worked {} failed {} uses {}", it.worked, it.failed, it.uses);
            format!("{counts} {} | {}", it.pain, it.solution)
        };
        experiences.iter().map(line).collect()
    }

    async fn quarantine(&self) -> Vec<String> {
        let drafts = self.engine.quarantine(&self.scope).await.unwrap();
        let line = |draft: &everlore::types::QuarantinedDraft| {
            let statement = draft.memory.content.replace('\n', " / ");
            format!("{} {statement} | {}", draft.verdict.as_str(), draft.reason)
        };
        drafts.iter().map(line).collect()
    }

    async fn restore(&self, text: &str) -> Vec<String> {
        let drafts = self.engine.quarantine(&self.scope).await.unwrap();
        let draft = drafts.iter().find(|draft| draft.memory.content.contains(text)).unwrap();
        let memory = self.engine.restore_quarantined(&self.scope, draft.id()).await.unwrap();
        vec![format!("restored {}", memory.content)]
    }

    async fn forget(&self, text: &str) -> Vec<String> {
        let filter = MemoryFilter { kinds: vec![Kind::Turn], ..MemoryFilter::default() };
        let page = ListQuery { filter, after: None, order: ListOrder::OldestFirst, limit: 1_000 };
        let turns = self.engine.list(&self.scope, &page).await.unwrap();
        let turn = turns.iter().find(|turn| turn.content.contains(text)).unwrap();
        let forgotten = self.engine.forget(&self.scope, turn.id).await.unwrap();
        let (drafts, derived) =
            (forgotten.forgotten[0].removed.drafts, forgotten.forgotten[0].derived.len());
        vec![format!("forgotten, with {drafts} drafts; {derived} memories were drawn from it")]
    }

    async fn remember(&self, text: &str) {
        self.engine.remember(&self.scope, RememberRequest::new(text)).await.unwrap();
    }

    async fn learn(&self, rest: &str) {
        let (pain, solution) = rest.split_once(" | ").unwrap();
        let (pain, solution) = (pain.to_owned(), solution.to_owned());
        let outcome = "worked".to_owned();
        let new = NewExperience { pain, solution, outcome, ..NewExperience::default() };
        self.engine.add_experience(&self.scope, new).await.unwrap();
    }

    async fn profile(&self) -> Vec<String> {
        let profile = self.engine.profile(&self.scope).await.unwrap();
        let line = |field: &everlore::engine::ProfileField| {
            let until = field.until.map_or_else(String::new, |until| format!(" until {until}"));
            format!(
                "{}: {} ({:.2}) since {}{until}",
                field.name, field.value, field.confidence, field.since
            )
        };
        profile.fields.iter().map(line).collect()
    }

    async fn set_profile_field(&self, rest: &str) -> Vec<String> {
        let (field, value) = rest.split_once(' ').unwrap();
        let saved = self.engine.set_profile_field(&self.scope, field, value).await.unwrap();
        saved.superseded.iter().map(|older| format!("superseded {}", older.content)).collect()
    }

    async fn prompt(&self, query: &str) -> Vec<String> {
        let request = self.engine.context_request(&self.scope, query);
        let block = self.engine.context(&request, 1_000).await.unwrap();
        block.text.lines().map(str::to_owned).collect()
    }

    async fn undo(&self) -> Vec<String> {
        let newest = everlore::store::JournalQuery { limit: Some(1), ..Default::default() };
        let entry = self.engine.history(&self.scope, &newest).await.unwrap().remove(0);
        let run = entry.run.expect("the last change belongs to a run");
        let verb = entry.cause.split([':', ' ']).next().unwrap_or_default();
        assert!(run.starts_with(&format!("{verb}-")), "{run} {}", entry.cause);
        let undone = self.engine.undo(&self.scope, &everlore::engine::UndoTarget::Run(run)).await;
        vec![format!("undone: {} changes", undone.unwrap().len())]
    }

    async fn reflect(&self, dry_run: bool) -> Vec<String> {
        let request = ReflectRequest { dry_run };
        let done = self.engine.reflect(&self.scope, &request, &mut |_| {}).await.unwrap();
        assert!(done.run.is_some() || dry_run || done.proposals.is_empty());
        let line = |proposal: &ProposalView| {
            let change = match proposal.target.as_str() {
                "memories" => proposal.why.clone(),
                _ if proposal.expected_use.is_some() => proposal.why.clone(),
                _ => proposal.diff.lines().skip(2).collect::<Vec<_>>().join(" / "),
            };
            format!("{} {}: {change}", proposal.reason, proposal.target)
        };
        let lines: Vec<String> = done.proposals.iter().map(line).collect();
        if lines.is_empty() { vec!["nothing to propose".to_owned()] } else { lines }
    }

    async fn proposals(&self) -> Vec<String> {
        let all = self.engine.proposals(&self.scope, None).await.unwrap();
        let line = |proposal: &ProposalView| {
            format!("{} {} {}", proposal.state.in_words(), proposal.reason, proposal.target)
        };
        all.iter().map(line).collect()
    }

    /// Decides on the last proposal whose change contains a text.
    async fn decide(&self, verb: &str, text: &str) -> Vec<String> {
        let all = self.engine.proposals(&self.scope, None).await.unwrap();
        let meant = all.iter().rfind(|proposal| proposal.diff.contains(text)).expect(text);
        let (engine, id) = (&self.engine, meant.id);
        let decided = match verb {
            "approve" => engine.approve_proposal(&self.scope, id).await,
            "reject" => engine.reject_proposal(&self.scope, id).await,
            _ => engine.roll_back_proposal(&self.scope, id).await,
        };
        match decided {
            Ok(decided) => vec![decided.state.in_words()],
            Err(error) => vec![format!("refused: {error}")],
        }
    }

    async fn layer(&self, name: &str) -> Vec<String> {
        let layer = self.engine.read_layer(&self.scope, name.parse().unwrap()).await.unwrap();
        vec![format!("{:?}", layer.text)]
    }

    /// Writes an identity file as a person does in an editor.
    async fn write_layer(&self, rest: &str) {
        let (name, text) = rest.split_once(' ').unwrap();
        let path = self.engine.read_layer(&self.scope, name.parse().unwrap()).await.unwrap().path;
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text.replace("\\n", "\n")).unwrap();
    }

    /// Checks that no file below the folder contains this text.
    fn assert_nowhere(&self, text: &str) {
        let holding: Vec<_> = files(&self.folder)
            .into_iter()
            .filter(|file| contains(&fs::read(file).unwrap(), text.as_bytes()))
            .collect();
        assert!(holding.is_empty(), "{text} is in {holding:?}");
    }
}

fn extraction_lines(extraction: &ExtractionReport) -> Vec<String> {
    let session = extraction.session.as_deref().unwrap_or("-");
    if let Some(error) = &extraction.error {
        return vec![format!("{session}: {error}")];
    }
    let (turns, by, tokens) = (extraction.turns, &extraction.by, extraction.tokens);
    let mut lines = vec![format!("{session}: {turns} turns by {by}, {tokens} tokens")];
    lines.extend(extraction.note.clone());
    lines.extend(extraction.drafts.iter().map(draft));
    lines
}

fn draft(outcome: &DraftOutcome) -> String {
    let statement = outcome.statement.replace('\n', " / ");
    match &outcome.fate {
        DraftFate::Added { .. } => format!("add {} {statement}", outcome.kind),
        DraftFate::Updated { .. } => format!("update {} {statement}", outcome.kind),
        DraftFate::Superseded { older, .. } => {
            format!("supersede {} by {} {statement}", older.len(), outcome.kind)
        }
        DraftFate::Withdrew { older } => format!("withdraw {} by {statement}", older.len()),
        DraftFate::Skipped { reason } => format!("skip {statement} | {reason}"),
        DraftFate::Held { verdict, reason, .. } => {
            format!("{} {statement} | {reason}", verdict.as_str())
        }
    }
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap().flatten() {
        match entry.path() {
            path if path.is_dir() => found.extend(files(&path)),
            path => found.push(path),
        }
    }
    found
}

fn contains(bytes: &[u8], text: &[u8]) -> bool {
    bytes.windows(text.len()).any(|window| window == text)
}

/// Returns the file with the output below each line, indented.
async fn replay(text: &str, play: &ScenarioPlayer) -> String {
    let mut replayed = String::new();
    for line in text.lines().filter(|line| !line.starts_with("  ")) {
        replayed += &format!("{line}\n");
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        for output in play.act(line).await {
            replayed += &format!("  {output}\n");
        }
    }
    replayed
}

async fn check(name: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/scenarios").join(name);
    let text = fs::read_to_string(&path).unwrap();
    let with_model = text.lines().any(|line| line.starts_with("model "));
    let update = std::env::var_os("UPDATE_SCENARIOS").is_some();
    for store in ["ram", "sqlite", "directory"] {
        let folder = tempfile::tempdir().unwrap();
        let opened: Arc<dyn Store> = match store {
            "ram" => Arc::new(RamStore::default()),
            "sqlite" => {
                Arc::new(SqliteStore::open(folder.path().join("everlore.db")).await.unwrap())
            }
            _ => Arc::new(DirectoryStore::open(folder.path()).await.unwrap()),
        };
        let play = ScenarioPlayer::new(opened, folder.path(), with_model);
        let replayed = replay(&text, &play).await;
        if store == "ram" && update {
            fs::write(&path, &replayed).unwrap();
        }
        let expected = fs::read_to_string(&path).unwrap();
        assert_eq!(replayed, expected, "{name} on {store}");
        play.engine.admin().close().await;
    }
    #[cfg(any(feature = "postgres", feature = "mysql"))]
    for variable in crate::databases::VARIABLES {
        let database = crate::databases::ScratchDatabase::create(variable).await;
        let folder = tempfile::tempdir().unwrap();
        let play = ScenarioPlayer::new(database.open().await, folder.path(), with_model);
        assert_eq!(
            replay(&text, &play).await,
            fs::read_to_string(&path).unwrap(),
            "{name} on {variable}"
        );
        play.engine.admin().close().await;
        database.drop().await;
    }
}

macro_rules! scenarios {
    ($($name:ident),* $(,)?) => {
        $(#[tokio::test]
        async fn $name() {
            check(concat!(stringify!($name), ".txt")).await;
        })*

        #[test]
        fn every_scenario_is_played() {
            let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/scenarios");
            let mut found: Vec<String> = fs::read_dir(folder)
                .unwrap()
                .map(|entry| entry.unwrap().file_name().into_string().unwrap())
                .collect();
            found.sort();
            assert_eq!(found, [$(concat!(stringify!($name), ".txt")),*]);
        }
    };
}

scenarios!(
    corrections_en,
    corrections_zh,
    experiences_en,
    experiences_zh,
    forgotten_en,
    forgotten_zh,
    model_en,
    model_zh,
    preferences_en,
    preferences_zh,
    profile_en,
    profile_zh,
    reflection_en,
    reflection_zh,
    secrets_en,
    secrets_zh,
    skills_en,
    skills_zh,
    three_sessions_en,
    three_sessions_zh,
);
