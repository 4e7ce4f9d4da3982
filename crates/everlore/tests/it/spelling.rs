//! Tests of spelling: simplified and traditional, full and half width, and domain terms find each other.

use everlore::{
    engine::{Domain, Domains},
    store::Store,
};
use rusqlite::Connection;

use crate::support::{
    engine_on, found, fresh_path, open, ram, remember_all, scope, until_indexes_are_current,
};

#[tokio::test]
async fn simplified_and_traditional_chinese_find_each_other() {
    for (traditional, simplified) in [
        ("我在台灣有一台電腦", "我在台湾有一台电脑"),
        ("她喜歡烏龍茶", "她喜欢乌龙茶"),
        ("爺爺的頭髮白了", "爷爷的头发白了"),
        ("我住在後門裏面", "我住在后门里面"),
    ] {
        for (stored, asked) in [(traditional, simplified), (simplified, traditional)] {
            let (engine, owner) = (ram(), scope("ann"));
            remember_all(&engine, &owner, &[stored, "明天下雨", "rain tomorrow"]).await;
            let hits = engine.recall(&engine.recall_request(&owner, asked)).await.unwrap().hits;
            assert_eq!(hits[0].memory.content, stored, "{asked}");
            assert!(hits[0].signals.coverage > 0.999, "{asked}: {:?}", hits[0].signals);
        }
    }
}

#[tokio::test]
async fn short_words_find_each_other_in_both_scripts() {
    let (engine, owner) = (ram(), scope("ann"));
    remember_all(&engine, &owner, &["去年搬到台湾", "新電腦很快", "他喜欢跑步"]).await;
    assert_eq!(found(&engine, &owner, "台灣").await, ["去年搬到台湾"]);
    assert_eq!(found(&engine, &owner, "电脑").await, ["新電腦很快"]);
    assert_eq!(found(&engine, &owner, "喜歡").await, ["他喜欢跑步"]);
    // Synonyms cover both spellings as well.
    assert_eq!(found(&engine, &owner, "計算機").await, ["新電腦很快"]);
}

#[tokio::test]
async fn width_does_not_matter_and_japanese_and_korean_are_found() {
    let (engine, owner) = (ram(), scope("ann"));
    let texts =
        ["ＡＢＣ１２３の型番", "ﾀﾞﾝｽが好き", "しりとりで遊んだ", "끝말잇기를 했다", "電車で通勤"];
    remember_all(&engine, &owner, &texts).await;
    for (asked, expected) in [
        ("abc123", 0),
        ("ダンス", 1),
        ("しりとり", 2),
        ("끝말잇기", 3),
        ("電車", 4),
        ("ｄａｎｓｕ", 9),
    ] {
        let expected: Vec<&str> = texts.get(expected).copied().into_iter().collect();
        assert_eq!(found(&engine, &owner, asked).await, expected, "{asked}");
    }
}

#[tokio::test]
async fn a_file_indexed_before_the_scripts_were_folded_is_indexed_anew() {
    let (path, owner) = (fresh_path(), scope("ann"));
    let (store, engine) = open(&path).await;
    remember_all(&engine, &owner, &["我喜歡烏龍茶"]).await;
    store.admin().close().await;
    let db = Connection::open(&path).unwrap();
    // The file of the first version: its number, and an index without the folded terms.
    db.execute("UPDATE scopes SET index_version = 1", []).unwrap();
    db.execute("DELETE FROM tail", []).unwrap();
    drop(db);
    let (store, engine) = open(&path).await;
    until_indexes_are_current(&store).await;
    assert_eq!(found(&engine, &owner, "乌龙茶").await, ["我喜歡烏龍茶"]);
    store.admin().close().await;
    let db = Connection::open(&path).unwrap();
    let version = "SELECT index_version FROM scopes";
    let version: u32 = db.query_row(version, [], |row| row.get(0)).unwrap();
    assert_eq!(version, everlore::internal::text::terms::TERMS_VERSION);
}

const MEDICAL: &str = r#"
[[term]]
term = "atrial fibrillation"
synonyms = ["AFib", "irregular heartbeat"]
weight = 2.0

[[term]]
term = "房颤"
synonyms = ["心律不齐"]
weight = 2.0
"#;

#[test]
fn the_list_in_the_documentation_can_be_read() {
    let text = include_str!("../../../../docs/configuration-guide.md");
    let mut blocks = text.split("```").filter_map(|part| part.strip_prefix("toml\n"));
    let example = blocks.find(|block| block.contains("[[term]]")).unwrap();
    assert_eq!(Domain::parse(example, "docs").unwrap().name(), "medical");
}

/// Returns the text of the best hit, with and without the list.
async fn with_and_without(texts: &[&str], query: &str) -> (String, String) {
    let (engine, owner) = (ram(), scope("ann"));
    remember_all(&engine, &owner, texts).await;
    let without = found(&engine, &owner, query).await;
    let list = Domain::parse(MEDICAL, "medical").unwrap();
    let engine = engine.rebuild().domains(Domains::new(vec![list])).build();
    let with = found(&engine, &owner, query).await;
    (with[0].clone(), without.first().cloned().unwrap_or_default())
}

#[tokio::test]
async fn a_list_of_the_trade_makes_the_right_memory_win_in_english() {
    let texts = [
        "The AFib needs a blood thinner",
        "The doctor said on Monday that the knee is fine",
        "The doctor told us to walk",
    ];
    let (with, without) =
        with_and_without(&texts, "What did the doctor say about my atrial fibrillation?").await;
    assert_eq!(with, texts[0]);
    assert_ne!(without, texts[0]);
}

#[tokio::test]
async fn a_list_of_the_trade_makes_the_right_memory_win_in_chinese() {
    let texts = ["心律不齐要长期服药", "医生说膝盖没事", "医生周一有空"];
    let (with, without) = with_and_without(&texts, "医生怎么说我的房颤？").await;
    assert_eq!(with, texts[0]);
    assert_ne!(without, texts[0]);
}

#[tokio::test]
async fn a_list_tells_what_it_found_and_without_one_nothing_changes() {
    let (engine, owner) = (engine_on(crate::support::sqlite().await), scope("ann"));
    remember_all(&engine, &owner, &["AFib since May", "茶"]).await;
    let request = engine.recall_request(&owner, "since when do I have AFib?");
    let plain = engine.recall(&request).await.unwrap();
    let none = engine.clone().rebuild().domains(Domains::new(vec![])).build();
    assert_eq!(none.recall(&request).await.unwrap(), plain);
    let list = Domain::parse(MEDICAL, "medical").unwrap();
    let with =
        engine.rebuild().domains(Domains::new(vec![list])).build().recall(&request).await.unwrap();
    let told = serde_json::to_value(&with.intent).unwrap();
    assert_eq!(told["domain_terms"][0]["domain"], "medical");
    assert_eq!(told["domain_terms"][0]["term"], "atrial fibrillation");
    assert!(plain.intent.domain_terms.is_empty());
}
