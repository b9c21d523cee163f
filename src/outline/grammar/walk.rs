//! From a tree to its items.

use tree_sitter::{Node, Tree, TreeCursor};

use super::rules::{Rule, Rules, When};
use super::{DEEPEST, last_row, name, signature};
use crate::outline::{Item, Plain, Until};

/// So often the time is looked at: every so many nodes.
const ROUND: usize = 1_024;

/// The items of a tree, in the order of the text.
pub(super) fn items(tree: &Tree, text: &str, rules: &Rules, until: &Until) -> Result<Vec<Item>, Plain> {
    let mut walk = Walk { text, rules, until, seen: 0, items: Vec::new() };
    let mut cursor = tree.walk();
    walk.children(&mut cursor, &Place::default())?;
    Ok(walk.items)
}

/// Where the walk stands.
#[derive(Debug, Clone, Default)]
struct Place<'tree> {
    /// Names of the items around.
    path: Vec<String>,
    /// How many nodes are around.
    nodes: usize,
    in_block: bool,
    /// First and last row of the comments above what begins where the node does.
    above: Option<(usize, usize)>,
    /// What stands around a single item, and the row where the comments above it begin.
    wrapped: Option<(Node<'tree>, usize)>,
}

struct Walk<'a> {
    text: &'a str,
    rules: &'a Rules,
    until: &'a Until,
    seen: usize,
    items: Vec<Item>,
}

impl Walk<'_> {
    /// Looks at the children of the cursor's node; it stands there again afterwards.
    fn children<'tree>(&mut self, cursor: &mut TreeCursor<'tree>, place: &Place<'tree>) -> Result<(), Plain> {
        if place.nodes >= DEEPEST || !cursor.goto_first_child() {
            return Ok(());
        }
        // First and last row of the comments and attributes right above.
        let mut above = place.above;
        let mut before = None;
        loop {
            self.seen += 1;
            if self.seen.is_multiple_of(ROUND) && self.until.is_over() {
                return Err(Plain::TooSlow);
            }
            let node = cursor.node();
            let (first, last) = (node.start_position().row, last_row(&node));
            if self.rules.attached.contains(&node.kind()) {
                let follows = above.is_some_and(|(_, end)| first <= end + 1);
                above = match above {
                    Some((start, _)) if follows => Some((start, last)),
                    // What stands behind code on its line is about that.
                    _ if before == Some(first) => None,
                    _ => Some((first, last)),
                };
            } else if node.is_named() {
                let from = above.filter(|(_, end)| first <= end + 1).map_or(first, |(start, _)| start);
                self.node(cursor, place, from)?;
                (above, before) = (None, Some(last));
            }
            if !cursor.goto_next_sibling() {
                break;
            }
        }
        cursor.goto_parent();
        Ok(())
    }

    fn node<'tree>(
        &mut self,
        cursor: &mut TreeCursor<'tree>,
        place: &Place<'tree>,
        from: usize,
    ) -> Result<(), Plain> {
        let node = cursor.node();
        let kind = node.kind();
        for rule in self.rules.items.iter().filter(|rule| rule.node == kind) {
            if place.path.len() < self.rules.deepest
                && self.holds(rule, &node, place)
                && self.add(rule, cursor, place, from)?
            {
                return Ok(());
            }
        }
        if node.is_error() || self.rules.through.contains(&kind) {
            let is_wrapper = self.rules.wrappers.contains(&kind) && self.is_single(&node);
            let around = place.wrapped.unwrap_or((node, from));
            let first = node.start_position().row;
            let inside = Place {
                nodes: place.nodes + 1,
                above: (from < first).then(|| (from, first - 1)),
                in_block: place.in_block || self.rules.blocks.contains(&kind),
                wrapped: is_wrapper.then_some(around),
                ..place.clone()
            };
            return self.children(cursor, &inside);
        }
        Ok(())
    }

    /// Lists the cursor's node, and what lies in it; `false` if it has no name.
    fn add<'tree>(
        &mut self,
        rule: &Rule,
        cursor: &mut TreeCursor<'tree>,
        place: &Place<'tree>,
        from: usize,
    ) -> Result<bool, Plain> {
        let node = cursor.node();
        let (outer, from) = place.wrapped.unwrap_or((node, from));
        let signature = signature::of(rule, self.rules, &node, &outer, self.text);
        let Some(own) = name::of(rule, self.rules, &node, self.text, &signature) else { return Ok(false) };
        let path: Vec<String> = place.path.iter().cloned().chain(own.parts).collect();
        let kinds = rule.kinds.iter().find(|kind| signature::has(&node, kind));
        let first = signature.row;
        self.items.push(Item {
            kind: kinds.copied().unwrap_or(rule.kind),
            name: path.last().cloned().unwrap_or_default(),
            path: path.join("."),
            depth: place.path.len(),
            signature: own.instead.unwrap_or(signature.line),
            from_line: from.min(first) + 1,
            first_line: first + 1,
            last_line: self.last_line(&node).max(first + 1),
        });
        if rule.is_open {
            // What lies in it lies one level deeper, however many parts its own name has.
            let mut around = place.path.clone();
            around.push(path[place.path.len()..].join("."));
            let nodes = place.nodes + 1;
            let inside = Place { path: around, nodes, in_block: place.in_block, ..Place::default() };
            self.children(cursor, &inside)?;
        }
        Ok(true)
    }

    fn holds(&self, rule: &Rule, node: &Node<'_>, place: &Place<'_>) -> bool {
        let is_top = || place.path.is_empty() && !place.in_block;
        let is_function = || signature::value_in(node, self.rules.functions).is_some();
        match rule.when {
            When::Always => true,
            When::Top => is_top(),
            When::Function => is_function(),
            When::TopOr(child) => is_top() || signature::has(node, child),
            When::Has(child) => signature::has(node, child),
            When::Nameless(child) => signature::value_in(node, &[child])
                .is_some_and(|child| child.child_by_field_name("name").is_none()),
            When::Callable => name::is_callable(node),
        }
    }

    /// Whether a wrapper stands around one thing only.
    fn is_single(&self, node: &Node<'_>) -> bool {
        let mut cursor = node.walk();
        let is_item = |child: &Node<'_>| {
            let kind = child.kind();
            self.rules.items.iter().any(|rule| rule.node == kind) || self.rules.through.contains(&kind)
        };
        node.named_children(&mut cursor).filter(is_item).count() == 1
    }

    /// The last line with something on it; some grammars count blank lines in.
    fn last_line(&self, node: &Node<'_>) -> usize {
        let behind = self.text.get(node.byte_range()).map_or(0, |text| {
            let rest = &text[text.trim_end().len()..];
            rest.bytes().filter(|byte| *byte == b'\n').count()
        });
        node.end_position().row + 1 - behind
    }
}
