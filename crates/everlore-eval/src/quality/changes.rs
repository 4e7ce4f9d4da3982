//! Homes of statements that change: which stored ones does a new statement supersede, and which does it mark as doubtful?

use std::{collections::BTreeSet, sync::Arc};

use anyhow::{Result, bail};
use everlore::{
    Engine, RememberRequest, Scope,
    engine::{SavedMemory, UndoTarget},
    llm::BuiltinEmbedder,
    store::RamStore,
    types::MemoryId,
};
use serde::Serialize;

/// Statements of one person that hold at the same time, and what the person says later.
#[derive(Debug)]
pub(crate) struct ChangeHome {
    /// Name and text of each stored statement.
    memories: Vec<(String, String)>,
    news: Vec<LaterStatement>,
}

/// Statement that is said after all stored ones.
#[derive(Debug)]
struct LaterStatement {
    text: String,
    /// Names of the statements that no longer hold.
    ended: BTreeSet<String>,
    /// Names of those that change in part.
    disputed: BTreeSet<String>,
}

/// Engine that is measured.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum ChangeWay {
    Classifier,
    Rules,
}

/// Counts over all homes.
#[derive(Debug, Default, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct ChangeFigures {
    /// Statements that were said later, and stored ones that they end.
    pub(crate) saves: usize,
    pub(crate) ended: usize,
    /// Of the latter, superseded, and superseded or marked as doubtful.
    pub(crate) superseded: usize,
    pub(crate) marked: usize,
    /// Saves that superseded something that holds, and saves that marked something that holds.
    pub(crate) wrongly_superseded: usize,
    pub(crate) wrongly_marked: usize,
    /// Statements of the homes themselves, and those that superseded another of them though all hold.
    pub(crate) ordinary_saves: usize,
    pub(crate) ordinary_wrong: usize,
}

impl ChangeHome {
    /// Reads a home: `m01<TAB>statement` for each stored one, then `new<TAB>statement<TAB>names`, `-` for none and `?m01`
    /// for one that changes in part.
    pub(crate) fn parse(text: &str) -> Result<Self> {
        let mut home = Self { memories: Vec::new(), news: Vec::new() };
        for line in text.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
            match line.split('\t').collect::<Vec<_>>()[..] {
                ["new", text, names] => home.news.push(LaterStatement::parse(text, names)),
                [name, text] => home.memories.push((name.to_owned(), text.to_owned())),
                _ => bail!("a line needs a name and a statement: {line}"),
            }
        }
        Ok(home)
    }
}

impl LaterStatement {
    fn parse(text: &str, names: &str) -> Self {
        let names = || names.split(',').map(str::trim).filter(|name| *name != "-");
        let ended = names().filter(|name| !name.starts_with('?')).map(str::to_owned);
        let disputed = names().filter_map(|name| name.strip_prefix('?')).map(str::to_owned);
        Self { text: text.to_owned(), ended: ended.collect(), disputed: disputed.collect() }
    }

    fn still_holds(&self, name: &String) -> bool {
        !self.ended.contains(name) && !self.disputed.contains(name)
    }
}

/// Says each later statement in its home as it was, and counts what that supersedes and marks.
pub(crate) fn measure_changes(homes: &[ChangeHome], way: ChangeWay) -> Result<ChangeFigures> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let mut figures = ChangeFigures::default();
    for home in homes {
        runtime.block_on(measure_home(home, way, &mut figures))?;
    }
    Ok(figures)
}

async fn measure_home(home: &ChangeHome, way: ChangeWay, to: &mut ChangeFigures) -> Result<()> {
    let engine = engine(way);
    let scope = Scope::new("eval", "person")?;
    let mut stored: Vec<(MemoryId, &String)> = Vec::new();
    for (name, text) in &home.memories {
        let saved = engine.remember(&scope, RememberRequest::new(text)).await?;
        to.ordinary_saves += 1;
        to.ordinary_wrong += usize::from(!saved.superseded.is_empty());
        for older in &saved.superseded {
            engine.restore(&scope, older.id).await?;
        }
        stored.push((saved.id, name));
    }
    let name_of = |id| Some((*stored.iter().find(|(known, _)| *known == id)?.1).clone());
    for later in &home.news {
        let saved = engine.remember(&scope, RememberRequest::new(&later.text)).await?;
        to.count(later, &saved, name_of);
        take_back(&engine, &scope, saved).await?;
    }
    Ok(())
}

fn engine(way: ChangeWay) -> Engine {
    let builder = Engine::builder(Arc::new(RamStore::default()));
    match way {
        ChangeWay::Classifier => {
            builder.embedder(Arc::new(BuiltinEmbedder::new())).builtin_encoder().build()
        }
        ChangeWay::Rules => builder.build(),
    }
}

async fn take_back(engine: &Engine, scope: &Scope, saved: SavedMemory) -> Result<()> {
    let target = match saved.undo {
        Some(undo) => UndoTarget::Run(undo.run),
        None => UndoTarget::Change(saved.receipt.seq),
    };
    engine.undo(scope, &target).await?;
    Ok(())
}

impl ChangeFigures {
    fn count(
        &mut self,
        later: &LaterStatement,
        saved: &SavedMemory,
        name_of: impl Fn(MemoryId) -> Option<String>,
    ) {
        let superseded: BTreeSet<String> =
            saved.superseded.iter().filter_map(|older| name_of(older.id)).collect();
        let doubted = saved.may_replace.as_ref().and_then(|older| name_of(older.id));
        self.saves += 1;
        self.ended += later.ended.len();
        let found = superseded.intersection(&later.ended).count();
        self.superseded += found;
        let is_found = |name: &&String| later.ended.contains(*name) && !superseded.contains(*name);
        self.marked += found + usize::from(doubted.as_ref().is_some_and(|name| is_found(&name)));
        self.wrongly_superseded += usize::from(superseded.iter().any(|it| later.still_holds(it)));
        self.wrongly_marked += usize::from(doubted.is_some_and(|it| later.still_holds(&it)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_classifier_marks_what_no_rule_knows_and_leaves_the_rest() {
        let homes = [
            "# a developer\nm01\tmy laptop runs arch\nm02\tI bike to work\n\
             new\twiped the laptop, it's on fedora now\tm01\nnew\tI bought a sleeve for the laptop\t-\n",
            "# 程序员\nm01\t周一晚上攀岩\nm02\t我骑车上班\nnew\t攀岩改周三了\tm01\nnew\t买了双攀岩鞋\t-\n",
        ];
        let homes = homes.map(|home| ChangeHome::parse(home).unwrap());
        let by_rules = measure_changes(&homes, ChangeWay::Rules).unwrap();
        assert_eq!((by_rules.saves, by_rules.ended, by_rules.marked), (4, 2, 0));
        let figures = measure_changes(&homes, ChangeWay::Classifier).unwrap();
        assert_eq!((figures.marked, figures.wrongly_marked), (2, 0), "{figures:?}");
        assert_eq!(figures.ordinary_wrong, 0, "{figures:?}");
    }

    #[test]
    fn a_line_without_a_statement_is_told() {
        assert!(ChangeHome::parse("m01").unwrap_err().to_string().contains("m01"));
    }
}
