//! What an item is called.

use tree_sitter::Node;

use super::rules::{Name, Rule, Rules};
use super::signature::Signature;
use crate::outline::scan::one_line;

/// Most nodes on the way to a name.
const FARTHEST: usize = 30;
/// Elements that are listed without having an id.
const LANDMARKS: [&str; 20] = [
    "head", "title", "body", "header", "main", "nav", "aside", "footer", "section", "article", "form",
    "table", "template", "dialog", "h1", "h2", "h3", "h4", "script", "style",
];
/// Elements whose text is their name.
const TITLES: [&str; 7] = ["title", "h1", "h2", "h3", "h4", "h5", "h6"];
/// What functions are assigned to without being named by it.
const CARRIERS: [&str; 5] = ["module", "exports", "prototype", "this", "window"];

/// A name.
#[derive(Debug)]
pub(super) struct Own {
    /// Its parts, the types or modules that it names first.
    pub parts: Vec<String>,
    /// What is shown instead of the text of the declaration.
    pub instead: Option<String>,
}

/// The name of a node by a rule; `None` if it has none, and is no item by that rule.
pub(super) fn of(
    rule: &Rule,
    rules: &Rules,
    node: &Node<'_>,
    text: &str,
    signature: &Signature,
) -> Option<Own> {
    let plain = |parts: Vec<String>| Own { parts, instead: None };
    match rule.name {
        Name::Field(field) => {
            let name = node.child_by_field_name(field)?;
            let parts = parts(rules, &name, text);
            // A key says all there is to say.
            let instead = (rule.kind == "key").then(|| match parts.concat() {
                empty if empty.is_empty() => text_of(&name, text),
                key => key,
            });
            Some(Own { parts, instead })
        }
        Name::Of(field, kinds) => {
            let name = node.child_by_field_name(field).filter(|name| kinds.contains(&name.kind()))?;
            Some(plain(parts(rules, &name, text)))
        }
        Name::First(kinds) => first(node, kinds, 0).map(|name| plain(parts(rules, &name, text))),
        Name::Declarator => declared(node).map(|name| plain(parts(rules, &name, text))),
        Name::Owned(field, owner) => {
            let owner =
                node.child_by_field_name(owner).and_then(|owner| first(&owner, &["type_identifier"], 0));
            let name = node.child_by_field_name(field)?;
            let parts = owner.iter().chain([&name]).map(|part| text_of(part, text)).collect();
            Some(plain(parts))
        }
        Name::Call(callees) => call(node, callees, text),
        Name::Fixed(name) => Some(plain(vec![name.to_owned()])),
        Name::Signature => (!signature.line.is_empty()).then(|| plain(vec![signature.line.clone()])),
        Name::Element => element(node, text),
    }
}

fn text_of(node: &Node<'_>, text: &str) -> String {
    one_line(text.get(node.byte_range()).unwrap_or_default())
}

/// `Type::method` has two parts; a quoted name has one.
fn parts(rules: &Rules, node: &Node<'_>, text: &str) -> Vec<String> {
    let name = text_of(&referred(*node), text);
    let bare = name.trim_matches(['"', '\'', '`']);
    if bare.len() < name.len() || node.kind().starts_with("operator") {
        return vec![bare.to_owned()];
    }
    let bare = without_arguments(bare);
    let parts: Vec<String> = bare
        .split(rules.separators)
        .map(str::trim)
        .filter(|part| !part.is_empty() && (!rules.separators.contains(&'.') || !CARRIERS.contains(part)))
        .map(str::to_owned)
        .collect();
    if parts.is_empty() { vec![bare] } else { parts }
}

/// What is implemented for `&mut Pool` goes by `Pool`.
fn referred(mut node: Node<'_>) -> Node<'_> {
    for _ in 0..FARTHEST {
        let inner = node.child_by_field_name("type");
        match inner.filter(|_| matches!(node.kind(), "reference_type" | "pointer_type")) {
            Some(inner) => node = inner,
            None => break,
        }
    }
    node
}

/// `Vec<T>` is `Vec`.
fn without_arguments(name: &str) -> String {
    if !name.starts_with(|c: char| c.is_alphabetic() || matches!(c, '&' | '*' | '_'))
        || !name.contains('<')
        || !name.ends_with(|c: char| c == '>' || c.is_alphanumeric())
    {
        return name.to_owned();
    }
    let mut depth = 0_usize;
    let mut out = String::new();
    for c in name.chars() {
        match c {
            '<' => depth += 1,
            '>' => depth = depth.saturating_sub(1),
            c if depth == 0 => out.push(c),
            _ => {}
        }
    }
    out
}

/// The first node of these kinds among the children and theirs.
fn first<'tree>(node: &Node<'tree>, kinds: &[&str], depth: usize) -> Option<Node<'tree>> {
    let mut cursor = node.walk();
    for child in node.named_children(&mut cursor) {
        if kinds.contains(&child.kind()) {
            return Some(child);
        }
        if depth < 2
            && let Some(found) = first(&child, kinds, depth + 1)
        {
            return Some(found);
        }
    }
    None
}

/// What a declaration of C declares.
fn declared<'tree>(node: &Node<'tree>) -> Option<Node<'tree>> {
    let mut at = node.child_by_field_name("declarator")?;
    for _ in 0..FARTHEST {
        match inner(&at) {
            Some(next) => at = next,
            None => break,
        }
    }
    Some(at)
}

fn inner<'tree>(declarator: &Node<'tree>) -> Option<Node<'tree>> {
    let by_field =
        declarator.child_by_field_name("declarator").filter(|_| declarator.kind() != "operator_cast");
    by_field.or_else(|| {
        let is_around = matches!(
            declarator.kind(),
            "parenthesized_declarator" | "reference_declarator" | "attributed_declarator"
        );
        let mut cursor = declarator.walk();
        let mut children = declarator.named_children(&mut cursor);
        children.find(|child| {
            is_around && child.kind() != "ms_call_modifier" && child.kind() != "attribute_specifier"
        })
    })
}

/// Whether a declaration declares a function; a pointer to one is a variable.
pub(super) fn is_callable(node: &Node<'_>) -> bool {
    let Some(mut at) = node.child_by_field_name("declarator") else { return false };
    for _ in 0..FARTHEST {
        match at.kind() {
            "operator_cast" => return true,
            "qualified_identifier" => {
                // A conversion of a class: `Type::operator bool()`.
                return at.child_by_field_name("name").is_some_and(|name| name.kind() == "operator_cast");
            }
            _ => {}
        }
        let Some(next) = inner(&at) else { return false };
        if at.kind() == "function_declarator" && next.kind() != "parenthesized_declarator" {
            return true;
        }
        at = next;
    }
    false
}

fn call(node: &Node<'_>, callees: &[&str], text: &str) -> Option<Own> {
    let callee = ["function", "method"].iter().find_map(|field| node.child_by_field_name(field))?;
    let callee = text_of(&callee, text);
    if !callees.contains(&callee.split('.').next().unwrap_or_default()) {
        return None;
    }
    let arguments = node.child_by_field_name("arguments")?;
    let mut cursor = arguments.walk();
    let what = arguments.named_children(&mut cursor).next()?;
    let what = text_of(&what, text);
    let name = what.trim_matches(['"', '\'', '`']).to_owned();
    Some(Own { parts: vec![name], instead: Some(format!("{callee} {what}")) })
}

fn element(node: &Node<'_>, text: &str) -> Option<Own> {
    let mut cursor = node.walk();
    let start = node
        .named_children(&mut cursor)
        .find(|child| matches!(child.kind(), "start_tag" | "self_closing_tag"))?;
    let tag = first(&start, &["tag_name"], 0).map(|tag| text_of(&tag, text).to_ascii_lowercase())?;
    let id = id_of(&start, text);
    if id.is_none() && !LANDMARKS.contains(&tag.as_str()) {
        return None;
    }
    let mut shown = text_of(&start, text);
    let mut name = id;
    if TITLES.contains(&tag.as_str()) {
        let title = inner_text(node, text);
        shown = format!("{shown} {title}");
        name = name.or(Some(title).filter(|title| !title.is_empty()));
    }
    Some(Own { parts: vec![name.unwrap_or(tag)], instead: Some(shown) })
}

fn id_of(tag: &Node<'_>, text: &str) -> Option<String> {
    let mut cursor = tag.walk();
    tag.named_children(&mut cursor)
        .filter(|child| child.kind() == "attribute")
        .find(|attribute| {
            first(attribute, &["attribute_name"], 0).is_some_and(|name| text_of(&name, text) == "id")
        })
        .and_then(|attribute| first(&attribute, &["attribute_value"], 0))
        .map(|value| text_of(&value, text))
}

/// The text of an element without its tags.
fn inner_text(node: &Node<'_>, text: &str) -> String {
    let all = text.get(node.byte_range()).unwrap_or_default();
    let mut out = String::new();
    let mut in_tag = false;
    for c in all.chars().take(2_000) {
        match c {
            '<' => in_tag = true,
            '>' => in_tag = false,
            c if !in_tag => out.push(c),
            _ => {}
        }
    }
    one_line(&out)
}
