//! Judgement of a sentence by the built-in encoder: is it worth keeping, what is it about, and is it meant.

/// Sentence of a conversation, with the text around it.
#[derive(Debug, Clone, Copy)]
pub struct SentenceInput<'a> {
    /// Sentences and replies before it in its session, oldest first.
    pub before: &'a [&'a str],
    /// The sentence.
    pub text: &'a str,
    /// Next sentence of its message; empty at the end.
    pub after: &'a str,
}

/// Judgement of a sentence.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SentenceScores {
    /// Log odds that an assistant should still know it weeks later.
    pub keep: f32,
    /// Most probable kind of a sentence that is kept.
    pub kind: SentenceKind,
    /// Log odds of each kind but for a constant, in the order of [`SentenceKind::ALL`].
    pub kind_scores: [f32; SentenceKind::ALL.len()],
    /// Most probable mode.
    pub mode: SentenceMode,
    /// Log odds of each mode but for a constant, in the order of [`SentenceMode::ALL`].
    pub mode_scores: [f32; SentenceMode::ALL.len()],
}

/// Declares an enum whose variants are outputs of the model, in its order.
macro_rules! outputs {
    ($(#[$doc:meta])* $name:ident { $($(#[$variant_doc:meta])* $variant:ident = $text:literal,)* }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum $name { $($(#[$variant_doc])* $variant,)* }

        impl $name {
            /// All variants, in the order of the model's outputs.
            pub const ALL: [Self; [$($text),*].len()] = [$(Self::$variant),*];

            /// Returns the name used in labels and categories.
            pub fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $text,)* }
            }
        }
    };
}

outputs! {
    /// Subject matter of a sentence that is worth keeping.
    SentenceKind {
        /// Name, age, home, origin, languages, pets, belongings.
        Identity = "identity",
        /// Relatives, partner and friends.
        Family = "family",
        /// Job, employer, colleagues, study.
        Work = "work",
        /// Allergies, diet, illness, medicine.
        Health = "health",
        /// Likes, dislikes, habits, hobbies.
        Preference = "preference",
        /// Standing wishes on how the assistant should behave.
        Feedback = "feedback",
        /// Appointments, trips, deadlines, intentions.
        Plan = "plan",
        /// Facts about a project, a code base or a business.
        Project = "project",
        /// Something that was decided or agreed.
        Decision = "decision",
        /// Something that the assistant is asked to remember.
        Request = "request",
    }
}

outputs! {
    /// Way in which a sentence is meant.
    SentenceMode {
        /// Said as true.
        Asserted = "asserted",
        /// Takes back or changes something said earlier.
        Correction = "correction",
        /// Said as true, and taken back later.
        Retracted = "retracted",
        /// Asks.
        Question = "question",
        /// Supposes or wishes.
        Hypothetical = "hypothetical",
        /// Words of somebody else.
        Quoted = "quoted",
        /// Role play, story, sample text.
        Acted = "acted",
        /// Irony, exaggeration.
        Joke = "joke",
        /// Text to translate or to correct.
        Translation = "translation",
        /// Log, mail, file or web page.
        Pasted = "pasted",
        /// Task for now.
        Instruction = "instruction",
        /// Greeting, comment, mood.
        Smalltalk = "smalltalk",
    }
}
