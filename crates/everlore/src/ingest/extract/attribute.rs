//! Attribution of drafts: a statement belongs to who said it. What Ben says of himself is about Ben, and rivals only what
//! is known of Ben.

use std::collections::BTreeSet;

use super::{Draft, TurnText, describe::describe};
use crate::types::{Role, Trust, USER_SUBJECT};

/// Words for the user at the beginning of a statement, as extractors write them.
const USER_OPENINGS: [&str; 3] = ["The user", "the user", "用户"];

/// Sets the speaker of each draft whose evidence is of one person other than the user, and makes that person the
/// subject. A draft from the words of several people keeps no slot about the user.
pub(crate) fn attribute_to_speakers(drafts: &mut [Draft], turns: &[&TurnText]) {
    for draft in drafts {
        attribute_to_speakers(&mut draft.earlier, turns);
        let is_evidence = |turn: &&&TurnText| draft.evidence.contains(&turn.id);
        let said = turns.iter().filter(is_evidence).filter(|turn| turn.role == Role::User);
        let speakers: BTreeSet<Option<&str>> = said.map(|turn| turn.speaker.as_deref()).collect();
        match speakers.into_iter().collect::<Vec<_>>()[..] {
            [Some(name)] => draft.attribute_to(name),
            [] | [None] => {}
            _ => draft.slot = draft.slot.take().filter(|slot| !is_about_user(&slot.subject)),
        }
    }
}

impl Draft {
    fn attribute_to(&mut self, name: &str) {
        self.speaker = Some(name.to_owned());
        if let Some(slot) = &mut self.slot
            && is_about_user(&slot.subject)
        {
            slot.subject = slot.subject.replacen(USER_SUBJECT, name, 1);
            self.description = describe(slot, self.language);
        }
        // What a person said stays as it was said.
        if self.trust == Trust::Said {
            return;
        }
        for text in [&mut self.content, &mut self.name] {
            let rest = USER_OPENINGS.iter().find_map(|opening| text.strip_prefix(opening));
            if let Some(rest) = rest {
                *text = format!("{name}{rest}");
            }
        }
    }
}

/// Returns `true` for the user and for what is the user's, such as `user's sister`.
fn is_about_user(subject: &str) -> bool {
    let rest = subject.strip_prefix(USER_SUBJECT);
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(['\'', '’', ' ', '的']))
}
