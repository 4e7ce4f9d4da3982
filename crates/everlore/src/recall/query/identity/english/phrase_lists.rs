//! Phrase lists of English identity questions.

/// Phrases that may precede the question.
#[rustfmt::skip]
pub(super) const LEAD_INS: &[&str] = &[
    "hey ", "hi ", "hello ", "ok ", "okay ", "so ", "well ", "and ", "but ", "please ", "now ", "can you ", "could you ", "also ", "alright ", "btw ",
    "would you ", "will you ", "do you know ", "do you remember ", "do you still know ", "do you still remember ", "do you happen to know ", "by the way ",
    "do you recall ", "tell me ", "remind me ", "i forgot ", "i wonder ", "i am curious ", "i want to know ", "just ", "quick question ", "say ", "random but ",
    "any idea ", "you know ", "based on what you know ", "from what i told you ", "from memory ", "be honest ", "honestly ", "actually ", "seriously ", "hm ", "hmm ",
];

/// Phrases that may follow the question.
#[rustfmt::skip]
pub(super) const TAILS: &[&str] = &[
    " again", " please", " right now", " now", " today", " so far", " anyway", " by the way", " exactly", " currently", " lol", " haha", " btw", " pls",
    " these days", " do you know", " do you remember", " if you remember", " to you", " then", " at all", " really", " in your opinion", " according to you",
];

/// Whole questions for the profile.
#[rustfmt::skip]
pub(super) const PROFILE_QUESTIONS: &[&str] = &[
    "about me", "about myself", "what am i", "who are you talking to", "who you are talking to", "who is talking to you", "what did i tell you", "what have i told you", "what i told you",
    "what did i share with you", "what have i shared with you", "what i have told you", "what kind of person am i", "what sort of person am i", "what type of person am i",
    "what kind of person i am", "what am i like", "what i am like", "what are you remembering", "what do you remember", "what have you remembered", "what have you learned",
    "what do you know already", "what have you stored", "what have you saved", "show me my memories", "list my memories", "list your memories", "show your memories",
    "what is in your memory", "what do you have in memory", "what do you have in your memory", "know me", "remember me", "introduce me", "sum me up", "explain me", "summarize me",
];

/// Phrases in which the user is the object of knowledge.
#[rustfmt::skip]
pub(super) const ABOUT_SELF: &[&str] = &[
    "about me", "about myself", "about my life", "of my life", "regarding me", "concerning me", "about who i am", "me as a person", "me personally", "about this user", "about your user", "about the user",
];

/// Phrases in which the user is the object of knowledge if the assistant is spoken to: "a picture of me" may be a photo.
pub(super) const OF_SELF: &[&str] =
    &["of me", "on me", "of myself", "from me", "of who i am", "me in a nutshell"];

/// Words of knowledge, of records of it, and of telling it.
#[rustfmt::skip]
pub(super) const KNOWLEDGE: &[&str] = &[
    "know", "knows", "known", "knowledge", "remember", "remembered", "remembering", "recall", "learned", "learnt", "learn", "store", "stored", "storing", "save", "saved", "saving", "record", "recorded", "records",
    "note", "noted", "notes", "keep", "keeps", "kept", "keeping", "memory", "memories", "memorized", "info", "information", "facts", "fact", "details", "data", "everything", "anything", "something",
    "things", "stuff", "understand", "understanding", "told", "tell", "say", "said", "mentioned", "mention", "shared", "share", "picked up", "gathered", "collected", "figured out", "noticed", "observed", "impression", "impressions", "picture", "opinion", "view",
    "summary", "summarize", "summarise", "describe", "description", "bio", "biography", "portrait", "profile", "sketch", "think", "make", "have", "got", "recap", "list", "file", "dossier", "overview", "aware", "familiar", "talk", "talked", "hold", "retain", "retained", "understood", "seen", "assumptions", "conclusions", "believe", "guess", "sense", "idea", "feel", "track", "archive", "rundown", "lowdown", "report", "insight", "insights", "traits",
];

/// Words that speak to the assistant.
pub(super) const ASSISTANT: &[&str] =
    &["you", "your", "our chats", "our conversations", "from memory", "our talks"];

/// The assistant's acquaintance with the user.
#[rustfmt::skip]
pub(super) const ACQUAINTANCE: &[&str] = &[
    "know me", "remember me", "recognize me", "recognise me", "forget me", "forgotten me", "forgot me", "understand me", "recall me", "familiar with me", "acquainted with me", "met me",
    "know who this is", "know who i am", "who you are talking to", "who you are speaking to", "who you are dealing with", "who you are chatting with", "who you are helping",
];

/// Words that may follow a phrase that ends with the user: any other word goes on to something else.
#[rustfmt::skip]
pub(super) const AFTER_SELF: &[&str] = &[
    "well", "at", "as", "by", "yet", "now", "better", "best", "still", "already", "so", "or", "and", "though", "then", "again", "personally", "anymore", "in", "after", "to", "from", "based", "exactly", "actually", "really", "lol", "haha", "please",
    "today", "according", "with", "i", "what", "btw", "pls", "today's", "back", "that", "you", "say", "look", "contain", "contains", "is", "are", "deep", "if", "do", "like", "who", "without", "looks", "for", "using", "out",
];

/// Wishes for a description of the user.
#[rustfmt::skip]
pub(super) const DESCRIPTIONS: &[&str] = &[
    "describe me", "summarize me", "summarise me", "sum me up", "profile me", "roast me", "characterize me", "characterise me", "portray me", "explain me to me", "explain me to myself", "introduce me to myself",
    "introduce me as", "tell me about myself", "tell me about me", "describe who i am", "write about me", "analyze me", "analyse me", "psychoanalyze me", "how would you introduce me", "how do you see me", "how would you describe me", "how you see me", "introduce me based",
];

/// Introductions to other people; "introduce me to" alone asks for a new subject.
pub(super) const INTRODUCTIONS: &[&str] = &[
    "introduce me to someone",
    "introduce me to others",
    "introduce me to a stranger",
    "introduce me to a friend",
    "introduce me to your",
    "we know each other",
    "have we met",
    "have we talked before",
    "ring a bell",
    "me in three words",
    "me in a few words",
    "me in one sentence",
    "me in a sentence",
    "what makes me me",
    "how do you picture me",
    "how well you know me",
    "how much you know me",
    "kind of user am i",
    "kind of person i am",
    "sort of person i am",
    "everything you have stored",
    "everything you have saved",
    "everything you remember",
];

/// Words after which a wish has an object of its own.
pub(super) const ARTICLES: &[&str] =
    &["the", "a", "an", "how", "what", "this", "that", "these", "some", "why"];

/// Records about the user.
#[rustfmt::skip]
pub(super) const RECORDS: &[&str] = &[
    "my profile", "my user profile", "my personal profile", "my whole profile", "my full profile", "my bio", "my biography", "my persona", "my dossier", "my character sheet", "my personal information", "my personal info", "my personal details", "my personal data",
    "my memories", "my memory profile", "my identity", "my user card", "my whole story", "my life story", "my entire file", "my personality profile", "my story", "my portrait", "my user data", "my stored data", "my stored profile", "my saved information", "my saved memories", "my saved info",
];

/// Records about the user, if they are asked of the assistant: a file may also be one on a disk.
pub(super) const FILES: &[&str] = &[
    "my file",
    "my record",
    "my records",
    "my entry",
    "my data",
    "my info",
    "my details",
    "my card",
    "my page",
];

/// Phrases in which a topic of the user's is the object of knowledge.
#[rustfmt::skip]
pub(super) const ABOUT_OWN: &[&str] = &[
    "about my", "of my", "on my", "regarding my", "what i", "how i", "where i", "when i", "who i", "which i", "about our", "my own", "why i", "things i",
];

/// Phrases that ask for a topic anywhere in a text.
#[rustfmt::skip]
pub(super) const TOPIC_PARTS: &[&str] = &[
    "about me", "about myself", "my preference", "my preferences", "my favorite", "my favorites", "do i like", "do i love", "do i prefer", "do i enjoy", "do i hate", "do i dislike", "do i usually", "do i normally", "do i typically", "do i generally", "do i tend",
    "my taste", "my tastes", "my hobbies", "my hobby", "my interests", "my habits", "my usual", "my routine", "my likes", "my personality", "my diet", "am i allergic", "my allergies", "suits me", "suit me", "based on what you know",
    "what did i tell you about", "what have i told you about", "did i tell you", "did i ever tell", "did i mention", "did i ever mention", "i told you", "have i mentioned", "have i told you", "i have told you", "have i ever told", "have i ever mentioned", "have i talked", "have i said", "have i shared", "did i say", "did i share",
    "have i complained", "did i talk", "did we talk about", "did we discuss", "did we chat", "we talked about", "have we talked", "i mentioned", "i gave you", "i asked you", "do i ask you", "i ask you", "do you know what i", "do you remember what i", "do you know where i", "do you remember where i", "do you know how i", "do you know who i", "do you know when i",
];

/// Beginnings of questions that ask how anybody does something.
#[rustfmt::skip]
pub(super) const GENERIC_STARTS: &[&str] = &[
    "how do i ", "how can i ", "how should i ", "how could i ", "how would i ", "how to ", "what should i ", "where can i ", "where should i ", "should i ", "can i ", "could i ", "may i ", "what can i ", "why do i ", "why am i ", "what do i need", "what do i have to", "what do i do if", "what do i do when", "what do i say", "how does ", "how can a",
];

/// Words that begin a question.
pub(super) const QUESTION_WORDS: &[&str] =
    &["what", "which", "where", "who", "whom", "when", "how", "whose", "any"];

/// Words that begin a request.
pub(super) const REQUESTS: &[&str] = &[
    "tell",
    "list",
    "name",
    "remind",
    "describe",
    "summarize",
    "summarise",
    "recap",
    "show",
    "know",
    "remember",
    "give",
    "recall",
    "of",
    "about",
];

/// Subjects of a question for something the user does.
pub(super) const SUBJECTS: &[&str] = &[
    "do i",
    "did i",
    "do i not",
    "have i",
    "must i",
    "must i not",
    "can i not",
    "may i not",
    "i do",
    "i",
];

/// Things that people do as part of their life.
#[rustfmt::skip]
pub(super) const HABITS: &[&str] = &[
    "like", "love", "hate", "dislike", "prefer", "enjoy", "avoid", "eat", "drink", "drive", "play", "collect", "wear", "read", "watch", "listen", "own", "speak", "believe", "want", "care", "usually", "always", "normally", "typically", "often", "never", "tend", "go", "ask", "call",
    "struggle", "fear", "study", "teach", "earn", "live", "work", "come", "shop", "report", "get", "wake", "smoke", "have", "know", "follow", "support", "vote", "dream", "worry", "hope", "plan", "grow", "spend", "train", "exercise", "sleep", "commute", "cook", "celebrate", "do",
    "tell", "mention", "say", "complain", "studied", "worked", "lived", "told", "mentioned", "said", "weigh", "consider", "value", "relax", "travel", "look", "feel", "start", "meet", "marry", "graduate", "grew", "move", "hang", "rely", "talk", "admire", "miss", "regret", "sing", "dance", "paint", "write", "run", "swim", "stand", "need", "use", "take", "keep", "think", "invest", "save", "owe", "procrastinate", "learn", "trust", "vent", "attend", "volunteer", "fish", "hike", "ride", "order", "bake", "deal", "handle", "react",
];

/// Continuations that ask what anybody does.
#[rustfmt::skip]
pub(super) const GENERIC_HABITS: &[&str] = &[
    "do i do if", "do i do when", "do i do to", "do i do with", "do i do about", "do i have to", "do i get the", "do i get a", "do i get to", "do i get from", "do i go from", "do i need to", "do i write", "do i run", "do i start", "do i call the", "do i need for", "do i know if", "do i know whether", "do i call it", "do i know that",
    "do i look up", "do i want to use", "do i move", "do i write a", "do i train a",
];

/// Adjectives and activities after "am I".
#[rustfmt::skip]
pub(super) const STATES: &[&str] = &[
    "good", "bad", "best", "worst", "great", "allergic", "afraid", "scared", "working", "reading", "learning", "studying", "saving", "trying", "planning", "married", "single", "divorced", "engaged", "vegetarian", "vegan", "proud", "interested", "into", "from", "fond", "worried", "stressed", "struggling", "most",
    "passionate", "known", "like", "training", "currently", "writing", "watching", "tall", "old", "religious", "an", "a", "obsessed", "weak", "strong", "skilled", "bilingual", "left-handed", "retired", "employed", "dating", "seeing", "intolerant", "diabetic", "pregnant", "on", "up", "usually", "really", "looking",
];

/// Words that end a possession.
#[rustfmt::skip]
pub(super) const BOUNDARIES: &[&str] = &[
    "is", "are", "was", "were", "look", "looks", "do", "does", "did", "have", "has", "had", "according", "that", "like", "in", "at", "of", "for", "on", "so", "and", "or", "again", "please", "called", "named", "based", "to", "from", "with", "you", "i", "work", "works", "live", "lives",
    "these", "this", "right", "as", "again", "be", "would", "will", "can", "should", "exactly", "by", "about", "over", "when", "which", "who", "go", "goes", "come", "then", "if",
];

/// Modifiers of a thing that belongs to a machine or a project rather than to a person.
#[rustfmt::skip]
pub(super) const TECHNICAL: &[&str] = &[
    "ip", "mac", "server", "git", "branch", "build", "code", "app", "api", "database", "db", "docker", "host", "domain", "dns", "router", "wifi", "function", "class", "variable", "file", "css", "html", "json", "python", "rust", "java", "javascript", "kernel", "shell", "script", "website", "page", "login",
];

/// Values of a relative's or a pet's possession.
pub(super) const VALUES_OF_RELATIVES: &[&str] = &[
    "name",
    "names",
    "birthday",
    "age",
    "job",
    "number",
    "phone",
    "address",
    "school",
    "work",
    "allergies",
    "favorite",
];

/// Topics of a person's life that are no aspect of their own.
#[rustfmt::skip]
pub(super) const LIFE_TOPICS: &[&str] = &[
    "goals", "goal", "plans", "dreams", "dream", "past", "childhood", "life", "travels", "travel", "trips", "finances", "finance", "money", "debts", "savings", "schedule", "strengths", "strength", "weaknesses", "weakness", "spots", "skills", "talents", "fears", "fear", "values", "beliefs", "religion",
    "politics", "style", "background", "languages", "language", "mood", "projects", "worries", "problems", "struggles", "achievements", "resolutions", "wishes", "wishlist", "bucket", "commute", "workouts", "workout", "training", "exercise", "ex", "crush", "dating", "situation", "number", "email", "possessions",
    "car", "devices", "setup", "gear", "appearance", "height", "weight", "size", "sizes", "team", "idols", "heroes", "memories", "vices", "meds", "neighbours", "neighbors", "students", "clients", "boundaries", "clothes", "garden", "bike", "wedding", "divorce", "breakup", "faith", "salary", "rent", "mortgage", "diagnosis", "injuries", "doctor", "exes", "music", "reading", "playlist", "cooking", "recipes", "collection", "games", "shows", "movies", "opinions", "views", "quirks", "traits", "pet", "peeves", "anniversary", "holidays", "vacation", "vacations", "therapist", "dentist", "landlord", "mentor", "deadlines", "commitments", "sleep", "conventions", "type",
];

/// Beginnings of questions that one memory answers.
#[rustfmt::skip]
pub(super) const VALUE_STARTS: &[&str] = &[
    "what is my ", "what was my ", "who is my ", "where do i ", "where is my ", "where did i ", "where am i ", "when is my ", "when was i ", "how old ", "how tall ", "what my ", "when did i ", "my ", "am i ", "what is the ",
];

/// Phrases that ask for what was told or is known.
#[rustfmt::skip]
pub(super) const TOLD_BEFORE: &[&str] = &[
    "tell you", "told you", "mention", "mentioned", "know about my", "know of my", "remember about my", "recall about my", "said about", "say about", "talk about", "talked about", "shared", "told", "know about", "remember about", "i gave you", "know what i", "based on what you know", "about me", "about myself",
];

/// Beginnings of questions that many memories answer.
#[rustfmt::skip]
pub(super) const OPEN_STARTS: &[&str] = &[
    "what are my ", "what do i ", "what am i ", "what foods ", "what kind of ", "which of my ", "list my ", "list all my ", "tell me about my ", "about my ", "what sort of ", "what types of ", "what must i ", "what can i not ", "what things ", "recommend ", "suggest ", "what i ",
];

/// Whole questions for the user's own person.
#[rustfmt::skip]
pub(super) const OWN_ATTRIBUTES: &[&str] = &[
    "what is my name", "what is my full name", "what is my first name", "my name", "what my name is", "where do i live", "where i live", "where do i work", "where i work", "what is my job", "what is my occupation", "what is my profession", "what do i do", "what do i do for a living",
    "what i do for a living", "what do i do for work", "where am i from", "where i am from", "where do i come from", "how old am i", "how old i am", "what is my age", "what is my hometown", "what is my nationality", "when is my birthday", "what is my birthday", "am i married", "what should you call me", "what is my job title", "what city do i live in",
];
