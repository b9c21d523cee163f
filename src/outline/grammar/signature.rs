//! How an item is declared: its text up to its body or value, without comments and attributes, on one line.

use tree_sitter::Node;

use super::rules::{Name, Rule, Rules};
use crate::outline::scan::one_line;

/// How deep in a signature comments and attributes are looked for.
const DEPTH: usize = 4;
/// What is left hanging where a signature was cut.
const HANGING: [char; 6] = ['{', '=', ':', ';', ',', '('];

/// A signature.
#[derive(Debug)]
pub(super) struct Signature {
    pub line: String,
    /// The row where it begins; counted from 0.
    pub row: usize,
}

/// The signature of a node; `outer` is what stands around it, or the node itself.
pub(super) fn of(rule: &Rule, rules: &Rules, node: &Node<'_>, outer: &Node<'_>, text: &str) -> Signature {
    let end = end(rules, node).unwrap_or(node.end_byte()).max(node.start_byte());
    let mut holes = Vec::new();
    attached(rules, outer, end, 0, &mut holes);
    // `typedef struct { ... } name` without what is between.
    let body = node.child_by_field_name("type").and_then(|inside| inside.child_by_field_name("body"));
    holes
        .extend(body.filter(|body| body.start_byte() < end).map(|body| (body.start_byte(), body.end_byte())));
    holes.sort_unstable();
    let mut kept = String::new();
    let mut at = outer.start_byte();
    let mut first = None;
    for (from, to) in holes.into_iter().chain([(end, end)]) {
        if from > at {
            let part = text.get(at..from).unwrap_or_default();
            if first.is_none() && !part.trim().is_empty() {
                first = Some(at + (part.len() - part.trim_start().len()));
            }
            kept.push_str(part);
            kept.push(' ');
        }
        at = at.max(to);
    }
    if !rule.until.is_empty()
        && let Some(end) = kept.find(rule.until)
    {
        kept.truncate(end);
    }
    let row = first.map_or(node.start_position().row, |byte| row_of(outer, byte, text));
    let mut line = tidy(&one_line(&kept));
    // An operator or a selector may end with one of these.
    if !matches!(rule.name, Name::Signature) || line.ends_with('{') {
        line.truncate(line.trim_end_matches(|c: char| HANGING.contains(&c) || c.is_whitespace()).len());
        line.truncate(line.trim_end_matches("=>").trim_end().len());
    }
    Signature { line, row }
}

/// Without the blanks that line breaks between brackets left.
fn tidy(line: &str) -> String {
    line.replace("( ", "(").replace(", )", ")").replace(" )", ")").replace(" ,", ",")
}

/// Where a signature ends: at the body or the value, of a function or a type as a value at that one's body.
fn end(rules: &Rules, node: &Node<'_>) -> Option<usize> {
    if let Some(value) = value_in(node, rules.functions).or_else(|| value_in(node, rules.types)) {
        return first_cut(rules, &value).or(Some(value.end_byte()));
    }
    first_cut(rules, node)
}

fn first_cut(rules: &Rules, node: &Node<'_>) -> Option<usize> {
    let mut cursor = node.walk();
    if !cursor.goto_first_child() {
        return None;
    }
    loop {
        let child = cursor.node();
        let is_cut = rules.cuts.iter().any(|cut| *cut == child.kind() || cursor.field_name() == Some(cut));
        if is_cut {
            return Some(child.start_byte());
        }
        if rules.cuts_in.contains(&child.kind())
            && let Some(end) = first_cut(rules, &child)
        {
            return Some(end);
        }
        if !cursor.goto_next_sibling() {
            return None;
        }
    }
}

/// A function or a type of these kinds that is the value of a node: a child, or one in a list.
pub(super) fn value_in<'tree>(node: &Node<'tree>, kinds: &[&str]) -> Option<Node<'tree>> {
    let is_value = |node: &Node<'_>| kinds.contains(&node.kind());
    let mut cursor = node.walk();
    for child in node.named_children(&mut cursor) {
        if is_value(&child) {
            return Some(child);
        }
        if child.kind() == "expression_list" {
            let mut inner = child.walk();
            if let Some(found) = child.named_children(&mut inner).find(is_value) {
                return Some(found);
            }
        }
    }
    None
}

/// Whether a node has such a child, or such a field.
pub(super) fn has(node: &Node<'_>, child: &str) -> bool {
    let mut cursor = node.walk();
    if !cursor.goto_first_child() {
        return false;
    }
    loop {
        if cursor.node().kind() == child || cursor.field_name() == Some(child) {
            return true;
        }
        if !cursor.goto_next_sibling() {
            return false;
        }
    }
}

/// Comments and attributes before `end`, from and to which byte.
fn attached(rules: &Rules, node: &Node<'_>, end: usize, depth: usize, holes: &mut Vec<(usize, usize)>) {
    let mut cursor = node.walk();
    for child in node.named_children(&mut cursor) {
        if child.start_byte() >= end {
            return;
        }
        if rules.attached.contains(&child.kind()) {
            holes.push((child.start_byte(), child.end_byte().min(end)));
        } else if depth < DEPTH {
            attached(rules, &child, end, depth + 1, holes);
        }
    }
}

fn row_of(outer: &Node<'_>, byte: usize, text: &str) -> usize {
    let start = outer.start_byte();
    let before = text.get(start..byte).unwrap_or_default();
    outer.start_position().row + before.bytes().filter(|byte| *byte == b'\n').count()
}
