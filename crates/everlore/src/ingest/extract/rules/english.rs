//! English patterns.

use super::grammar::{GrammarRule, GrammarTable, clause, ended, sentence};
use crate::{
    text::language::Language,
    types::Attribute::{
        Age, Birthday, Deadline, Decision, Diet, Dislikes, Education, Employer, Fact, Family,
        Habit, Health, Hobby, Home, Language as Speaks, Learning, Likes, Link, Name, Note,
        Occupation, Origin, Owns, Pet, Prefers, Rule as Order, Uses,
    },
};

#[rustfmt::skip]
pub(super) const TABLE: GrammarTable = GrammarTable {
    language: Language::English,
    fragments: &[
        ("{s}", r"(?:i|we|my (?:{rel}){called})"),
        ("{is}", r"(?:i'm|im|i am|we're|we are|my (?:{rel}){called}(?:'s| is))"),
        ("{has}", r"(?:i have|i've got|i've|we have|we've got|my (?:{rel}){called} has)"),
        ("{called}", r"(?: (?-i:[A-Z])[\w-]+)?"),
        ("{rel}", r"(?P<rel>(?:(?:older|younger|elder|little|big|twin|oldest|youngest|ex)[ -])?(?:wife|husband|partner|girlfriend|boyfriend|fianc[eé]e?|spouse|mother-in-law|father-in-law|sister-in-law|brother-in-law|mother|father|mom|mum|dad|parents|sister|brother|son|daughter|kids?|children|child|grandmother|grandfather|grandma|grandpa|aunt|uncle|cousin|niece|nephew|best friend|roommate|flatmate|boss|manager|co-?worker|colleague|neighbou?r|team))"),
        ("{adv}", r"(?:(?:really|just|also|still|currently|actually|now|mostly|absolutely|quite|definitely|truly|personally|only|recently|basically|totally|both|all|finally|already|mainly|primarily) )*"),
        ("{name}", r"(?:[\w'-]+(?: (?-i:[A-Z])[\w'.-]*){0,2})"),
        ("{cap}", r"(?-i:[A-Z0-9])"),
        ("{many}", r"(?:an?|no|one|two|three|four|five|six|seven|\d+|some|twin)"),
        ("{animal}", r"(?:dogs?|cats?|pupp(?:y|ies)|kittens?|parrots?|hamsters?|rabbits?|bunn(?:y|ies)|horses?|pon(?:y|ies)|beagles?|labradors?|labs?|poodles?|terriers?|corgis?|husk(?:y|ies)|retrievers?|shepherds?|dachshunds?|bulldogs?|pugs?|collies?|spaniels?|tortoises?|turtles?|goldfish|snakes?|geckos?|guinea pigs?|budgies?|canar(?:y|ies)|ferrets?|chickens?|goats?|siamese|tabby|tabbies|greyhounds?)"),
        ("{kin}", r"(?:kids?|child|children|sons?|daughters?|sisters?|brothers?|siblings?|twins|wife|husband|grandchildren|grandkids|nieces?|nephews?|girlfriend|boyfriend)"),
        ("{job}", r"(?:nurse|chef|cook|pilot|student|architect|clerk|surgeon|doctor|dentist|lawyer|attorney|paramedic|pharmacist|mechanic|journalist|electrician|plumber|professor|accountant|consultant|analyst|scientist|freelancer|founder|ceo|cto|cfo|vet|barista|monk|priest|soldier|librarian|physicist|chemist|biologist|musician|actor|actress|coach|judge|midwife|carpenter|firefighter|engineer|developer|programmer|designer|teacher|writer|editor|translator|manager|researcher|lecturer|painter|photographer|waiter|waitress|driver|baker|butcher|farmer|gardener|tailor|director|producer|technician|therapist|psychologist|economist|admin|administrator|assistant|secretary|receptionist|salesperson|realtor|broker|banker|trader|recruiter|policeman|policewoman|police officer|officer|sysadmin|devops|intern|apprentice|postdoc|phd student|historian|artist|potter|welder|builder|contractor|entrepreneur|retiree|homemaker|stay-at-home (?:mom|mum|dad|parent))s?"),
        ("{people}", r"(?:german|french|british|american|chinese|italian|spanish|irish|dutch|indian|canadian|japanese|korean|russian|polish|greek|turkish|mexican|brazilian|portuguese|english|scottish|welsh|swedish|danish|norwegian|finnish|swiss|austrian|belgian|australian|ukrainian|czech|vietnamese|thai|filipino|nigerian|kenyan|egyptian|iranian|israeli|argentinian|chilean|colombian|hungarian|romanian)"),
        ("{system}", r"(?:repo|repository|server|project|api|backend|back end|frontend|front end|database|db|app|application|service|build|cluster|site|website|codebase|code base|pipeline|product|stack|cli|library|monorepo|package|bot|dashboard|environment|queue|cache|team|company|office)"),
        ("{act}", r"(?:use|add|write|include|show|give|send|run|delete|commit|push|apologi[sz]e|say|call|repeat|explain|ask|mention|suggest|change|touch|edit|modify|assume|make|put|start|end|guess|translate|format|install|deploy|overwrite|remove|skip|answer|respond|reply|print|create|generate|wrap|output|quote|cite|link|check|test|provide|refer|address|comment|rename|merge|squash|import|export|store|save|share|summari[sz]e|greet|begin|indent|return|list|leave|keep|name|rely|cut|shorten|flatter|praise|lecture)"),
        ("{month}", r"(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)"),
    ],
    not_about_the_user: r"\b(?:translate|proof-?read|rephrase|paraphrase|summari[sz]e|rewrite|role-?play(?:ing)?|pretend|let's say|let us say|suppose|imagine|act as|for this example|hypothetically)\b|^you(?:'re| are) (?:an?|my|the)\b|\b(?:write|tell|make up)\b[^.\n]*\b(?:story|poem|song|scene|dialogue|novel|haiku|limerick|letter|essay|email)\b|\b(?:the following|this|below) (?:text|passage|paragraph|email|letter|article)\b|\b(?:lol|lmao|rofl|jk|just kidding|only joking|kidding|ha(?:ha)+|yeah right|oh sure|oh great|obviously not)\b|/s$|🙄|😂|🤣|😜",
    questions: r"^(?:(?:and|but|so|or) )?(?:what|what's|where|where's|who|who's|whose|why|how|which|when (?:do|does|did|is|are|can|should|will)|do (?:i|you|we|they)|does|did|is (?:it|there|that|this|he|she)|are (?:there|you|we|they)|am i|can|could|would|should|shall|will you|have you|has|any|isn't|aren't|don't you|do not you|right)\b",
    unasserted: r"\b(?:if|suppose|supposing|imagine|wish|would|might|maybe|perhaps|could|someday|one day|unless|in case|as if|as though|probably|thinking (?:of|about)|considering|planning to|hope to|want to|dreamt|dreamed|(?:i|we) used to)\b|\b(?:said|says|saying|tells|told me|told us|wrote|writes|claims|claimed|according to|quotes?|apparently|reportedly|rumou?r)\b|^(?:he|she|they|someone|people)\b|\b(?:the (?:article|author|book|text|(?:main )?character|hero|narrator))\b",
    openers: r"^(?:hi|hello|hey|hiya|good (?:morning|evening|afternoon))(?: there| all| everyone)?[,!.:]*\s+|^(?:quick intro|intro|about me|background|context|some context|by the way|btw|fyi|also|and|but|so|well|ok|okay|oh|um|yes|yeah|no|nope|sorry|actually|honestly|frankly|look|anyway|plus|basically|of course|as you know|to be honest|tbh|the thing is|so the thing is|correction|just so you know|for context|you know|i mean|i think|i guess|as i said|right now|these days|nowadays|update|fun fact|personally|unfortunately|luckily|thanks|thank you)\b[,:!.]*\s+|^i changed (?:my mind|jobs?)[,:;]\s*",
    clause_breaks: r"[;:()]\s+|\s[-–—]+\s|—|,\s+|\s+(?:and|but) (?P<keep>i'm\b|i'll\b|i've\b|i\b|we\b|my\b|still\b)|\s+(?:but|so|because|although|though|while|whereas|which|since i|as i)\s+",
    continuations: r"^(?:not |rather than |instead of )|^(?-i:[A-Z])[\w'-]+(?: (?-i:[A-Z])[\w'-]+)?$|^(?:called|named) ",
    subjectless: r"^\b$",
    first_person: r"^i\b",
    tails: r"\s+(?:with (?:my|our|a|the|two|three)|where|right now|at the moment|these days|nowadays|though|too|as well|btw|by the way|please|if|when|because|since|until|lately|anymore|any more|a lot|very much|so much|but|who|that (?:is|are))\b.*$|[;(].*$|,\s*(?-i:[^A-Z\s]).*$",
    vague: r"^i \w+ (?:knew|reali[sz]ed|thought|heard|saw|had|was|said|noticed|got|mind|\w+ed)\b|^(?:it|its|it's|this|that|that's|these|those|them|him|her|you|your|u|how|what|when|where|why|who|the (?:way|idea|moment|past|latter|former|answer|same|rest|first|second|new version|previous|thought)|something|anything|nothing|everything|someone|to (?:know|see|hear|say|ask|think|point|get|help))\b|^(?:things?|stuff|home|night|all|so|such|here|there|least|fear|hell|a bit|a little|a lot|one|both|later|back|tomorrow|tonight|crazy|old-fashioned|a living|sorry|out|them all)$",
    confirmations: r"^(?:yes|yeah|yep|yup|correct|right|exactly|that's right|that is right|that's correct|indeed|true|absolutely|sure|precisely)(?:[\s,.!]|$)(?:[^?]{0,60})$",
    question_rewrites: &[
        (r"^(?:(?:so|ok|okay|just to confirm|to confirm|if i understand correctly|i understand|did i get that right|and)[,:]? )*(you\b.*?|your\b.*?)(?:,? (?:is that right|is that correct|right|correct|yes|is it|don't you|aren't you|am i right))?\?+$", "$1"),
        (r"\byou're\b", "I'm"), (r"\byou are\b", "I am"), (r"\byou've\b", "I've"), (r"\byour\b", "my"), (r"\byou\b", "I"),
    ],
    subjects: ("The user", "The user's {}"),
    rewrite: third_person,
    rules: RULES,
};

#[rustfmt::skip]
const RULES: &[GrammarRule] = &[
    sentence(Link, r"(?:^|\b(?:you can find|here is|here's) )(?:the|our|my|an?)?\s*(?P<what>[a-z][\w '/-]{2,60}?)(?:\s+(?:is|are|here|lives?|can be found|is available|is hosted))*\s*(?:at|on|in|under|here)?\s*[:=-]?\s*(?P<v>https?://[^\s,)]+[^\s,).!?])", "The {what} is at {v}."),
    sentence(Note, r"^(?:please |pls )?(?:remember|don't forget|do not forget|keep in mind|bear in mind|make a note|take note|please note|note)(?: that|:|,| -)? (?P<v>(?:the|my|our|i|i'm|we|we're|it|a|an|that|on|every|there)\b.+)", "{v}."),
    sentence(Name, r"^(?:please |from now on,? |just |you can |you may )*call me (?P<v>{name})(?:[ ,].*)?$", "The user wants to be called {v}."),
    sentence(Deadline, r"^(?:the|our|my) (?:deadline|due date|cut-?off)(?: (?:for|of) (?P<what>.+?))? (?:is|was moved to|has moved to|moved to)(?: on| by| at)? (?P<v>.+)", "The deadline for {what} is {v}."),
    sentence(Deadline, r"^(?:the|our|my) (?P<what>.+?)(?:'s| is| are) (?:due|scheduled for|planned for)(?: on| by| in| at)? (?P<v>.+)", "The {what} is due {v}."),
    sentence(Deadline, r"^(?:we|i) (?:(?:have|need|are supposed|'re supposed|plan) to|must|will|'ll|should|gotta) (?P<what>(?:ship|deliver|submit|release|launch|finish|hand in|send|complete|file|publish|deploy)\b.+?) (?:by|before|no later than|until) (?P<v>.+)", "The user has to {what} by {v}."),
    sentence(Decision, r"^(?:after [^,]*?,? |in the end,? |finally,? |together,? )?(?:we|the team|our team|my team|everyone|the group|i)(?:'ve| have)?(?: finally| all| now| just| both| unanimously)? (?P<o>decided (?:to|on|against|that)|agreed (?:to|on|that)|chose(?: to)?|opted (?:for|to)|settled on|voted (?:for|to)|picked|went with) (?P<v>.+)", "The user's team {o} {v}."),
    sentence(Decision, r"^(?:ok,? |so,? |then )?(?:we're|we are|we will be|let's|let us|we'll|we will) (?:going to go|going|go|stick|sticking|settle|settling) (?P<o>with|for|on) (?P<v>.+)", "The user's team is going {o} {v}."),
    sentence(Order, r"^(?:please |from now on,? |in (?:the )?future,? |next time,? |going forward,? |and |also )*(?P<v>(?:(?:don't|do not|never|always)(?: ever| just| again)? {act}\b|stop (?:\w+ )?\w+ing\b|(?:avoid|no more) \w+).*)", "The user wants the agent to follow this: {v}."),
    sentence(Order, r"^(?:from now on|in (?:the )?future|going forward|next time|every time|whenever you (?:answer|reply|write)|when you (?:answer|reply|write)[^,]*|by default),? (?:please |you should |you can )*(?P<v>[a-z].+)", "The user wants the agent to follow this: {v}."),
    sentence(Order, r"^(?:please |can you please |try to )*(?P<v>(?:keep|make) (?:your |the |all |all your |future )*(?:answers?|repl(?:y|ies)|responses?|explanations?|messages?|code|sentences|summar(?:y|ies)) (?:\w+ )?(?:short|shorter|brief|concise|simple|simpler|detailed|longer|formal|informal|polite|to the point|clean)\b.*)", "The user wants the agent to follow this: {v}."),
    sentence(Order, r"^(?:please |always )*(?P<v>(?:answer|reply|respond|speak|talk|write)(?: to me| back)? (?:in|with|only in) (?:\w+ )?(?:english|german|french|spanish|chinese|mandarin|japanese|korean|italian|portuguese|dutch|polish|russian|plain \w+|bullet points|one sentence|short sentences|full sentences|lower ?case|british english|american english|markdown)\b.*)", "The user wants the agent to follow this: {v}."),
    sentence(Order, r"^(?:please )?(?P<v>(?:use|prefer|write) [\w ]{2,40}?(?: please)?,? (?:not|instead of|rather than) .+)", "The user wants the agent to follow this: {v}."),
    sentence(Order, r"^(?:please )?(?P<v>be (?:more |less |very )?(?:brief|concise|direct|formal|informal|polite|honest|careful|critical|specific|blunt|verbose|detailed)\b.*)", "The user wants the agent to follow this: {v}."),
    sentence(Fact, r"^(?P<what>(?:our|the|this|my) (?:[\w.-]+ ){0,3}{system}) (?P<v>(?:runs? on|run on|uses?|is written in|are written in|is hosted|are hosted|is deployed|listens? on|lives? (?:in|at|on)|is built (?:with|on|in)|is based (?:on|in)|requires?|supports?|targets?|is called|is named|depends on|deploys? to|is located)\b .+)", "{what} {v}."),
    clause(Name, r"^my (?:(?:first|full|last|family|real|given)[ -])?(?:name|surname)(?:'s| is)(?: actually)?(?: spell?ed| spelt)? (?P<v>{name})(?:,? not (?P<old>.+))?(?: .*)?$", "The user's name is {v}."),
    clause(Name, r"^(?:i'm|i am) (?P<v>(?-i:[A-Z][a-z]+(?: [A-Z][a-z]+)?))(?: here| by the way| btw)?$", "The user's name is {v}."),
    clause(Pet, r"^(?:my|our) (?P<o>(?:[\w-]+ )?{animal})(?:'s name is| is called| is named|'s called|,)? (?P<v>(?-i:[A-Z])[\w-]+)\b", "The user has a {o} called {v}."),
    clause(Name, r"^my (?:{rel})(?:'s name is| is called| is named|'s called) (?P<v>{name})", "{s} is called {v}."),
    clause(Pet, r"^{has} (?P<v>{many} (?:[\w-]+ ){0,2}{animal}\b.*)", "{s} has {v}."),
    clause(Pet, r"^(?:i|we)(?:'ve| have)? (?:just )?(?:adopted|own|keep|got) (?P<v>{many} (?:[\w-]+ ){0,2}{animal}\b.*)", "The user has {v}."),
    clause(Age, r"^{is} (?P<v>\d{1,3})(?: years? old| now|$)", "{s} is {v} years old (as of {today})."),
    clause(Age, r"^(?:i|my (?:{rel}))(?:'ve| have)?(?: just| recently)? turned (?P<v>\d{1,3})\b", "{s} is {v} years old (as of {today})."),
    clause(Birthday, r"^(?:my birthday|my (?:{rel})'s birthday)(?:'s| is)(?: on| in)? (?P<v>.+)", "{s} has their birthday on {v}."),
    clause(Birthday, r"^{s} (?:was|were) born (?:on|in) (?P<v>(?:.*\d.*|{month}\w*.*))$", "{s} was born on {v}."),
    clause(Origin, r"^{s} (?:was|were) born (?:and raised )?in (?P<v>{cap}.+)", "{s} was born in {v}."),
    clause(Origin, r"^{is} {adv}(?:originally )?(?:from|a native of) (?P<v>{cap}.+)", "{s} comes from {v}."),
    clause(Origin, r"^{s} (?:originally )?(?:come|comes|came|hail|hails|grew up)(?: in| from) (?P<v>{cap}.+)", "{s} comes from {v}."),
    clause(Origin, r"^{is} (?P<v>{people})$", "{s} is {v}."),
    clause(Likes, r"^{is} (?:an? )?(?:(?:big|huge|great|massive|lifelong) )?(?:fan of|into|fond of|keen on|crazy about|obsessed with|passionate about) (?P<v>.+)", "{s} likes {v}."),
    clause(Dislikes, r"^{is} not (?:an? |really |much |into )*(?:(?:big|huge|great) )?(?:fan of|fond of|keen on|into) (?P<v>.+)", "{s} dislikes {v}."),
    clause(Occupation, r"^{is} {adv}(?:an? |the )(?P<v>(?:[\w/&-]+ ){0,3}?{job}\b(?: (?:at|in|on|for|with|from|by|based|specialising|specializing) .+)?)$", "{s} is a {v}."),
    clause(Occupation, r"^{s} {adv}works? as (?:an? |the )?(?P<v>.+)", "{s} works as {v}."),
    clause(Occupation, r"^my (?:job|profession|occupation|day job) is (?:as )?(?:an? )?(?P<v>.+)", "The user works as {v}."),
    ended(Employer, r"^{s} (?:no longer works?|don't work|do not work|doesn't work|stopped working|am not working|quit|left|resigned from|was laid off (?:by|from)|got fired from)(?: at| for| my job at)? (?P<v>{cap}.+?)(?: any ?more| any longer)?$", "{s} no longer works at {v}."),
    clause(Employer, r"^{s} {adv}works? (?:at|for|with) (?P<v>.+)", "{s} works at {v}."),
    clause(Employer, r"^(?:i|i've|i have|my (?:{rel})(?: has)?) {adv}(?:started|joined|began|got hired|got a job|took a job)(?: a new job)?(?: working)?(?: (?:at|with|by|for))? (?P<v>{cap}.+)", "{s} works at {v}."),
    clause(Employer, r"^{is} (?:now |currently |working |employed )+(?:at|with|for|by) (?P<v>.+)", "{s} works at {v}."),
    clause(Employer, r"^my (?:company|employer|new company|new job) is (?:called |at |with )?(?P<v>{cap}.+)", "The user works at {v}."),
    clause(Home, r"^{s} {adv}(?:lives?|resides?) (?:in|near|outside) (?P<v>.+)", "{s} lives in {v}."),
    clause(Home, r"^(?:{is}|i've been|we've been) {adv}(?:living|based|residing|settled) (?:in|near|out of) (?P<v>.+)", "{s} lives in {v}."),
    clause(Home, r"^(?:i've|i have|we've|we have|my (?:{rel}) has) (?:\w+ )?lived in (?P<v>.+?)(?: (?:for|since) .+)?$", "{s} lives in {v}."),
    clause(Home, r"^{s}(?:'ve| have| has)? {adv}(?:moved|relocated|emigrated)(?: back)?(?: (?:from|out of) (?P<old>.+?))?(?: back)? to (?P<v>{cap}.+?)(?: from .+)?$", "{s} lives in {v}."),
    clause(Family, r"^{has} (?P<v>{many} (?:[\w-]+ ){0,2}{kin}\b.*)", "{s} has {v}."),
    clause(Family, r"^(?:i'm|i am|we're|we are|i got|we got|i've been|we've been|i am getting|i'm getting) (?:\w+ )?(?P<v>(?:married|engaged|divorced|widowed|a (?:father|mother|dad|mom|mum|parent|widow)|expecting (?:a|our|my) .+)\b.*)", "The user is {v}."),
    clause(Family, r"^my (?P<rel>wife|husband|partner|girlfriend|boyfriend|mother|father|mom|mum|dad|sister|brother|son|daughter|grandma|grandpa|aunt|uncle|cousin|niece|nephew) (?P<v>(?-i:[A-Z])[a-z]+) (?P<o>.+)", "{s} {v} {o}."),
    clause(Speaks, r"^{s} (?:{adv})(?:can )?(?:speaks?|is fluent in|am fluent in) (?P<v>{cap}.+)", "{s} speaks {v}."),
    clause(Speaks, r"^{is} (?:a native speaker of|fluent in|bilingual in) (?P<v>.+)", "{s} speaks {v}."),
    clause(Speaks, r"^my (?:native language|mother tongue|first language|native tongue) is (?P<v>.+)", "The user's native language is {v}."),
    clause(Education, r"^{s} {adv}(?:studied|majored in|studies|graduated (?:in|from)|study|did a degree in) (?P<v>[a-z].+)", "{s} studied {v}."),
    clause(Education, r"^i (?:have|hold|got) an? (?P<v>(?:degree|phd|ph\.d|master'?s?|bachelor'?s?|diploma|mba)\b.*)", "The user has a {v}."),
    clause(Health, r"^{is} (?P<v>(?:\w+ly )?(?:allergic to .+|diabetic|asthmatic|colou?r-?blind|lactose[- ]intolerant|gluten[- ]intolerant|dyslexic|pregnant|deaf|epileptic|coeliac|celiac))", "{s} is {v}."),
    clause(Health, r"^{has} (?P<v>(?:an? )?(?:[\w-]+ ){0,2}(?:allerg(?:y|ies)|asthma|diabetes|epilepsy|adhd|migraines?|celiac disease|coeliac disease|high blood pressure|arthritis|insomnia|intolerance)\b.*)", "{s} has {v}."),
    clause(Diet, r"^{is} {adv}(?:an? )?(?P<v>(?:strict )?(?:vegan|vegetarian|pescatarian|teetotal(?:l?er)?))\b", "{s} is {v}."),
    clause(Diet, r"^{s} (?:don't|do not|can't|cannot|doesn't) (?P<o>eat|drink) (?P<v>.+)", "{s} does not {o} {v}."),
    ended(Likes, r"^{s} (?:no longer|don't|do not|doesn't) (?:really )?(?:likes?|loves?|enjoys?) (?P<v>.+?) (?:any ?more|any longer)$", "{s} no longer likes {v}."),
    ended(Likes, r"^{s} (?:no longer|stopped) (?:likes?|loves?|enjoys?|liking|enjoying|loving) (?P<v>.+)", "{s} no longer likes {v}."),
    clause(Likes, r"^(?:my|our) (?:all-time |absolute )?favou?rite (?P<o>[\w -]+?) (?:is|are|has always been) (?P<v>.+)", "The user's favourite {o} is {v}."),
    clause(Likes, r"^{s} {adv}(?:loves?|likes?|enjoys?|adores?) (?P<v>.+)", "{s} likes {v}."),
    clause(Dislikes, r"^{s} {adv}(?:hates?|dislikes?|detests?|loathes?|despises?|can't stand|cannot stand|can't bear|don't (?:really |particularly )?like|do not (?:really )?like|doesn't like|don't enjoy) (?P<v>.+)", "{s} dislikes {v}."),
    clause(Prefers, r"^{s} {adv}(?:much |generally |usually )?prefers? (?P<v>.+?) (?:over|to|rather than|instead of) (?P<o>.+)", "{s} prefers {v} over {o}."),
    clause(Prefers, r"^{s} {adv}(?:much |generally |usually )?prefers? (?P<v>.+)", "{s} prefers {v}."),
    clause(Prefers, r"^(?:i'd|i would) (?:much )?rather (?P<v>.+?) than (?P<o>.+)", "The user would rather {v} than {o}."),
    clause(Hobby, r"^(?:i've been|i have been|i|my (?:{rel})) {adv}(?:playing|plays?|practi[cs]ing|practi[cs]es?|collecting|collects?|painting|knitting) (?P<v>.+)", "{s} plays or practises {v}."),
    clause(Learning, r"^(?:i'm|i am|i've been|i started|i have started|my (?:{rel}) is) {adv}(?:learning|studying|teaching myself|taking lessons in) (?P<v>[\w].+)", "{s} is learning {v}."),
    clause(Uses, r"^(?:i|we)(?:'ve| have)? {adv}(?:switched|migrated|changed over)(?: from (?P<old>.+?))? to (?P<v>.+)", "The user uses {v}."),
    clause(Uses, r"^(?:i|we) (?:{adv}|always |usually |mostly )*use (?P<v>(?:an? )?(?:{cap}.*?|[a-z][\w.+-]*))(?: (?P<o>(?:for|as|to) .+))?$", "The user uses {v} {o}."),
    clause(Uses, r"^(?:i've|i have|we've) (?:also )?been using (?P<v>(?:an? |my )?(?-i:[A-Z]).+?)(?: (?:for|since) .+)?$", "The user uses {v}."),
    clause(Education, r"^i (?:have |hold )?(?:graduated with )?an? (?:degree|diploma|major) in (?P<v>.+)", "The user has a degree in {v}."),
    clause(Owns, r"^(?:i|we)(?:'ve| have)? (?:also )?(?:recently |just )(?:bought|got|purchased) (?P<v>(?:an?|my) new .+)", "The user owns {v}."),
    clause(Owns, r"^(?:i|we) {adv}(?:drive|own|ride) (?P<v>an? .+)", "The user owns {v}."),
    clause(Habit, r"^(?P<v>i (?:always|usually|never|often|normally|generally|typically|rarely|tend to) [a-z].+)", "{v}."),
    clause(Habit, r"^(?P<v>(?:every (?:day|morning|evening|night|week|weekend|\w+day),? i|on (?:\w+days|weekends|weekdays),? i) [a-z].+)", "{v}."),
];

/// Rewrites text from the user's first person, addressed to the agent, into the third person.
fn third_person(text: &str) -> String {
    let mut words: Vec<String> = Vec::new();
    let mut verb_follows = false;
    for word in text.split(' ') {
        let bare = word.trim_end_matches([',', '.', ';', ':', '!', ')']);
        let (marks, lower) = (&word[bare.len()..], bare.to_lowercase());
        let replaced = PRONOUNS.iter().find(|(from, _)| *from == lower).map(|(_, to)| *to);
        let rewritten = match replaced {
            Some(to) => to.to_owned(),
            None if verb_follows && !ADVERBS.contains(&lower.as_str()) => conjugated(bare),
            None => bare.to_owned(),
        };
        verb_follows = lower == "i" || verb_follows && ADVERBS.contains(&lower.as_str());
        words.push(format!("{rewritten}{marks}"));
    }
    words.join(" ")
}

#[rustfmt::skip]
const PRONOUNS: [(&str, &str); 18] = [
    ("i", "the user"), ("i'm", "the user is"), ("i've", "the user has"), ("i'll", "the user will"), ("i'd", "the user would"),
    ("my", "the user's"), ("me", "the user"), ("mine", "the user's"), ("myself", "themselves"), ("we", "the user's group"),
    ("we're", "the user's group is"), ("we've", "the user's group has"), ("our", "the user's"), ("us", "the user's group"),
    ("ours", "the user's"), ("you", "the agent"), ("your", "the agent's"), ("yours", "the agent's"),
];

/// Words that may stand between a subject and its verb.
#[rustfmt::skip]
const ADVERBS: [&str; 14] = [
    "always", "never", "usually", "often", "also", "just", "really", "only", "still", "rarely", "normally", "generally",
    "typically", "sometimes",
];

/// Verbs that do not change after "the user".
#[rustfmt::skip]
const INVARIANT_VERBS: [&str; 24] = [
    "can", "can't", "cannot", "will", "won't", "would", "should", "could", "must", "may", "might", "was", "wasn't", "had", "did",
    "didn't", "went", "bought", "got", "left", "met", "made", "took", "ought",
];

/// Conjugates a verb for the third person: take becomes takes.
fn conjugated(verb: &str) -> String {
    let lower = verb.to_lowercase();
    match lower.as_str() {
        "am" => "is".to_owned(),
        "have" => "has".to_owned(),
        "do" => "does".to_owned(),
        "don't" => "doesn't".to_owned(),
        _ if INVARIANT_VERBS.contains(&lower.as_str()) || lower.ends_with("ed") => verb.to_owned(),
        _ if ["s", "x", "z", "o", "ch", "sh"].iter().any(|end| lower.ends_with(end)) => {
            format!("{verb}es")
        }
        _ if lower.ends_with('y')
            && !["ay", "ey", "oy", "uy"].iter().any(|end| lower.ends_with(end)) =>
        {
            format!("{}ies", &verb[..verb.len() - 1])
        }
        _ => format!("{verb}s"),
    }
}
