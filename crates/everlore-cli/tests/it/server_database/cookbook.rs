//! The recipes of the cookbook that need a database server run on one.

use super::TestPostgres;
use crate::{
    guides::{SHOWN_DATABASE, recipes},
    home::TestHome,
    readme::{run_in_shell, shown_commands},
};

#[test]
fn the_recipes_with_a_database_server_answer_as_the_cookbook_says() {
    let with_server: Vec<String> =
        recipes().into_iter().filter(|recipe| recipe.contains(SHOWN_DATABASE)).collect();
    assert_eq!(with_server.len(), 2);
    for recipe in with_server {
        let (postgres, home) = (TestPostgres::start(), TestHome::new());
        let shown = shown_commands(&recipe);
        assert!(shown.len() >= 4, "{recipe}");
        for shown in shown {
            let command = shown.command.replace(SHOWN_DATABASE, &postgres.url());
            let printed = run_in_shell(&home, &command);
            assert!(!printed.contains(&postgres.password()), "`{command}`: {printed}");
            shown.assert_printed(&printed.replace(&postgres.shown(), SHOWN_DATABASE));
        }
    }
}
