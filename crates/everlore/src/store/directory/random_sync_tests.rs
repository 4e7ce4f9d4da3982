//! Random edits on both sides, with crashes in between: every text that was written last exists in the end.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    sync::{Arc, atomic::AtomicUsize},
};

use super::{
    sync::{CrashPoint, sync_with_crash_point},
    tests::{VaultFixture, page},
    *,
};
use crate::{
    files::vault::VaultPage,
    store::SqliteStore,
    types::{MemoryId, Timestamp},
};

/// Small random number generator with the same sequence on every machine.
struct TestRng(u64);

impl TestRng {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % bound as u64) as usize
    }

    fn pick<T: Clone>(&mut self, from: &[T]) -> Option<T> {
        (!from.is_empty()).then(|| from[self.below(from.len())].clone())
    }
}

/// Texts that must be found again: those written last, on either side.
#[derive(Default)]
struct ExpectedTexts {
    texts: BTreeSet<String>,
    count: usize,
}

impl ExpectedTexts {
    fn new_text(&mut self, side: &str) -> String {
        self.count += 1;
        let text = format!("{side} 写的 text {}", self.count);
        self.texts.insert(text.clone());
        text
    }

    /// Removes a text that a person replaced or removed after seeing it.
    fn remove(&mut self, text: &str) {
        self.texts.remove(text);
    }
}

struct SyncStorm {
    fixture: VaultFixture,
    rng: TestRng,
    expected: ExpectedTexts,
    /// Erased texts, which must not be found again.
    forgotten: BTreeSet<String>,
    syncs: BTreeMap<&'static str, usize>,
    _database: tempfile::TempDir,
}

impl SyncStorm {
    async fn new(seed: u64) -> Self {
        let database = tempfile::tempdir().unwrap();
        let store = SqliteStore::open(database.path().join("everlore.db")).await.unwrap();
        Self {
            fixture: VaultFixture::new(Arc::new(store)),
            rng: TestRng(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1),
            expected: ExpectedTexts::default(),
            forgotten: BTreeSet::new(),
            syncs: BTreeMap::new(),
            _database: database,
        }
    }

    async fn step(&mut self) {
        match self.rng.below(20) {
            0..=2 => self.add_file(),
            3..=6 => self.edit_file(),
            7 => self.delete_file(),
            8 => self.rename_file(),
            9..=10 => self.add_memory().await,
            11..=15 => self.edit_memory().await,
            16 => self.delete_memory().await,
            17 => self.forget_memory().await,
            18 => self.sync(true).await,
            _ => self.sync(false).await,
        }
    }

    fn add_file(&mut self) {
        let text = self.expected.new_text("file");
        let name = format!("n{}", self.expected.count);
        self.fixture.put(&format!("user_{name}.md"), &page(&name, &text));
    }

    fn edit_file(&mut self) {
        let Some((file, text, body)) = self.some_file() else { return };
        let new = self.expected.new_text("file");
        self.expected.remove(&body);
        self.fixture.put(&file, &text.replace(&body, &new));
    }

    fn delete_file(&mut self) {
        let Some((file, _, body)) = self.some_file() else { return };
        self.expected.remove(&body);
        self.fixture.remove(&file);
    }

    fn rename_file(&mut self) {
        let Some((file, ..)) = self.some_file() else { return };
        let to = format!("renamed {}.md", self.rng.below(1_000_000));
        fs::rename(self.fixture.path().join(file), self.fixture.path().join(to)).unwrap();
    }

    async fn add_memory(&mut self) {
        let text = self.expected.new_text("memory");
        self.fixture.remember(&format!("m{}", self.expected.count), &text).await;
    }

    async fn edit_memory(&mut self) {
        let Some((id, body)) = self.some_memory().await else { return };
        let new = self.expected.new_text("memory");
        self.expected.remove(&body);
        self.fixture.edit(id, &new).await;
    }

    async fn delete_memory(&mut self) {
        let Some((id, body)) = self.some_memory().await else { return };
        self.expected.remove(&body);
        self.fixture.engine.delete(&self.fixture.scope, id).await.unwrap();
    }

    async fn forget_memory(&mut self) {
        let Some((id, body)) = self.some_memory().await else { return };
        self.expected.remove(&body);
        self.forgotten.insert(body);
        self.fixture.engine.forget(&self.fixture.scope, id).await.unwrap();
    }

    /// Syncs, to the end or up to a crash.
    async fn sync(&mut self, crash: bool) {
        let after = crash.then(|| Arc::new(AtomicUsize::new(self.rng.below(12))));
        let request = SyncRequest::new(self.fixture.path(), &self.fixture.scope);
        let outcome = sync_with_crash_point(
            &**self.fixture.engine.store(),
            &request,
            Timestamp::now(),
            &CrashPoint { steps_left: after },
        )
        .await;
        let ended = match &outcome {
            Ok(_) => "whole",
            Err(error) if error.to_string().contains("stopped by a test") => "crashed",
            Err(error) => panic!("{error}"),
        };
        *self.syncs.entry(ended).or_default() += 1;
        if let Ok(report) = outcome {
            for done in report.done {
                assert_ne!(done.what, SyncAction::Skipped, "{done:?}");
                *self
                    .syncs
                    .entry(if done.what == SyncAction::Conflict { "conflicts" } else { "changes" })
                    .or_default() += 1;
            }
        }
    }

    fn some_file(&mut self) -> Option<(String, String, String)> {
        let file = self.rng.pick(&self.fixture.files())?;
        let text = self.fixture.read(&file);
        let body = VaultPage::parse(&text).unwrap().content;
        Some((file, text, body))
    }

    async fn some_memory(&mut self) -> Option<(MemoryId, String)> {
        let memory = self.rng.pick(&self.fixture.memories().await)?;
        Some((memory.id, memory.content))
    }

    async fn sync_twice(&mut self) {
        // Two syncs: the second finds in place what the first brought over.
        self.sync(false).await;
        self.sync(false).await;
    }

    async fn check(&mut self) {
        self.sync_twice().await;
        let files = self.fixture.files();
        let pages: Vec<_> =
            files.iter().map(|file| VaultPage::parse(&self.fixture.read(file)).unwrap()).collect();
        let on_disk: BTreeSet<String> = pages.iter().map(|page| page.content.clone()).collect();
        let memories = self.fixture.memories().await;
        let stored: BTreeSet<String> =
            memories.iter().map(|memory| memory.content.clone()).collect();
        assert_eq!(on_disk, stored, "both sides say the same");
        assert_eq!(
            (files.len(), memories.len()),
            (stored.len(), stored.len()),
            "nothing is there twice"
        );
        let lost: Vec<_> = self.expected.texts.difference(&stored).collect();
        assert!(lost.is_empty(), "lost: {lost:?}");
        let back: Vec<_> = self.forgotten.intersection(&stored).collect();
        assert!(back.is_empty(), "came back: {back:?}");
        let index = self.fixture.read("MEMORY.md");
        for file in &files {
            let target =
                if file.contains(' ') { format!("](<{file}>)") } else { format!("]({file})") };
            assert_eq!(index.matches(&target).count(), 1, "{file} in\n{index}");
        }
        assert_eq!(index.lines().count(), files.len(), "{files:?}\n{index}");
        assert_eq!(
            self.fixture.engine.store().index().inconsistencies(&self.fixture.scope).await.unwrap(),
            Vec::<String>::new()
        );
        let before = self.fixture.files();
        self.sync(false).await;
        assert_eq!(self.fixture.files(), before, "a quiet vault stays as it is");
    }
}

#[tokio::test]
async fn a_storm_of_edits_on_both_sides_loses_nothing() {
    for seed in 1..=3 {
        let mut storm = SyncStorm::new(seed).await;
        for step in 0..1_000 {
            storm.step().await;
            if step % 100 == 99 {
                storm.check().await;
            }
        }
        let counts = &storm.syncs;
        assert!(
            counts["crashed"] > 5 && counts["conflicts"] > 5 && counts["whole"] > 30,
            "seed {seed}: {counts:?}"
        );
    }
}
