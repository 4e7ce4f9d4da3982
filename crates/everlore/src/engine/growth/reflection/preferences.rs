//! Proposals for identity files: preferences that the user states again and again, or corrects, and lines that a newer
//! statement superseded.

use std::collections::{BTreeMap, HashMap, HashSet};

use crate::{
    engine::{Engine, SCAN_PAGE},
    error::Result,
    files::layers::Layer,
    growth::reflection::{
        LayerLineEdit, LayerLines, PreferenceScan, Proposal, ProposalReason, ProposalState,
        ProposedChange, RepeatedPreference, StatedPreference, Topic, newest_of_each_topic,
        plain_wish,
    },
    store::{JournalQuery, MemoryFilter, MemoryPages},
    sync::run_blocking,
    text::{
        attribution::is_user_name,
        suspect::{is_agent_command, is_suspect, is_unverified},
    },
    types::{
        Actor, JournalEntry, Kind, Memory, MemoryId, Origin, Role, Scope, Status, Trust,
        VALID_UNTIL_KEY,
    },
};

/// Kinds of statements that identity files repeat.
const KINDS: [Kind; 4] = [Kind::User, Kind::Feedback, Kind::Project, Kind::Reference];

/// Identity files.
const LAYERS: [Layer; 3] = [Layer::User, Layer::Soul, Layer::Memory];

/// Most characters of a line of an identity file; a longer statement is a text.
const MAX_LINE_CHARS: usize = 240;

/// Most superseded statements of a chain that are followed: a loop would never end.
const MAX_CHAIN: usize = 64;

/// Statements of the user, those that no longer hold too.
#[derive(Default)]
struct StatementHistory {
    /// Statements by id.
    all: BTreeMap<MemoryId, Memory>,
    /// Corrected statements by the one that took their place.
    corrected: HashMap<MemoryId, Vec<MemoryId>>,
}

impl StatementHistory {
    fn add(&mut self, memory: Memory) {
        // What was merged says the same and was not corrected.
        let is_corrected = memory.metadata.contains_key(VALID_UNTIL_KEY);
        if let Some(by) = memory.superseded_by.filter(|_| is_corrected) {
            self.corrected.entry(by).or_default().push(memory.id);
        }
        self.all.insert(memory.id, memory);
    }

    /// Returns the statements that a statement corrected, directly or through others.
    fn chain(&self, id: MemoryId) -> Vec<MemoryId> {
        let mut chain: Vec<MemoryId> = Vec::new();
        let mut next = vec![id];
        while let Some(id) = next.pop().filter(|_| chain.len() < MAX_CHAIN) {
            for older in self.corrected.get(&id).into_iter().flatten() {
                if !chain.contains(older) {
                    chain.push(*older);
                    next.push(*older);
                }
            }
        }
        chain
    }
}

impl Engine {
    /// Returns proposals for the identity files.
    pub(super) async fn preference_proposals(
        &self,
        scope: &Scope,
        progress: &mut (dyn FnMut(usize) + Send),
    ) -> Result<Vec<Proposal>> {
        if self.home.is_none() {
            return Ok(Vec::new());
        }
        let statements = self.statements(scope).await?;
        let stated = self.stated_preferences(scope, &statements).await?;
        let trusted: HashSet<MemoryId> = stated.iter().map(|stated| stated.id).collect();
        let is_preference =
            |stated: &StatedPreference| matches!(stated.kind, Kind::User | Kind::Feedback);
        let stated = stated.into_iter().filter(is_preference).collect();
        let repeated = self.repeated_preferences(scope, stated, progress).await?;
        let mut texts = BTreeMap::new();
        for layer in LAYERS {
            texts.insert(layer, self.read_layer(scope, layer).await?.text);
        }
        let files: BTreeMap<Layer, LayerLines<'_>> =
            texts.iter().map(|(layer, text)| (*layer, LayerLines::new(*layer, text))).collect();
        let is_shared = self.has_other_users(scope).await?;
        let lines = superseded_lines(&statements, &trusted, &files);
        let mut proposals = self.without_agent_saves(scope, &statements, lines).await?;
        for preference in &repeated {
            proposals.extend(preference_proposal(preference, &statements, &files, is_shared));
        }
        Ok(proposals)
    }

    async fn statements(&self, scope: &Scope) -> Result<StatementHistory> {
        let filter = MemoryFilter { kinds: KINDS.to_vec(), ..MemoryFilter::default() };
        let mut pages = MemoryPages::new(&*self.store, scope, filter, SCAN_PAGE);
        let mut statements = StatementHistory::default();
        while let Some(page) = pages.next().await? {
            page.into_iter().for_each(|memory| statements.add(memory));
        }
        Ok(statements)
    }

    /// Returns the active statements that may be proposed, oldest first.
    async fn stated_preferences(
        &self,
        scope: &Scope,
        statements: &StatementHistory,
    ) -> Result<Vec<StatedPreference>> {
        let stated = |memory: &Memory| StatedPreference {
            id: memory.id,
            kind: memory.kind,
            content: memory.content.clone(),
            corrected: statements.chain(memory.id),
            // Each save is a change; the journal is read for those that matter.
            saves: if is_saved(memory) { memory.version as usize } else { 0 },
        };
        let fit = statements.all.values().filter(|memory| may_be_proposed(memory));
        let mut all: Vec<StatedPreference> = fit.map(stated).collect();
        let founded = self.evidence_of_user(scope, statements, &all).await?;
        all.retain(|stated| stated.saves > 0 || founded.contains(&stated.id));
        Ok(all)
    }

    /// Returns the extracted statements that rest on the user's own words alone.
    async fn evidence_of_user(
        &self,
        scope: &Scope,
        statements: &StatementHistory,
        stated: &[StatedPreference],
    ) -> Result<HashSet<MemoryId>> {
        let mut found = HashSet::new();
        for page in stated.chunks(SCAN_PAGE) {
            let memories = page.iter().filter_map(|stated| statements.all.get(&stated.id));
            let memories: Vec<&Memory> =
                memories.filter(|memory| memory.source.via == Origin::Extract).collect();
            let turns = memories.iter().flat_map(|memory| &memory.source.turns);
            let turns = self.memories_of(scope, turns).await?;
            let by_user = |id: &MemoryId| turns.get(id).is_some_and(|turn| is_by_user(turn, scope));
            let is_founded = |memory: &&&Memory| {
                !memory.source.turns.is_empty() && memory.source.turns.iter().all(by_user)
            };
            found.extend(memories.iter().filter(is_founded).map(|memory| memory.id));
        }
        Ok(found)
    }

    /// Returns how often a person saved a statement by hand; `None` if an agent did, which may have it from a page or a
    /// tool.
    pub(super) async fn saves_by_person(
        &self,
        scope: &Scope,
        id: MemoryId,
    ) -> Result<Option<usize>> {
        let query = JournalQuery { id: Some(id), ..JournalQuery::default() };
        let entries = self.store.journal().entries(scope, &query).await?;
        // A repeated statement gets a new time; other changes are none of it.
        let said_at = |memory: &Option<Box<Memory>>| memory.as_ref().map(|memory| memory.at);
        let is_save = |entry: &&JournalEntry| said_at(&entry.before) != said_at(&entry.after);
        let actors: Vec<Actor> = entries.iter().filter(is_save).map(|it| it.actor).collect();
        let is_person = !actors.is_empty() && actors.iter().all(|actor| *actor == Actor::Person);
        Ok(is_person.then_some(actors.len()))
    }

    /// Drops proposals about statements that an agent saved.
    async fn without_agent_saves(
        &self,
        scope: &Scope,
        statements: &StatementHistory,
        proposals: Vec<Proposal>,
    ) -> Result<Vec<Proposal>> {
        let mut kept = Vec::new();
        for proposal in proposals {
            let subject = proposal.evidence.first().and_then(|id| statements.all.get(id));
            let is_fit = match subject.filter(|memory| is_saved(memory)) {
                Some(memory) => self.saves_by_person(scope, memory.id).await?.is_some(),
                None => true,
            };
            kept.extend(is_fit.then_some(proposal));
        }
        Ok(kept)
    }

    /// Reads the turns of the user and returns the preferences that came up often enough.
    async fn repeated_preferences(
        &self,
        scope: &Scope,
        stated: Vec<StatedPreference>,
        progress: &mut (dyn FnMut(usize) + Send),
    ) -> Result<Vec<RepeatedPreference>> {
        let mut scan = PreferenceScan::new(stated);
        let filter = MemoryFilter { kinds: vec![Kind::Turn], ..MemoryFilter::default() };
        let mut pages = MemoryPages::new(&*self.store, scope, filter, SCAN_PAGE);
        let mut count = 0;
        while let Some(page) = pages.next().await? {
            count += page.len();
            let owner = scope.clone();
            scan = run_blocking(move || {
                for turn in page.iter().filter(|turn| is_by_user(turn, &owner)) {
                    let session = turn.source.session.as_deref().unwrap_or_default();
                    scan.read(turn.id, session, &turn.content);
                }
                Ok(scan)
            })
            .await?;
            progress(count);
        }
        let mut repeated = Vec::new();
        for preference in scan.finish() {
            let saves = match preference.stated.saves {
                0 => Some(0),
                _ => self.saves_by_person(scope, preference.stated.id).await?,
            };
            repeated.extend(saves.and_then(|saves| preference.with_saves(saves)));
        }
        Ok(newest_of_each_topic(repeated))
    }
}

/// Returns `true` if a memory was saved as it is, not extracted from turns.
fn is_saved(memory: &Memory) -> bool {
    memory.source.via == Origin::Remember
}

/// Returns `true` if a statement may be proposed: it holds, is the user's own and not an attempt to take the model over.
fn may_be_proposed(memory: &Memory) -> bool {
    let speaker = memory.source.speaker.as_deref().unwrap_or_default();
    let is_by_user = matches!(memory.source.role, None | Some(Role::User));
    let trust = memory.trust();
    memory.status == Status::Active
        && trust >= Trust::Inferred
        && is_by_user
        && is_user_name(speaker, &memory.scope)
        && !is_unverified(memory)
        && (trust >= Trust::Said || !is_agent_command(&memory.content))
        && memory.content.chars().count() <= MAX_LINE_CHARS
}

/// Returns `true` if the user said a turn, and it is no attempt to take the model over.
pub(super) fn is_by_user(turn: &Memory, scope: &Scope) -> bool {
    let speaker = turn.source.speaker.as_deref().unwrap_or_default();
    turn.kind == Kind::Turn
        && matches!(turn.source.role, None | Some(Role::User))
        && is_user_name(speaker, scope)
        && !is_suspect(&turn.content)
}

/// Returns proposals to replace lines that say what was superseded since.
fn superseded_lines(
    statements: &StatementHistory,
    trusted: &HashSet<MemoryId>,
    files: &BTreeMap<Layer, LayerLines<'_>>,
) -> Vec<Proposal> {
    let mut proposals = Vec::new();
    for (by, older) in &statements.corrected {
        let Some(new) = statements.all.get(by).filter(|new| trusted.contains(&new.id)) else {
            continue;
        };
        for old in older.iter().filter_map(|id| statements.all.get(id)) {
            for (layer, file) in files {
                let edit = file.replacing(&old.content, &new.content);
                let Some(edit) = edit.filter(|_| !file.says(&new.content)) else { continue };
                let why = format!(
                    "{}.md still says “{}”, and you said since: “{}”",
                    layer.as_str().to_uppercase(),
                    old.content,
                    new.content
                );
                let evidence = vec![new.id, old.id];
                let topic = Topic::of(&new.content);
                proposals.push(proposal(ProposalReason::Contradiction, why, evidence, edit, topic));
            }
        }
    }
    proposals.sort_by_key(|proposal| proposal.evidence.first().copied());
    proposals
}

/// Returns the proposal for a preference; `None` if its file has it. What the user wants of the agent goes to SOUL.md,
/// unless other users share it.
fn preference_proposal(
    preference: &RepeatedPreference,
    statements: &StatementHistory,
    files: &BTreeMap<Layer, LayerLines<'_>>,
    is_shared: bool,
) -> Option<Proposal> {
    let stated = &preference.stated;
    let is_for_soul = stated.kind == Kind::Feedback && !is_shared;
    let wish = plain_wish(&preference.rule);
    let layer = if is_for_soul { Layer::Soul } else { Layer::User };
    if files.values().any(|file| file.says(&wish)) {
        return None;
    }
    let file = files.get(&layer)?;
    let older = stated.corrected.iter().filter_map(|id| statements.all.get(id));
    let edit = { older }.find_map(|old| file.replacing(&old.content, &wish));
    let edit = edit.unwrap_or_else(|| file.adding(&wish, is_fact(stated.kind, &wish)));
    let (reason, verb) = if preference.is_corrected {
        (ProposalReason::Correction, "asked for or corrected")
    } else {
        (ProposalReason::Preference, "said")
    };
    let why = format!(
        "you {verb} this {} times: “{}”; the agent would know it in every conversation",
        preference.occasions, wish
    );
    let topic = Topic::of(&stated.content);
    Some(proposal(reason, why, preference.evidence.clone(), edit, topic))
}

/// Returns `true` if a statement tells something of the user, and nothing that they want.
fn is_fact(kind: Kind, statement: &str) -> bool {
    let lower = statement.to_lowercase();
    let wants = [
        "prefer",
        "like",
        "love",
        "hate",
        "want",
        "please",
        "favourite",
        "favorite",
        "always",
        "never",
    ];
    let wants_chinese = ["喜欢", "偏好", "爱", "讨厌", "想", "要", "请", "别", "用"];
    kind == Kind::User && !wants.iter().chain(&wants_chinese).any(|word| lower.contains(word))
}

fn proposal(
    reason: ProposalReason,
    why: String,
    evidence: Vec<MemoryId>,
    edit: LayerLineEdit,
    topic: Topic,
) -> Proposal {
    Proposal {
        reason,
        why,
        evidence,
        change: ProposedChange::Layer(edit),
        state: ProposalState::Open,
        topic,
        decided_at: None,
        applied: None,
    }
}
