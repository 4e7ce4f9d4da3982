//! What a `.gitignore` leaves out, as far as people use it: names, paths, folders and exceptions.

use super::glob::Glob;

/// The lines of one `.gitignore`.
#[derive(Debug, Clone, Default)]
pub(super) struct Ignore {
    rules: Vec<Rule>,
}

#[derive(Debug, Clone)]
struct Rule {
    glob: Glob,
    only_folders: bool,
    /// It brings back what a line before left out.
    keeps: bool,
}

impl Ignore {
    /// Reads the lines; those that mean nothing are passed over.
    pub(super) fn parse(text: &str) -> Self {
        Self { rules: text.lines().filter_map(Rule::parse).collect() }
    }

    /// Whether a path below its folder is left out; nothing if no line is about it.
    pub(super) fn leaves_out(&self, path: &str, is_folder: bool) -> Option<bool> {
        let fits = |rule: &&Rule| (is_folder || !rule.only_folders) && rule.glob.fits(path);
        self.rules.iter().rev().find(fits).map(|rule| !rule.keeps)
    }
}

impl Rule {
    fn parse(line: &str) -> Option<Self> {
        let line = line.trim_end();
        if line.is_empty() || line.starts_with('#') {
            return None;
        }
        let (line, keeps) = line.strip_prefix('!').map_or((line, false), |line| (line, true));
        let (line, only_folders) =
            line.strip_suffix('/').map_or((line, false), |line| (line, true));
        (!line.is_empty()).then(|| Self { glob: Glob::new(line), only_folders, keeps })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_line_that_fits_decides() {
        let ignore = Ignore::parse("# comment\n\n*.log\n!keep.log\nbuild/\n/top.txt\ndocs/*.tmp\n");
        assert_eq!(ignore.leaves_out("a/b.log", false), Some(true));
        assert_eq!(ignore.leaves_out("a/keep.log", false), Some(false));
        assert_eq!(ignore.leaves_out("a/build", true), Some(true));
        assert_eq!(ignore.leaves_out("a/build", false), None);
        assert_eq!(ignore.leaves_out("top.txt", false), Some(true));
        assert_eq!(ignore.leaves_out("a/top.txt", false), None);
        assert_eq!(ignore.leaves_out("docs/x.tmp", false), Some(true));
    }
}
