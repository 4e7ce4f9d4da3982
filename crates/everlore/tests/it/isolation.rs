//! Nothing of one scope is visible, countable or changeable from another: random scopes, ids, uris and operations on
//! one file, beside a plain model of each scope (M1).

use std::collections::{BTreeMap, BTreeSet};

use everlore::{
    Engine, Error, MemoryEdit, MemoryId, Scope, Status,
    ingest::{ImportOptions, UndoTarget},
    store::JournalQuery,
};
use proptest::{prelude::*, test_runner::TestRunner};

use crate::support::{all, engine, id, noon, say, turn};

/// Prefixes of each other, look-alikes, names that mean something to a pattern or to SQL.
const NAMES: [&str; 14] =
    ["a", "ab", "a b", "a-b", "A", "а", "ａ", "é", "e\u{301}", "%", "_", "'; --", "王", "\u{200b}"];

const TEXTS: [&str; 6] = [
    "I like tea",
    "我喜欢龙井茶",
    "the staging port is 8443",
    "my kitten is grey",
    "likes tea",
    "设备在C盘",
];

#[derive(Debug, Clone)]
enum ScopeStep {
    Remember(usize),
    Observe(usize),
    Edit(usize),
    Archive,
    Restore,
    Supersede,
    Delete,
    Forget,
    Undo(u64),
    Import(usize),
}

/// Who does it, to which of all ids ever given out, what.
type ScopeAct = (usize, usize, ScopeStep);

fn acts() -> impl Strategy<Value = (Vec<Scope>, Vec<ScopeAct>)> {
    let name = || prop::sample::select(NAMES.to_vec());
    let scope = (name(), name()).prop_map(|(agent, user)| Scope::new(agent, user).unwrap());
    let text = 0..TEXTS.len();
    let step = prop_oneof![
        5 => text.clone().prop_map(ScopeStep::Remember),
        3 => text.clone().prop_map(ScopeStep::Observe),
        3 => text.clone().prop_map(ScopeStep::Edit),
        1 => Just(ScopeStep::Archive),
        1 => Just(ScopeStep::Restore),
        1 => Just(ScopeStep::Supersede),
        2 => Just(ScopeStep::Delete),
        1 => Just(ScopeStep::Forget),
        1 => (1..20u64).prop_map(ScopeStep::Undo),
        1 => (0..5usize).prop_map(ScopeStep::Import),
    ];
    let scopes = prop::collection::btree_set(scope, 3..6);
    (
        scopes.prop_map(|scopes| scopes.into_iter().collect()),
        prop::collection::vec((0..5usize, any::<usize>(), step), 1..40),
    )
}

/// What a scope must hold.
#[derive(Debug, Clone, Default, PartialEq)]
struct ScopeModel {
    memories: BTreeMap<MemoryId, (String, Status)>,
    /// Every id it ever had.
    ids: BTreeSet<MemoryId>,
}

struct IsolationWorld {
    engine: Engine,
    scopes: Vec<Scope>,
    models: Vec<ScopeModel>,
    /// Ids of all scopes, which anyone may guess.
    ids: Vec<MemoryId>,
}

impl IsolationWorld {
    async fn new(scopes: Vec<Scope>) -> Self {
        let models = vec![ScopeModel::default(); scopes.len()];
        Self { engine: engine().await, scopes, models, ids: vec![id(1)] }
    }

    async fn act(&mut self, (actor, target, step): &ScopeAct) {
        let actor = actor % self.scopes.len();
        let (scope, target) = (self.scopes[actor].clone(), self.ids[target % self.ids.len()]);
        let engine = self.engine.clone();
        let outcome = match step {
            ScopeStep::Remember(text) => engine.remember(&scope, say(TEXTS[*text])).await.map(drop),
            ScopeStep::Observe(text) => {
                engine.observe(&scope, vec![turn("s", "Ann", TEXTS[*text])]).await.map(drop)
            }
            ScopeStep::Edit(text) => {
                let edit =
                    MemoryEdit { content: Some(TEXTS[*text].into()), ..MemoryEdit::default() };
                engine.edit(&scope, target, &edit).await.map(drop)
            }
            ScopeStep::Archive => engine.archive(&scope, target).await.map(drop),
            ScopeStep::Restore => engine.restore(&scope, target).await.map(drop),
            ScopeStep::Supersede => engine.supersede(&scope, self.ids[0], target).await.map(drop),
            ScopeStep::Delete => engine.delete(&scope, target).await.map(drop),
            ScopeStep::Forget => engine.forget(&scope, target).await.map(drop),
            ScopeStep::Undo(seq) => engine.undo(&scope, &UndoTarget::Change(*seq)).await.map(drop),
            ScopeStep::Import(from) => self.import(*from, &scope).await,
        };
        self.judge(actor, target, step, outcome.err()).await;
    }

    /// Both scopes are named, so this may cross; what it brings belongs to the new scope.
    async fn import(&self, from: usize, to: &Scope) -> everlore::Result<()> {
        let (mut file, from) = (Vec::new(), &self.scopes[from % self.scopes.len()]);
        self.engine.export(from, true, &mut file, &mut |_| ()).await?;
        let options = ImportOptions { keep_going: true, dry_run: false, keep_secrets: false };
        self.engine.import(to, &file[..], options, &mut |_| ()).await.map(drop)
    }

    /// A guessed id of another scope is not found; whatever happened, the other scopes are as they were.
    async fn judge(
        &mut self,
        actor: usize,
        target: MemoryId,
        step: &ScopeStep,
        error: Option<Error>,
    ) {
        let about_target = matches!(
            step,
            ScopeStep::Edit(_)
                | ScopeStep::Archive
                | ScopeStep::Restore
                | ScopeStep::Delete
                | ScopeStep::Forget
        );
        let model = &self.models[actor];
        let theirs = match step {
            // What was deleted can still be erased.
            ScopeStep::Forget => model.ids.contains(&target),
            _ => model.memories.contains_key(&target),
        };
        if about_target && !theirs {
            assert!(matches!(error, Some(Error::NotFound { .. })), "{step:?} gave {error:?}");
        }
        for (index, scope) in self.scopes.clone().iter().enumerate() {
            let now = self.look(scope).await;
            if index == actor {
                self.learn(index, now, step).await;
            } else {
                assert_eq!(now, self.models[index].memories, "{step:?} changed another scope");
            }
        }
    }

    /// Notes what the actor has now, with what an import added and deleted at once.
    async fn learn(
        &mut self,
        actor: usize,
        now: BTreeMap<MemoryId, (String, Status)>,
        step: &ScopeStep,
    ) {
        let mut fresh: BTreeSet<_> = now.keys().copied().collect();
        if let ScopeStep::Import(_) = step {
            let query = JournalQuery::default();
            let journal = self.engine.history(&self.scopes[actor], &query).await.unwrap();
            fresh.extend(journal.iter().map(|entry| entry.id));
        }
        let known: BTreeSet<_> = self.ids.iter().copied().collect();
        self.ids.extend(fresh.difference(&known));
        self.models[actor].ids.extend(fresh);
        self.models[actor].memories = now;
    }

    async fn look(&self, scope: &Scope) -> BTreeMap<MemoryId, (String, Status)> {
        let memories = all(&self.engine, scope).await;
        assert!(memories.iter().all(|memory| memory.scope == *scope));
        let seen = |memory: everlore::Memory| (memory.id, (memory.content, memory.status));
        memories.into_iter().map(seen).collect()
    }

    /// Everything that can be read of a scope is its own.
    async fn check(&self, index: usize) {
        let (engine, scope, model) = (&self.engine, &self.scopes[index], &self.models[index]);
        let own = |id: &MemoryId| model.memories.contains_key(id);
        let foreign: Vec<_> = self.ids.iter().filter(|id| !own(id)).copied().collect();
        for query in ["tea port kitten", "茶 设备", "who am I", "what did we say today"] {
            let mut request = engine.request(scope, query);
            request.limit = 1_000;
            request.filter.statuses = Status::ALL.to_vec();
            let found = engine.recall(&request).await.unwrap();
            assert!(found.hits.iter().all(|hit| own(&hit.memory.id)), "{query}");
            let past = engine.recall_as_of(&request, noon()).await.unwrap();
            assert!(past.hits.iter().all(|hit| model.ids.contains(&hit.memory.id)), "{query}");
            for id in &foreign {
                assert_eq!(engine.why_not(&request, *id).await.unwrap_err().code(), "not_found");
            }
        }
        for id in &foreign {
            assert_eq!(engine.get(scope, *id).await.unwrap_err().code(), "not_found");
            assert_eq!(
                engine.resolve(scope, &id.to_string()).await.unwrap_err().code(),
                "not_found"
            );
        }
        let counts = engine.count(scope).await.unwrap();
        let total: usize = counts.memories.iter().map(|(_, _, count)| count).sum();
        assert_eq!(total, model.memories.len());
        let journal = engine.history(scope, &JournalQuery::default()).await.unwrap();
        assert!(journal.iter().all(|entry| model.ids.contains(&entry.id)));
        let seqs: Vec<_> = journal.iter().rev().map(|entry| entry.seq).collect();
        let expected: Vec<_> = (1..=counts.changes as u64).collect();
        assert_eq!(seqs, expected, "numbers tell nothing of other scopes");
        assert_eq!(engine.store().index().check(scope).await.unwrap(), Vec::<String>::new());
    }

    /// Scopes of one agent share uris; each name leads to its own memory.
    async fn check_uris(&self) {
        for (scope, model) in self.scopes.iter().zip(&self.models) {
            for memory in all(&self.engine, scope).await {
                let found = self.engine.resolve(scope, &memory.uri).await.unwrap();
                assert!(found == memory.id && model.memories.contains_key(&found));
            }
        }
    }
}

#[test]
fn scopes_know_nothing_of_each_other_whatever_is_done() {
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    // Each case opens a file and looks at every scope after every step.
    let config =
        ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() };
    let outcome = TestRunner::new(config).run(&acts(), |(scopes, acts)| {
        runtime.block_on(async {
            let mut world = IsolationWorld::new(scopes).await;
            for act in &acts {
                world.act(act).await;
            }
            for index in 0..world.scopes.len() {
                world.check(index).await;
            }
            world.check_uris().await;
            world.engine.store().admin().close().await;
        });
        Ok(())
    });
    if let Err(failure) = outcome {
        panic!("{failure}");
    }
}
