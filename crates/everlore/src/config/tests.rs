//! Tests of reading, overriding, validating and showing settings.

use std::time::Duration;

use super::{
    Config, ConfigLocation, ConfigWarning, InjectTrigger, InvalidSetting, LanguageChoice,
    RecallConfig, SecretString, UpkeepConfig,
};

fn parse_valid(text: &str) -> Config {
    let (config, warnings) = Config::parse(text).unwrap();
    assert_eq!(warnings, [], "{text}");
    config
}

fn warnings(text: &str) -> Vec<String> {
    Config::parse(text).unwrap().1.iter().map(ConfigWarning::to_string).collect()
}

fn parse_error(text: &str) -> String {
    Config::parse(text).unwrap_err().to_string()
}

fn with_env(vars: &[(&str, &str)]) -> crate::Result<(Config, Vec<ConfigWarning>)> {
    Config::default().with_env(vars.iter().map(|(name, text)| ((*name).into(), (*text).into())))
}

fn problems(text: &str) -> Vec<String> {
    parse_valid(text).validate().iter().map(InvalidSetting::to_string).collect()
}

#[test]
fn an_empty_file_is_the_default() {
    assert_eq!(parse_valid(""), Config::default());
}

#[test]
fn what_a_file_says_replaces_the_default_and_nothing_else_changes() {
    let config =
        parse_valid("[memory.inject]\ntoken_budget = 900\nlong_term_trigger = \"keywords\"\n");
    let mut expected = Config::default();
    expected.memory.inject.token_budget = 900;
    expected.memory.inject.long_term_trigger = InjectTrigger::Keywords;
    assert_eq!(config, expected);
}

#[test]
fn every_section_of_the_source_design_is_read() {
    let config = parse_valid(
        r#"
        [general]
        language = "zh"
        [memory]
        max_history = 7
        [memory.short_term]
        max_items = 3
        [memory.long_term]
        archive_threshold = 0.25
        [memory.inject]
        first_round_empty = true
        [memory_agent]
        api_key = "sk-1"
        timeout = "1m 30s"
        [memory_agent.extract]
        batch_size = 2
        [memory_agent.summarize]
        trigger_tokens = 500
        "#,
    );
    assert_eq!(config.general.language, LanguageChoice::Zh);
    assert_eq!((config.memory.max_history, config.memory.short_term.max_items), (7, 3));
    assert_eq!(config.memory.long_term.archive_threshold, 0.25);
    assert!(config.memory.inject.first_round_empty);
    assert_eq!(config.memory_agent.api_key.reveal(), "sk-1");
    assert_eq!(config.memory_agent.timeout, Duration::from_secs(90));
    assert_eq!(config.memory_agent.extract.batch_size, 2);
    assert_eq!(config.memory_agent.summarize.trigger_tokens, 500);
}

#[test]
fn a_whole_number_is_a_number_too() {
    assert_eq!(parse_valid("[recall]\nk1 = 2\n").recall.k1, 2.0);
}

#[test]
fn dotted_keys_windows_line_ends_and_a_byte_order_mark_are_read() {
    let config = parse_valid("\u{feff}memory.inject.limit = 3\r\nrecall.b = 0.5\r\n");
    assert_eq!((config.memory.inject.limit, config.recall.b), (3, 0.5));
}

#[test]
fn an_unknown_setting_is_reported_with_its_line_and_the_nearest_one() {
    assert_eq!(
        warnings("[memory.inject]\nlimit = 3\ntoken_bugdet = 5\n"),
        ["line 3: there is no setting `memory.inject.token_bugdet`, so it is ignored; \
          did you mean `memory.inject.token_budget`?"]
    );
}

#[test]
fn a_setting_in_the_wrong_section_is_pointed_to_the_right_one() {
    let (_, warnings) = Config::parse("[memory]\nmax_items = 3\n").unwrap();
    assert_eq!(warnings[0].nearest.as_deref(), Some("memory.short_term.max_items"));
}

#[test]
fn an_unknown_section_is_reported_once() {
    let (_, warnings) = Config::parse("[memory_agents]\nenabled = true\nmodel = \"x\"\n").unwrap();
    let expected = ConfigWarning {
        location: ConfigLocation::Line(1),
        key: "memory_agents".into(),
        nearest: Some("memory_agent".into()),
        is_shared: false,
    };
    assert_eq!(warnings, [expected]);
}

#[test]
fn nothing_is_suggested_for_a_name_like_no_other() {
    assert_eq!(
        warnings("colour = 1\n"),
        ["line 1: there is no setting `colour`, so it is ignored"]
    );
}

#[test]
fn a_value_of_the_wrong_type_names_line_setting_and_what_was_expected() {
    let cases = [
        (
            "[memory]\n\nenabled = 1\n",
            "line 3: `memory.enabled`: expected true or false, found a whole number",
        ),
        ("[recall]\nb = \"x\"\n", "line 2: `recall.b`: expected a number, found text"),
        ("[general]\nuser = 5\n", "line 2: `general.user`: expected text, found a whole number"),
        ("memory = 5\n", "line 1: `memory`: expected a section, found a whole number"),
        ("[[memory]]\n", "line 1: `memory`: expected a section, found a list"),
        ("[recall.b]\nx = 1\n", "line 1: `recall.b`: expected a number, found a section"),
    ];
    for (text, message) in cases {
        assert_eq!(parse_error(text), message);
    }
}

#[test]
fn a_negative_count_is_refused() {
    assert_eq!(
        parse_error("[recall]\nlimit = -1\n"),
        "line 2: `recall.limit`: expected a whole number, 0 or more, found a negative number"
    );
}

#[test]
fn a_number_that_is_too_large_is_answered_with_the_range() {
    assert_eq!(
        parse_error("[server]\nport = 99999\n"),
        "line 2: `server.port`: expected a whole number from 0 to 65535, found a larger one"
    );
}

#[test]
fn a_word_that_is_not_a_choice_is_answered_with_the_choices() {
    assert_eq!(
        parse_error("[memory.inject]\nlong_term_trigger = \"sometimes\"\n"),
        "line 2: `memory.inject.long_term_trigger`: \
         unknown variant `sometimes`, expected one of `always`, `keywords`, `never`"
    );
}

#[test]
fn broken_toml_names_its_line_and_does_not_quote_the_text() {
    let message = parse_error("[memory_agent]\napi_key = \"sk-secret\n");
    assert!(message.starts_with("line 2: not valid TOML"), "{message}");
    assert!(!message.contains("sk-secret"), "{message}");
}

#[test]
fn variables_replace_settings_of_every_type() {
    let (config, warnings) = with_env(&[
        ("EVERLORE_MEMORY__ENABLED", "false"),
        ("EVERLORE_MEMORY__INJECT__TOKEN_BUDGET", "1000"),
        ("EVERLORE_RECALL__B", "1"),
        ("EVERLORE_GENERAL__AGENT", "5"),
        ("EVERLORE_MEMORY_AGENT__TIMEOUT", "5s"),
    ])
    .unwrap();
    assert_eq!(warnings, []);
    assert!(!config.memory.enabled);
    assert_eq!((config.memory.inject.token_budget, config.recall.b), (1_000, 1.0));
    assert_eq!(config.general.agent, "5");
    assert_eq!(config.memory_agent.timeout, Duration::from_secs(5));
}

#[test]
fn variables_that_are_not_settings_or_empty_are_left_alone() {
    let vars = [
        ("PATH", "/bin"),
        ("EVERLORE_HOME", "/h"),
        ("EVERLORE_AGENT", "a"),
        ("EVERLORE_USER", "u"),
        ("EVERLORE_CONFIG", "c"),
        ("EVERLORE_URL", "http://127.0.0.1:6636"),
        ("EVERLORE_KEY", "k"),
        ("EVERLORE_BINARY", "/b"),
        ("EVERLORE_RECALL__B", ""),
    ];
    assert_eq!(with_env(&vars).unwrap(), (Config::default(), vec![]));
}

#[test]
fn an_unknown_variable_is_reported_with_the_nearest_setting() {
    let (_, warnings) = with_env(&[("EVERLORE_RECALL__LIMITS", "3")]).unwrap();
    assert_eq!(
        warnings[0].to_string(),
        "EVERLORE_RECALL__LIMITS: there is no setting `recall.limits`, so it is ignored; did you mean `recall.limit`?"
    );
}

#[test]
fn a_variable_that_names_a_whole_section_is_reported() {
    let (config, warnings) = with_env(&[("EVERLORE_RECALL", "on")]).unwrap();
    assert_eq!(config, Config::default());
    assert_eq!(
        warnings[0].to_string(),
        "EVERLORE_RECALL: there is no setting `recall`, so it is ignored"
    );
}

#[test]
fn a_variable_of_the_wrong_type_is_an_error_that_names_it() {
    let error = with_env(&[("EVERLORE_RECALL__LIMIT", "many")]).unwrap_err();
    assert_eq!(
        error.to_string(),
        "EVERLORE_RECALL__LIMIT: `recall.limit`: expected a whole number, 0 or more, found text"
    );
    assert_eq!(error.hint(), "change the variable or unset it");
}

#[test]
fn variables_leave_the_key_of_the_file_in_place() {
    let base = parse_valid("[memory_agent]\napi_key = \"sk-1\"\n");
    let (config, _) = base.with_env([("EVERLORE_RECALL__B".into(), "1".into())]).unwrap();
    assert_eq!(config.memory_agent.api_key.reveal(), "sk-1");
}

#[test]
fn a_key_is_never_shown() {
    let config = parse_valid("[memory_agent]\napi_key = \"sk-1\"\n");
    let shown = [format!("{config:?}"), config.to_toml(), serde_json::to_string(&config).unwrap()];
    for text in shown {
        assert!(text.contains("[hidden]") && !text.contains("sk-1"), "{text}");
    }
}

#[test]
fn shown_settings_read_back_the_same_but_for_the_key() {
    let mut config =
        parse_valid("[recall]\nb = 0.9\n[memory_agent]\napi_key = \"sk-1\"\ntimeout = \"2m\"\n");
    let again = parse_valid(&config.to_toml());
    assert_eq!(again.validate()[0].key, "memory_agent.api_key");
    config.memory_agent.api_key = SecretString::new("[hidden]");
    assert_eq!(again, config);
}

#[test]
fn values_out_of_range_are_told_with_their_range() {
    assert_eq!(problems("[recall]\nb = 1.5\n"), ["`recall.b` is 1.5, but must be from 0 to 1"]);
    assert_eq!(
        problems("[memory.inject]\ntoken_budget = 0\n"),
        ["`memory.inject.token_budget` is 0, but must be from 50 to 1000000"]
    );
    assert_eq!(problems("[recall]\nk1 = nan\n"), ["`recall.k1` is NaN, but must be from 0 to 10"]);
    assert_eq!(
        problems("[memory_agent]\ntimeout = \"0s\"\n"),
        ["`memory_agent.timeout` must be from 1 second to 1 hour"]
    );
}

#[test]
fn all_problems_are_told_at_once() {
    assert_eq!(problems("[recall]\nb = -1.0\nlimit = 0\n[memory]\nmax_history = 99999\n").len(), 3);
}

#[test]
fn a_model_that_is_switched_on_must_be_named() {
    assert_eq!(
        problems("[memory_agent]\nenabled = true\n"),
        ["`memory_agent.model` must be set, and `provider` too, when `enabled` is true"]
    );
    assert!(problems("[memory_agent]\nenabled = true\nmodel = \"m\"\n").is_empty());
}

#[test]
fn a_name_that_cannot_be_a_scope_is_a_problem() {
    assert_eq!(
        problems("[general]\nagent = \"a/b\"\nuser = \"\"\n"),
        [
            "`general.agent` cannot be used: the agent name contains a slash or a control character",
            "`general.user` cannot be used: the user name is empty",
        ]
    );
}

#[test]
fn recall_settings_can_be_read_alone() {
    let recall: RecallConfig = toml::from_str("k1 = 1.2\n").unwrap();
    assert_eq!(recall, RecallConfig { k1: 1.2, ..RecallConfig::default() });
}

#[test]
fn a_number_too_large_for_toml_is_an_error_and_not_a_panic() {
    let mut config = Config::default();
    config.recall.limit = usize::MAX;
    assert!(config.with_env([]).is_err());
}

#[test]
fn upkeep_keeps_to_its_hours_even_over_midnight() {
    let at = |hours: &str| {
        let config = UpkeepConfig { hours: hours.into(), ..UpkeepConfig::default() };
        (0..24).filter(|hour| config.may_run_at(*hour)).collect::<Vec<i8>>()
    };
    assert_eq!(at("").len(), 24);
    assert_eq!(at("2-5"), [2, 3, 4]);
    assert_eq!(at("22 - 2"), [0, 1, 22, 23]);
}

#[test]
fn hours_caps_and_shares_that_cannot_be_are_told() {
    let mut config = Config::default();
    config.upkeep.hours = "late".into();
    config.upkeep.every = std::time::Duration::from_secs(1);
    config.memory.inject.holdout = 0.9;
    config.memory_agent.budget.daily_cost = 1.0;
    let keys: Vec<_> = config.validate().into_iter().map(|problem| problem.key).collect();
    assert_eq!(
        keys,
        ["memory.inject.holdout", "memory_agent.budget.daily_cost", "upkeep.every", "upkeep.hours"]
    );
    config.memory_agent.budget.price_read = 0.25;
    assert_eq!(config.memory_agent.budget.cost(2_000_000, 500), 0.5);
    assert_eq!(config.validate().len(), 3);
}
