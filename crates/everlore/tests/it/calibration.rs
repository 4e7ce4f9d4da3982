//! Tests of calibration: fitting the confidence to a scope.

use everlore::{
    Engine, Error,
    engine::{ConfidenceTuning, MIN_CALIBRATION_MEMORIES},
};

use crate::support::{all, ram, remember_all, scope};

/// Statements about many things, in both languages; two halves share nothing but the form.
fn statements(count: usize) -> Vec<String> {
    let things =
        ["boiler", "bicycle", "piano", "passport", "garden", "telescope", "kettle", "violin"];
    let people = ["plumber", "neighbour", "dentist", "teacher", "baker", "cousin", "grocer"];
    let places = ["杭州", "成都", "泉州", "南京", "青岛"];
    let foods = ["糍粑", "面线糊", "红烧肉", "羊肉汤", "小笼包", "豆花", "凉粉"];
    (0..count)
        .map(|i| match i % 2 {
            0 => format!(
                "The {} of the {} broke on day {i} and was repaired with part number {}",
                things[i / 2 % things.len()],
                people[i / 3 % people.len()],
                i * 37
            ),
            _ => format!(
                "第{i}天在{}吃了{}，店在{}号对面",
                places[i / 2 % 5],
                foods[i / 3 % 7],
                i * 13
            ),
        })
        .collect()
}

async fn holding(count: usize) -> Engine {
    let engine = ram();
    let texts = statements(count);
    remember_all(&engine, &scope("ann"), &texts.iter().map(String::as_str).collect::<Vec<_>>())
        .await;
    engine
}

#[tokio::test]
async fn a_calibration_needs_enough_memories_and_says_so() {
    let engine = holding(MIN_CALIBRATION_MEMORIES - 1).await;
    let refused = engine.calibrate(&scope("ann")).await.unwrap_err();
    let Error::Invalid { message, hint } = &refused else { panic!("{refused:?}") };
    assert_eq!(message, "there are 99 memories, too few to learn from");
    assert_eq!(hint, "calibrate when there are at least 100");
}

#[tokio::test]
async fn a_calibration_changes_nothing_and_is_the_same_every_time() {
    let engine = holding(120).await;
    let owner = scope("ann");
    let stored = all(&engine, &owner).await;
    let first = engine.calibrate(&owner).await.unwrap();
    assert_eq!(engine.calibrate(&owner).await.unwrap(), first);
    assert_eq!(all(&engine, &owner).await, stored);
    assert_eq!(first.memories, 120);
    assert!(first.questions >= 100, "{first:?}");
    assert!(first.before.auc > 0.5 && first.before.auc <= 1.0, "{first:?}");
}

#[tokio::test]
async fn what_is_kept_is_no_worse_on_questions_that_it_did_not_see() {
    let engine = holding(120).await;
    let found = engine.calibrate(&scope("ann")).await.unwrap();
    if found.improves {
        assert!(found.after.brier < found.before.brier, "{found:?}");
        assert_ne!(found.tuning, ConfidenceTuning::default());
    } else {
        assert_eq!(found.tuning, ConfidenceTuning::default());
    }
}

#[tokio::test]
async fn a_tuning_moves_the_confidence_of_its_scope_alone() {
    let engine = ram();
    for user in ["ann", "bob"] {
        remember_all(&engine, &scope(user), &["The boiler lost pressure in January"]).await;
    }
    let sure = async |engine: &Engine, user: &str| {
        engine
            .recall(&engine.recall_request(&scope(user), "boiler pressure"))
            .await
            .unwrap()
            .confidence
    };
    let before = sure(&engine, "ann").await;
    let tuned =
        engine.rebuild().tuning(scope("ann"), ConfidenceTuning { bias: -1.0, slope: 1.0 }).build();
    assert!(sure(&tuned, "ann").await < before);
    assert_eq!(sure(&tuned, "bob").await, before);
}
