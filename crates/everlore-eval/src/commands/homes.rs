//! `homes`: recall in homes of 1 to 60 memories.

use anyhow::Result;

use crate::{
    quality::homes::{self, HomeQuestion},
    table::render,
};

/// Put everyday questions, half of them without an answer, to homes of 1 to 60 memories
#[derive(clap::Args)]
pub(crate) struct HomesArgs {
    /// Show the failures of the tuning half
    #[arg(long)]
    wrong: bool,
    /// Print JSON instead of tables
    #[arg(long)]
    json: bool,
}

/// Runs the command.
pub(crate) fn run(args: &HomesArgs) -> Result<()> {
    let all = homes::measure()?;
    if args.json {
        println!("{:#}", serde_json::to_value(&all)?);
        return Ok(());
    }
    let mut rows = Vec::new();
    for (half, language) in ["tuning", "held out"]
        .into_iter()
        .flat_map(|half| ["english", "chinese"].map(|l| (half, l)))
    {
        let of = |a: &&HomeQuestion| a.half == half && a.language == language;
        let mine: Vec<&HomeQuestion> = all.iter().filter(of).collect();
        for size in [Some(1), Some(2), Some(5), Some(20), Some(60), None] {
            let sized = mine.iter().filter(|a| size.is_none_or(|size| a.size == size));
            rows.push(row(half, language, size, &sized.copied().collect::<Vec<_>>()));
        }
    }
    let head =
        ["half", "language", "memories", "asked", "right memory given", "wrong memory given"];
    println!("{}", render(&head, &rows));
    let wrong =
        |a: &&HomeQuestion| a.half == "tuning" && if a.answerable { !a.right } else { a.told };
    for question in all.iter().filter(wrong).filter(|_| args.wrong) {
        let (confidence, best) =
            (question.judgement.confidence, question.best.as_deref().unwrap_or("nothing"));
        let kind = if question.answerable { "missed" } else { "in vain" };
        println!("{kind} {:>2} {confidence:.2} {} -> {best}", question.size, question.question);
    }
    Ok(())
}

fn row(
    half: &str,
    language: &str,
    size: Option<usize>,
    questions: &[&HomeQuestion],
) -> Vec<String> {
    let share = |of: &dyn Fn(&HomeQuestion) -> bool, answerable: bool| {
        let fitting: Vec<_> = questions.iter().filter(|a| a.answerable == answerable).collect();
        let count = fitting.iter().filter(|a| of(a)).count();
        format!("{:.1}", 100.0 * count as f64 / fitting.len().max(1) as f64)
    };
    vec![
        half.into(),
        language.into(),
        size.map_or_else(|| "all".into(), |size| size.to_string()),
        questions.len().to_string(),
        share(&|a| a.right, true),
        share(&|a| a.told, false),
    ]
}
