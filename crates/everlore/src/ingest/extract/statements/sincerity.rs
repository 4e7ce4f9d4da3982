//! Beginnings by which a sentence leaves a joke or another's text behind, and sentences that only say that their speaker
//! does not know something.

use std::sync::LazyLock;

use regex::Regex;

static BEGINS_ANEW: LazyLock<Regex> = LazyLock::new(|| {
    compile(
        r"^(?:(?:ok|okay|no|but|and|well|so|ha(?:ha)*|lol|oh|thanks|thank you)[ ,.!]+)*(?:(?:all )?(?:joking|jokes|kidding) aside|seriously|but seriously|no joke|for real|in real life|in reality|irl|jokes apart|honestly though|by the way|btw|as for me|i myself|anyway|speaking for myself)\b|^(?:好了?|行了?|嗯|哈+|不过|但是?|谢谢)*[，,。！! ]*(?:说正经的|正经说|认真的?说?|说真的|不开玩笑|开玩笑的|玩笑归玩笑|言归正传|现实[中里]|对了|话说|顺便(?:说一?下?|提一?下?)?|至于我|我自己|我本人)",
    )
});

static UNKNOWN: LazyLock<Regex> = LazyLock::new(|| {
    compile(
        r"^(?:(?:oh|ugh|argh|hm+|well|so|and|but|sorry|honestly|actually)[ ,.!]+)*(?:i'm not sure (?:where|what|which|when|who|how (?:much|many|long|old)|why|if|whether)\b[^,;.]*[.!]?$|i (?:really |still |just |honestly )*(?:(?:can't|cannot|couldn't|don't|do not|can never) (?:remember|recall|find|think of|figure out)|(?:always |never |totally |completely )?forg[eo]t|have no idea|haven't a clue|am not sure) (?:where|what|which|when|who|how (?:much|many|long|old)|why|if|whether)\b[^,;.]*[.!]?$)|^我?(?:怎么也|实在|又|都|完全)*(?:忘了|忘记|不记得|记不得|记不清|记不起来?|想不起来?|想不起)(?:了)?[^，。]*(?:哪|什么|几|谁|多少|怎么)[^，。]*[。！!]?$",
    )
});

/// Returns `true` if a sentence leaves what was said before behind: "seriously though", 对了.
pub(super) fn begins_anew(sentence: &str) -> bool {
    BEGINS_ANEW.is_match(sentence.trim())
}

/// Returns `true` if a sentence only says that its speaker does not know something.
pub(super) fn is_unknown(sentence: &str) -> bool {
    UNKNOWN.is_match(sentence.trim())
}

fn compile(pattern: &str) -> Regex {
    Regex::new(&format!("(?i){}", pattern.replace('\'', "['’]"))).expect("valid")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_new_beginning_is_told_from_the_middle_of_a_joke() {
        for sentence in [
            "Seriously though, I've been a nurse for eleven years.",
            "ok, joking aside: I'm a baker",
            "Btw I use a wheelchair",
            "对了我自己是回族，聚餐别给我订猪肉。",
            "好了，说正经的，我是护士",
            "我自己是回族",
        ] {
            assert!(begins_anew(sentence), "{sentence}");
        }
        for sentence in
            ["I'm seriously rich", "I have a PhD in Netflix", "我是宇宙首富", "我真的很穷"]
        {
            assert!(!begins_anew(sentence), "{sentence}");
        }
    }

    #[test]
    fn what_nobody_knows_is_told_from_what_somebody_cannot_do() {
        for sentence in [
            "I can't remember where I put my keys.",
            "ugh, I forgot what the plumber charged",
            "I'm not sure when the shop closes",
            "我想不起来钥匙放哪了",
            "忘了是哪家店",
        ] {
            assert!(is_unknown(sentence), "{sentence}");
        }
        for sentence in [
            "I don't know how to drive.",
            "I forgot to tell you: my sister is a nurse.",
            "I'm not sure where she lives, but my sister works in Rome.",
            "I can't find work since March.",
            "我忘了说，我妹妹是护士",
            "我不记仇",
        ] {
            assert!(!is_unknown(sentence), "{sentence}");
        }
    }
}
