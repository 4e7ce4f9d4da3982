//! Statements of one message.

use jiff::Zoned;

use super::{
    StatementExtractor,
    completion::completed,
    cut::CutMessage,
    dates::with_dates,
    decide::{JudgedSentence, KeepReason, category_of},
    filler::without_filler,
    frame::is_foreign_text,
    front, requests,
    sincerity::{begins_anew, is_unknown},
};
use crate::{
    error::Result,
    ingest::extract::{
        Draft, TurnText,
        correction::{Correction, CorrectionCue},
        judge::{KEEP_LOG_ODDS, MAX_UNASSERTED, unasserted_log_odds},
        slots::{FoundSlot, SlotPatterns},
    },
    llm::{SentenceInput, SentenceMode, SentenceScores},
    types::{Attribute, MemoryId, Slot, USER_SUBJECT},
};

/// Texts before a sentence that the classifier gets: it reads the last 48 word pieces of them.
const MAX_TEXTS_BEFORE: usize = 8;

/// Longest statement that takes up another sentence that refers to it.
const MAX_JOINED_CHARS: usize = 400;

/// Message while it is read.
struct MessageReader<'a> {
    turn: &'a TurnText,
    cut: &'a CutMessage,
    patterns: SlotPatterns,
    now: Zoned,
    sentences: Vec<JudgedSentence>,
    /// Reply before the message.
    reply: Option<&'a TurnText>,
}

/// Parts of a message that make up one statement.
#[derive(Debug, Clone, Copy)]
struct StatementSpan {
    first: usize,
    last: usize,
    /// Part that was kept first.
    kept: usize,
    reason: KeepReason,
}

impl StatementExtractor<'_> {
    /// Reads a message of a person, and proposes its statements.
    pub(super) fn read_message(&mut self, turn: &TurnText, reply: Option<&TurnText>) -> Result<()> {
        let cut = CutMessage::new(&turn.text);
        let patterns = SlotPatterns::for_text(&turn.text)
            .or_else(|| reply.and_then(|reply| SlotPatterns::for_text(&reply.text)));
        let Some(patterns) = patterns else { return Ok(()) };
        self.frame.enter(&turn.text);
        let now = turn.at.to_zoned(self.zone.clone());
        let sentences = self.judge_parts(&cut, patterns, &now, reply)?;
        let reader = MessageReader { turn, cut: &cut, patterns, now, sentences, reply };
        if let Some(confirmed) = self.confirmed(&reader)? {
            self.propose(confirmed)?;
        }
        for draft in reader.drafts() {
            self.propose(draft)?;
        }
        Ok(())
    }

    /// Judges the parts of a message, and adds them to the history.
    fn judge_parts(
        &mut self,
        cut: &CutMessage,
        patterns: SlotPatterns,
        now: &Zoned,
        reply: Option<&TurnText>,
    ) -> Result<Vec<JudgedSentence>> {
        let mut sentences = Vec::new();
        let mut own_from = 0;
        for part in 0..cut.parts.len() {
            if self.leave_play(cut.words(part)) {
                own_from = part;
            }
            let question = reply.filter(|_| part == 0);
            let question = question.and_then(|reply| front::last_question(&reply.text));
            sentences.push(self.judge_part(cut, part, patterns, now, question)?);
            self.hear_words(cut.words(part));
        }
        let read = sentences.iter().skip(own_from);
        let scores: Vec<SentenceScores> = read.filter_map(|it| it.scores).collect();
        let is_foreign = match self.judge {
            Some(_) => is_foreign_text(&cut.text, &scores),
            None => patterns.is_not_about_the_user(&cut.text),
        };
        sentences.iter_mut().for_each(|sentence| sentence.is_framed |= is_foreign);
        Ok(sentences)
    }

    /// Judges a part of a message; `question` is the one that it may answer.
    fn judge_part(
        &mut self,
        cut: &CutMessage,
        part: usize,
        patterns: SlotPatterns,
        now: &Zoned,
        question: Option<&str>,
    ) -> Result<JudgedSentence> {
        let (words, after) = (cut.words(part), cut.words(part + 1));
        let scores = self.judge_text(words, after)?;
        let is_framed = self.frame.is_play();
        scores.iter().for_each(|scores| self.frame.add(scores));
        let requested = requests::requested(words);
        let is_requested = requested.is_some() || requests::refers_back(after);
        let mut slots = find_slots(words, requested, patterns, now);
        let begins_anew = begins_anew(words);
        let needs_alone = begins_anew || !slots.is_empty();
        let alone = self.judge_alone(Some(words).filter(|_| needs_alone), scores.as_ref())?;
        let cue = CorrectionCue::of(words, scores.as_ref());
        let is_open_correction = cue.is_some_and(CorrectionCue::is_open_statement);
        let completed = completed(words, is_open_correction, question);
        let has_frame = is_open_correction || question.is_some();
        if let Some(text) = completed.as_ref().filter(|_| has_frame && slots.is_empty()) {
            let found = patterns.find(text, now).into_iter();
            slots.extend(found.map(|it| FoundSlot { clause_start: None, ..it }));
        }
        Ok(JudgedSentence {
            completed: self.judge_alone(completed.as_deref(), scores.as_ref())?,
            is_unknown: is_unknown(words),
            scores,
            alone,
            is_open_correction,
            slots,
            is_requested,
            is_framed,
            begins_anew,
        })
    }

    fn judge_text(&self, text: &str, after: &str) -> Result<Option<SentenceScores>> {
        let Some(judge) = self.judge else { return Ok(None) };
        let from = self.history.len().saturating_sub(MAX_TEXTS_BEFORE);
        let before: Vec<&str> = self.history[from..].iter().map(String::as_str).collect();
        judge.judge_sentence(&SentenceInput { before: &before, text, after }).map(Some)
    }

    /// Judges a sentence that is not kept in its context without this context.
    fn judge_alone(
        &self,
        text: Option<&str>,
        scores: Option<&SentenceScores>,
    ) -> Result<Option<SentenceScores>> {
        let is_unsure = scores.is_some_and(|scores| {
            scores.keep < KEEP_LOG_ODDS || unasserted_log_odds(scores) > MAX_UNASSERTED
        });
        match (self.judge.filter(|_| is_unsure), text) {
            (Some(judge), Some(text)) => {
                judge.judge_sentence(&SentenceInput { before: &[], text, after: "" }).map(Some)
            }
            _ => Ok(None),
        }
    }

    /// Returns the statement that a person makes by confirming the question of a reply.
    fn confirmed(&self, message: &MessageReader<'_>) -> Result<Option<Draft>> {
        let question = message.reply.and_then(|reply| front::last_question(&reply.text));
        let (Some(reply), Some(question)) = (message.reply, question) else { return Ok(None) };
        let answer = message.turn.text.trim();
        if !message.patterns.is_confirmation(answer) {
            return Ok(None);
        }
        let Some(stated) = message.patterns.question_to_statement(question) else {
            return Ok(None);
        };
        let slots = message.patterns.find(&stated, &message.now);
        let (is_requested, is_framed) = (false, self.frame.is_play());
        let scores = match self.judge {
            Some(judge) => {
                let input = SentenceInput { before: &[], text: &stated, after: "" };
                Some(judge.judge_sentence(&input)?)
            }
            None => None,
        };
        let judged = JudgedSentence {
            scores,
            alone: scores,
            completed: None,
            is_open_correction: false,
            slots,
            is_requested,
            is_framed,
            begins_anew: false,
            is_unknown: false,
        };
        Ok(judged.keep_reason().map(|reason| {
            let content = format!("{question} — {answer}");
            let evidence = vec![reply.id, message.turn.id];
            message.draft(content, reason, judged.slots.into_iter().next(), evidence)
        }))
    }
}

impl MessageReader<'_> {
    /// Returns the drafts of all statements, and of withdrawals, in order.
    fn drafts(&self) -> Vec<Draft> {
        let mut spans: Vec<StatementSpan> = Vec::new();
        let mut drafts: Vec<(usize, Draft)> = Vec::new();
        for (part, sentence) in self.sentences.iter().enumerate() {
            let cue = self.cue(part);
            match sentence.keep_reason() {
                Some(_) if cue.is_some_and(|cue| cue.withdraws && cue.only_withdraws) => {
                    drafts.push((part, self.withdrawal(part)));
                }
                Some(reason) => self.add_span(&mut spans, part, reason),
                None if cue.is_some_and(|cue| cue.is_fragment() && !sentence.is_framed) => {
                    self.add_span(&mut spans, part, sentence.fragment_reason());
                }
                None if cue.is_some_and(|cue| cue.withdraws || cue.is_direct && cue.is_bare) => {
                    drafts.push((part, self.withdrawal(part)));
                }
                None => {}
            }
        }
        drafts.extend(
            spans
                .iter()
                .flat_map(|span| self.statements(span).into_iter().map(|it| (span.last, it))),
        );
        drafts.sort_by_key(|(part, _)| *part);
        drafts.into_iter().map(|(_, draft)| draft).collect()
    }

    fn cue(&self, part: usize) -> Option<CorrectionCue> {
        CorrectionCue::of(self.cut.words(part), self.sentences[part].scores.as_ref())
    }

    fn correction(&self, part: usize) -> Option<Correction> {
        let scores = self.sentences[part].scores.as_ref();
        self.cue(part).map(|cue| Correction::new(cue, scores))
    }

    /// Adds a kept part: to the statement before it, if it is a clause of the same sentence or refers to it.
    fn add_span(&self, spans: &mut Vec<StatementSpan>, part: usize, reason: KeepReason) {
        let refers_back = part > 0 && front::refers_back(self.cut.words(part));
        if let Some(last) = spans.last_mut()
            && last.last + 1 == part
        {
            let is_clause = self.cut.parts[last.last].sentence == self.cut.parts[part].sentence;
            let chars = self.cut.words_between(last.first, part).chars().count();
            if is_clause || refers_back && chars <= MAX_JOINED_CHARS && self.cue(part).is_none() {
                last.last = part;
                return;
            }
        }
        let needs_front = refers_back && self.can_stand_in_front(part - 1);
        let first = if needs_front { part - 1 } else { part };
        spans.push(StatementSpan { first, last: part, kept: part, reason });
    }

    /// Returns `true` if a sentence that was not kept can stand in front of another: it asserts something.
    fn can_stand_in_front(&self, part: usize) -> bool {
        let chars = self.cut.words_between(part, part + 1).chars().count();
        let is_plain = self.sentences[part].scores.is_none_or(|scores| {
            matches!(
                scores.mode,
                SentenceMode::Asserted
                    | SentenceMode::Retracted
                    | SentenceMode::Question
                    | SentenceMode::Instruction
            )
        });
        chars <= MAX_JOINED_CHARS && is_plain && self.cue(part).is_none()
    }

    /// Returns the drafts of a statement: one, or several where each of its clauses gives a value to another slot.
    fn statements(&self, span: &StatementSpan) -> Vec<Draft> {
        let words = self.cut.words_between(span.first, span.last);
        let slots = &self.sentences[span.kept].slots;
        let evidence = vec![self.turn.id];
        if span.first == span.last
            && let Some(pieces) = split_by_slots(&words, slots)
        {
            let drafts = pieces.into_iter().map(|(piece, found)| {
                let category = category_of(found.slot.attribute);
                let reason = KeepReason { category, ..span.reason };
                self.draft(self.dated(piece), reason, Some(found), evidence.clone())
            });
            return drafts.collect();
        }
        let dated = self.dated(without_filler(&words));
        let question = self.reply.filter(|_| span.first == 0);
        let question =
            question.and_then(|reply| Some((reply.id, front::question_of(&reply.text, &words)?)));
        let (content, evidence) = match question {
            Some((id, question)) => (format!("{question} — {dated}"), vec![id, self.turn.id]),
            None => (dated, evidence),
        };
        let correction = (span.kept..=span.last).find_map(|part| self.correction(part));
        let is_tentative = span.reason.is_tentative;
        let stands_alone = span.first < span.kept || evidence.len() > 1;
        let correction = correction.map(|it| Correction {
            is_tentative,
            lacks_subject: it.lacks_subject && !stands_alone,
            ..it
        });
        let draft = self.draft(content, span.reason, slots.first().cloned(), evidence);
        vec![Draft { correction, ..draft }]
    }

    fn dated(&self, words: &str) -> String {
        with_dates(words, &self.now, self.patterns.language())
    }

    /// Returns a draft that stores nothing and ends what it means.
    fn withdrawal(&self, part: usize) -> Draft {
        let is_bare = self.cue(part).is_some_and(|cue| cue.is_bare);
        let correction = self.correction(part).map(Correction::into_withdrawal);
        let correction =
            correction.map(|it| Correction { is_direct: it.is_direct || is_bare, ..it });
        let words = self.cut.words(part).to_owned();
        let language = self.patterns.language();
        Draft {
            correction,
            evidence: vec![self.turn.id],
            speaker: self.turn.speaker.clone(),
            ..Draft::said(words, None, None, language, self.turn.at)
        }
    }

    fn draft(
        &self,
        content: String,
        reason: KeepReason,
        found: Option<FoundSlot>,
        evidence: Vec<MemoryId>,
    ) -> Draft {
        let language = self.patterns.language();
        let (slot, replaces) = found.map_or((None, None), |it| (Some(it.slot), it.replaces));
        Draft {
            confidence: reason.confidence,
            evidence,
            replaces,
            speaker: self.turn.speaker.clone(),
            ..Draft::said(content, Some(reason.category), slot, language, self.turn.at)
        }
    }
}

/// Returns the slots of a sentence; of a request, those of what it asks to remember, or else a note.
fn find_slots(
    sentence: &str,
    requested: Option<&str>,
    patterns: SlotPatterns,
    now: &Zoned,
) -> Vec<FoundSlot> {
    let Some(requested) = requested else { return patterns.find(sentence, now) };
    let found = patterns.find(requested, now).into_iter();
    let mut slots: Vec<_> = found.map(|it| FoundSlot { clause_start: None, ..it }).collect();
    if slots.is_empty() {
        let subject = USER_SUBJECT.to_owned();
        let value = requested.trim_end_matches(['.', '!', '。', '！', ' ']).to_owned();
        let slot = Slot { subject, attribute: Attribute::Note, value, ended: false };
        slots.push(FoundSlot { slot, replaces: None, clause_start: None });
    }
    slots
}

/// Splits a sentence into pieces with a slot each, where every one can stand on its own; `None` if there are not several.
fn split_by_slots<'a>(sentence: &'a str, slots: &[FoundSlot]) -> Option<Vec<(&'a str, FoundSlot)>> {
    let starts: Option<Vec<usize>> = slots.iter().map(|found| found.clause_start).collect();
    let starts = starts.filter(|starts| starts.len() > 1 && starts.is_sorted())?;
    let is_distinct = |pair: &[FoundSlot]| !pair[0].slot.same_attribute(&pair[1].slot);
    if !slots.windows(2).all(is_distinct) {
        return None;
    }
    let ends = starts[1..].iter().copied().chain([sentence.len()]);
    let begins = std::iter::once(0).chain(starts[1..].iter().copied());
    let pieces = begins.zip(ends).zip(slots);
    pieces
        .map(|((start, end), slot)| Some((trim_joint(sentence.get(start..end)?), slot.clone())))
        .collect()
}

/// Removes the comma or conjunction between two clauses, and a filler.
fn trim_joint(piece: &str) -> &str {
    let piece = without_filler(piece.trim());
    let marks = [' ', ',', ';', '，', '；', '、'];
    let piece = piece.trim_end_matches(marks);
    let cut = [" and", " but", " so"].iter().find_map(|word| piece.strip_suffix(word));
    cut.unwrap_or(piece).trim_end_matches(marks)
}
