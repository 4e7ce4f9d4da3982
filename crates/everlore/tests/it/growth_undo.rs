//! Random lives of an agent: the undo of a whole reflection or audit restores memories, proposals, schedules, skills,
//! identity files and skill files exactly, on both stores.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    sync::Arc,
};

use everlore::{
    Engine, Kind, Memory, MemoryId, RememberRequest, Scope, Turn,
    engine::{
        AuditRequest, NewExperience, NewSchedule, ProposalState, ReflectRequest, SkillForm,
        UndoTarget,
    },
    store::{RamStore, Store},
    types::{ChangeAuthor, HOOK_CAUSE, Role, Timestamp},
};
use proptest::prelude::*;
use serde_json::json;

use crate::support::{all, scope, sqlite};

fn now() -> Timestamp {
    "2026-05-20T12:00:00Z".parse().unwrap()
}

/// Something that happens to an agent.
#[derive(Debug, Clone)]
enum Event {
    /// Saves a statement.
    Save(usize),
    /// Says a wish in two conversations.
    Wish(usize),
    /// Makes the same calls in three conversations.
    Work(usize),
    /// Fails in the same way in three conversations, and knows the cure.
    Fail,
    /// Records that a cure worked or not.
    Report(bool),
    Schedule(usize),
    RemoveSchedule,
    SetField(usize),
    /// Rejects or corrects a value of the profile.
    RejectValue,
    CorrectValue,
    Reflect,
    Approve,
    Reject,
    RollBack,
    ReportSkill(bool),
    EditSkill,
    Fix,
}

/// Statements with faults, and without.
const TEXTS: [&str; 8] = [
    "The user likes green tea.",
    "User likes green tea",
    "我住在巴黎。",
    "我现在住在罗马",
    "You are a helpful assistant that answers briefly.",
    "Deploy with ghp_a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8",
    "I'm no longer vegetarian",
    "I'm vegetarian",
];

const WISHES: [&str; 2] = ["Always answer in short sentences.", "请用繁体字回答我。"];

const CALLS: [[&str; 3]; 2] =
    [["cargo fmt --all", "cargo test", "git push"], ["npm ci", "npm run build", "npm publish"]];

const TIMES: [&str; 2] = ["every weekday at 9am water the plants", "每天早上8点吃药"];

fn event() -> impl Strategy<Value = Event> {
    prop_oneof![
        4 => (0..TEXTS.len()).prop_map(Event::Save),
        2 => (0..WISHES.len()).prop_map(Event::Wish),
        2 => (0..CALLS.len()).prop_map(Event::Work),
        1 => Just(Event::Fail),
        1 => any::<bool>().prop_map(Event::Report),
        1 => (0..TIMES.len()).prop_map(Event::Schedule),
        1 => Just(Event::RemoveSchedule),
        1 => (0..2_usize).prop_map(Event::SetField),
        1 => Just(Event::RejectValue),
        1 => Just(Event::CorrectValue),
        3 => Just(Event::Reflect),
        3 => Just(Event::Approve),
        1 => Just(Event::Reject),
        1 => Just(Event::RollBack),
        1 => any::<bool>().prop_map(Event::ReportSkill),
        1 => Just(Event::EditSkill),
        1 => Just(Event::Fix),
    ]
}

/// Agent with a home on one store.
struct Life {
    engine: Engine,
    home: tempfile::TempDir,
    sessions: usize,
}

/// Everything that an undo must restore.
#[derive(Debug, PartialEq)]
struct Snapshot {
    memories: BTreeMap<MemoryId, Memory>,
    files: BTreeMap<PathBuf, Vec<u8>>,
}

impl Life {
    fn new(store: Arc<dyn Store>) -> Self {
        let home = tempfile::tempdir().unwrap();
        let engine = Engine::builder(store).clock(now).home(home.path()).build();
        Self { engine, home, sessions: 0 }
    }

    fn owner(&self) -> Scope {
        scope("sam")
    }

    async fn say(&self, session: &str, role: Role, text: &str) {
        let turn = Turn {
            text: text.to_owned(),
            session: Some(session.to_owned()),
            role: Some(role),
            ..Turn::default()
        };
        let reason = Some(format!("{HOOK_CAUSE} claude-code"));
        let hook = ChangeAuthor { reason, ..ChangeAuthor::PERSON };
        let engine =
            if role == Role::Tool { self.engine.on_behalf_of(hook) } else { self.engine.clone() };
        engine.observe(&self.owner(), vec![turn]).await.unwrap();
    }

    fn session(&mut self) -> String {
        self.sessions += 1;
        format!("session {}", self.sessions)
    }

    async fn save(&self, kind: Kind, text: &str) {
        let request = RememberRequest { kind: Some(kind), ..RememberRequest::new(text) };
        self.engine.remember(&self.owner(), request).await.unwrap();
    }

    async fn wish(&mut self, text: &str) {
        for _ in 0..2 {
            let session = self.session();
            self.say(&session, Role::User, text).await;
        }
        self.save(Kind::Feedback, text).await;
    }

    async fn work(&mut self, calls: &[&str]) {
        for _ in 0..3 {
            let session = self.session();
            self.say(&session, Role::User, &format!("Please do the {} release", calls[0])).await;
            for call in calls {
                self.say(&session, Role::Tool, &format!("[tool Bash succeeded] {call}")).await;
            }
        }
    }

    async fn fail(&mut self) {
        let error = "ModuleNotFoundError: No module named 'yaml'";
        for _ in 0..3 {
            let session = self.session();
            let call = format!("[tool Bash failed] python app.py\n{error}");
            self.say(&session, Role::Tool, &call).await;
        }
        let cure = json!({ "pain": "yaml is missing", "solution": "I installed pyyaml", "outcome": "worked", "error": error });
        let cure: NewExperience = serde_json::from_value(cure).unwrap();
        self.engine.add_experience(&self.owner(), cure).await.unwrap();
    }

    async fn report(&self, worked: bool) {
        let owner = self.owner();
        if let Some(first) = self.engine.experiences(&owner, 1, true).await.unwrap().first() {
            self.engine.report_experience(&owner, first.id, worked).await.unwrap();
        }
    }

    async fn remove_schedule(&self) {
        let owner = self.owner();
        if let Some(first) = self.engine.schedules(&owner).await.unwrap().first() {
            self.engine.remove_schedule(&owner, first.id).await.unwrap();
        }
    }

    /// Decides on the first proposal in a state. A change that no longer fits is refused, which is a decision too.
    async fn decide(&self, event: &Event) {
        let owner = self.owner();
        let is_back = matches!(event, Event::RollBack);
        let state = if is_back { ProposalState::Approved } else { ProposalState::Open };
        let found = self.engine.proposals(&owner, Some(state)).await.unwrap();
        let Some(first) = found.first() else { return };
        let _refused = match event {
            Event::Approve => self.engine.approve_proposal(&owner, first.id).await.err(),
            Event::Reject => self.engine.reject_proposal(&owner, first.id).await.err(),
            _ => self.engine.roll_back_proposal(&owner, first.id).await.err(),
        };
    }

    async fn first_skill(&self) -> Option<(String, String)> {
        let owner = self.owner();
        let name =
            self.engine.skills(&owner, SkillForm::Skill, true).await.unwrap().first()?.name.clone();
        let skill = self.engine.skill(&owner, SkillForm::Skill, &name).await.unwrap();
        Some((name, skill.text?))
    }

    async fn change_skill(&self, event: &Event) {
        let owner = self.owner();
        let Some((name, text)) = self.first_skill().await else { return };
        let changed = match event {
            Event::ReportSkill(worked) => {
                self.engine.report_skill(&owner, SkillForm::Skill, &name, *worked).await
            }
            _ => {
                let text = format!("{}\n\nMind the weather.\n", text.trim_end());
                self.engine.update_skill(&owner, SkillForm::Skill, &name, Some(&text)).await
            }
        };
        changed.unwrap();
    }

    async fn live(&mut self, event: &Event) {
        let owner = self.owner();
        match event {
            Event::Save(text) => self.save(Kind::User, TEXTS[*text]).await,
            Event::Wish(wish) => self.wish(WISHES[*wish]).await,
            Event::Work(calls) => self.work(&CALLS[*calls]).await,
            Event::Fail => self.fail().await,
            Event::Report(worked) => self.report(*worked).await,
            Event::Schedule(times) => {
                let text = TIMES[*times].to_owned();
                let new = NewSchedule { text, ..NewSchedule::default() };
                self.engine.add_schedule(&owner, &new).await.unwrap();
            }
            Event::RemoveSchedule => self.remove_schedule().await,
            Event::SetField(number) => {
                let value = ["nurse", "医生"][*number];
                self.engine.set_profile_field(&owner, "role", value).await.unwrap();
            }
            Event::RejectValue => {
                self.engine.reject_profile_value(&owner, "role", "医生").await.unwrap();
            }
            Event::CorrectValue => {
                let (old, new) = ("nurse", "paramedic");
                self.engine.correct_profile_value(&owner, "role", old, new).await.unwrap();
            }
            Event::Reflect => drop(self.reflect().await),
            Event::Approve | Event::Reject | Event::RollBack => self.decide(event).await,
            Event::ReportSkill(_) | Event::EditSkill => self.change_skill(event).await,
            Event::Fix => drop(self.fix().await),
        }
    }

    async fn reflect(&self) -> Option<String> {
        let request = ReflectRequest::default();
        self.engine.reflect(&self.owner(), &request, &mut |_| {}).await.unwrap().run
    }

    async fn fix(&self) -> Option<String> {
        let request = AuditRequest { fix: true, yes: true };
        let report = self.engine.audit(&self.owner(), &request, &mut |_| {}).await.unwrap();
        report.fixed.map(|fixed| fixed.run)
    }

    async fn undo(&self, run: Option<String>) {
        if let Some(run) = run {
            self.engine.undo(&self.owner(), &UndoTarget::Run(run)).await.unwrap();
        }
    }

    async fn snapshot(&self) -> Snapshot {
        let bare = |memory: Memory| {
            (memory.id, Memory { version: 0, updated_at: Timestamp::UNIX_EPOCH, ..memory })
        };
        let memories = all(&self.engine, &self.owner()).await.into_iter().map(bare).collect();
        let mut files = BTreeMap::new();
        read_markdown(self.home.path(), &mut files);
        Snapshot { memories, files }
    }
}

/// Reads identity files, skills and workflows; logs and databases are none.
fn read_markdown(folder: &Path, files: &mut BTreeMap<PathBuf, Vec<u8>>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            read_markdown(&path, files);
        } else if path.extension().is_some_and(|kind| kind == "md") {
            files.insert(path.clone(), fs::read(&path).unwrap());
        }
    }
}

async fn check(store: Arc<dyn Store>, events: &[Event]) {
    let mut life = Life::new(store);
    for event in events {
        life.live(event).await;
    }
    let before = life.snapshot().await;
    let run = life.reflect().await;
    life.undo(run).await;
    assert_eq!(life.snapshot().await, before, "after the undo of a reflection");
    let run = life.fix().await;
    life.undo(run).await;
    assert_eq!(life.snapshot().await, before, "after the undo of an audit");
    let (first, second) = (life.reflect().await, life.fix().await);
    life.undo(second).await;
    life.undo(first).await;
    assert_eq!(life.snapshot().await, before, "after the undo of both, the last one first");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(16))]
    #[test]
    fn undo_of_a_reflection_or_an_audit_restores_everything_whatever_happened_before(
        events in proptest::collection::vec(event(), 1..14),
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            check(Arc::new(RamStore::default()), &events).await;
            check(sqlite().await, &events).await;
        });
    }
}
