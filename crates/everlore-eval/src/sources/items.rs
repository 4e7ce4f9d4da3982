//! Finds type definitions, functions, traits and constant tables in masked Rust source.

use super::lexer::is_name_char;

/// Constants of at least this many lines are data tables, not code.
pub(super) const MIN_TABLE_LINES: usize = 9;

/// Name or punctuation character of masked source.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct CodeToken<'a> {
    text: &'a str,
    /// Line, from 1.
    line: usize,
}

/// Definition of a struct, enum, trait, union or type alias.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct TypeDefinition {
    pub(super) name: String,
    pub(super) line: usize,
}

/// Trait with the number of methods it declares.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct TraitMethods {
    pub(super) name: String,
    pub(super) methods: usize,
}

/// Returns the type definitions of masked source; associated types of traits and impls are left out.
pub(super) fn type_definitions(masked: &str) -> Vec<TypeDefinition> {
    let tokens = tokenize(masked);
    let mut definitions = Vec::new();
    let mut blocks = Vec::new();
    let mut opens_impl = false;
    for (index, token) in tokens.iter().enumerate() {
        let starts_item = starts_item(&tokens, index);
        match token.text {
            "impl" | "trait" if starts_item => opens_impl = true,
            "{" => blocks.push(std::mem::take(&mut opens_impl)),
            "}" => drop(blocks.pop()),
            ";" => opens_impl = false,
            _ => {}
        }
        let defines = match token.text {
            "struct" | "enum" | "trait" | "union" => starts_item,
            "type" => starts_item && blocks.last() != Some(&true),
            _ => false,
        };
        let name = tokens.get(index + 1).filter(|next| next.text.starts_with(char::is_uppercase));
        if let (true, Some(name)) = (defines, name) {
            definitions.push(TypeDefinition { name: name.text.to_owned(), line: token.line });
        }
    }
    definitions
}

/// Returns the lines of each function that has a body, from `fn` to the closing brace.
pub(super) fn function_lengths(code: &str) -> Vec<usize> {
    let tokens = tokenize(code);
    let is_function = |index: &usize| {
        tokens[*index].text == "fn"
            && tokens.get(index + 1).is_some_and(|next| next.text.starts_with(is_name_char))
    };
    let functions = (0..tokens.len()).filter(is_function);
    functions
        .filter_map(|index| {
            let open = end_of(&tokens, index, &["{", ";"])?;
            let is_body = tokens[open].text == "{";
            let close = is_body.then(|| closing_brace(&tokens, open))?;
            Some(tokens[close].line - tokens[index].line + 1)
        })
        .collect()
}

/// Returns the traits of masked source with the methods that each declares.
pub(super) fn traits(code: &str) -> Vec<TraitMethods> {
    let tokens = tokenize(code);
    let starts = (0..tokens.len())
        .filter(|index| tokens[*index].text == "trait" && starts_item(&tokens, *index));
    starts
        .filter_map(|index| {
            let name = tokens.get(index + 1)?.text.to_owned();
            let open = end_of(&tokens, index, &["{"])?;
            let body = &tokens[open..closing_brace(&tokens, open)];
            Some(TraitMethods { name, methods: methods_of(body) })
        })
        .collect()
}

/// Returns the line ranges (first, last) of constants with at least [`MIN_TABLE_LINES`] lines.
pub(super) fn tables(code: &str) -> Vec<(usize, usize)> {
    let tokens = tokenize(code);
    let is_constant = |index: &usize| {
        ["const", "static"].contains(&tokens[*index].text)
            && starts_item(&tokens, *index)
            && tokens.get(index + 2).is_some_and(|colon| colon.text == ":")
    };
    let constants = (0..tokens.len()).filter(is_constant);
    let range = |index: usize| {
        let end = end_of(&tokens, index, &[";"])?;
        Some((tokens[index].line, tokens[end].line))
    };
    constants
        .filter_map(range)
        .filter(|(first, last)| last - first + 1 >= MIN_TABLE_LINES)
        .collect()
}

/// Counts the functions at depth 1 of a trait body that begins with its opening brace.
fn methods_of(body: &[CodeToken<'_>]) -> usize {
    let mut depth = 0;
    let mut methods = 0;
    for pair in body.windows(2) {
        depth += i32::from(pair[0].text == "{") - i32::from(pair[0].text == "}");
        methods += usize::from(
            depth == 1 && pair[0].text == "fn" && pair[1].text.starts_with(is_name_char),
        );
    }
    methods
}

/// Returns `true` where an item can begin: after another item, an attribute or a qualifier.
fn starts_item(tokens: &[CodeToken<'_>], index: usize) -> bool {
    const BEFORE: [&str; 8] = ["{", "}", ";", "]", ")", "pub", "unsafe", "auto"];
    index == 0 || BEFORE.contains(&tokens[index - 1].text)
}

/// Returns the first of `ends` after `index` that no bracket encloses.
fn end_of(tokens: &[CodeToken<'_>], index: usize, ends: &[&str]) -> Option<usize> {
    let mut depth = 0;
    (index..tokens.len()).find(|at| {
        let text = tokens[*at].text;
        let is_end = depth == 0 && ends.contains(&text);
        depth += i32::from(["(", "[", "{"].contains(&text));
        depth -= i32::from([")", "]", "}"].contains(&text));
        is_end
    })
}

fn closing_brace(tokens: &[CodeToken<'_>], open: usize) -> usize {
    let mut depth = 0;
    let closes = |at: &usize| {
        depth += i32::from(tokens[*at].text == "{") - i32::from(tokens[*at].text == "}");
        depth == 0
    };
    (open..tokens.len()).find(closes).unwrap_or(tokens.len() - 1)
}

fn tokenize(masked: &str) -> Vec<CodeToken<'_>> {
    let mut tokens = Vec::new();
    for (number, line) in masked.lines().enumerate() {
        let mut rest = line.trim_start();
        while let Some(first) = rest.chars().next() {
            let name = rest.find(|c| !is_name_char(c)).unwrap_or(rest.len());
            let (text, after) = rest.split_at(if name == 0 { first.len_utf8() } else { name });
            tokens.push(CodeToken { text, line: number + 1 });
            rest = after.trim_start();
        }
    }
    tokens
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_of_type_is_found_and_associated_types_are_not() {
        let code = "pub(crate) struct A<'a>(&'a str);\n#[derive(Debug)]\nenum B { X }\npub trait C { type Out; }\n\
            impl C for A<'_> {\n type Out = u8;\n fn f() { struct D; }\n}\ntype E = u8;\nfn f(x: impl C) -> impl C { type F = u8; }\n\
            macro_rules! m { ($name:ident) => { struct $name; } }";
        let names: Vec<_> = type_definitions(code).into_iter().map(|it| it.name).collect();
        assert_eq!(names, ["A", "B", "C", "D", "E", "F"]);
        assert_eq!(type_definitions(code)[1].line, 3);
    }

    #[test]
    fn a_function_is_as_long_as_its_signature_and_body() {
        let code = "trait T { fn declared(&self); }\nfn one() {}\nfn four(\n  x: [u8; 4],\n) -> u8 {\n}\nlet f: fn(u8) = one;";
        assert_eq!(function_lengths(code), [1, 4]);
    }

    #[test]
    fn methods_of_a_trait_are_counted_with_and_without_a_body() {
        let code = "pub trait Facet: Send {\n fn a(&self);\n fn b(&self) { fn inner() {} }\n}\ntrait Empty {}";
        let counts: Vec<_> = traits(code).into_iter().map(|it| (it.name, it.methods)).collect();
        assert_eq!(counts, [("Facet".to_owned(), 2), ("Empty".to_owned(), 0)]);
    }

    #[test]
    fn a_long_constant_is_a_table_and_a_short_one_is_code() {
        let table =
            format!("fn f() {{}}\npub const WORDS: [&str; 9] = [\n{}];\n", "~~~,\n".repeat(7));
        assert_eq!(tables(&table), [(2, 10)]);
        assert_eq!(tables("const N: [u8; 2] = [\n1,\n2];\nconst fn f() {}"), []);
    }
}
