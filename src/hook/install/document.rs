//! A JSON text that is changed in place: what is not touched keeps its bytes.

mod comments;

use serde::Serialize;
use serde_json::Value;
use serde_json::ser::{PrettyFormatter, Serializer};

/// One step on the way to a value.
#[derive(Debug, Clone, Copy)]
pub(super) enum Step<'a> {
    /// A member of an object; the last one, if the key occurs twice.
    Key(&'a str),
    /// An item of an array.
    Index(usize),
}

/// A parsed text.
#[derive(Debug)]
pub(super) struct Document {
    text: String,
    /// The same with blanks for comments and trailing commas, byte by byte; the text itself where there are none.
    plain: String,
    comments: bool,
    value: Value,
    indent: String,
}

/// Where a value stands in the text.
#[derive(Debug)]
struct Node {
    start: usize,
    end: usize,
    children: Vec<Child>,
}

/// A child with the place where its key, if it has one, begins.
#[derive(Debug)]
struct Child {
    start: usize,
    key: Option<String>,
    node: Node,
}

impl Document {
    /// Parses a text; a blank one is an empty object. A byte-order mark is kept.
    pub(super) fn parse(text: &str) -> Result<Self, serde_json::Error> {
        Self::new(text, false)
    }

    /// The same for a file that may hold comments and trailing commas.
    pub(super) fn parse_with_comments(text: &str) -> Result<Self, serde_json::Error> {
        Self::new(text, true)
    }

    fn new(text: &str, comments: bool) -> Result<Self, serde_json::Error> {
        let mark = if text.starts_with('\u{feff}') { "\u{feff}" } else { "" };
        let text =
            if text[mark.len()..].trim().is_empty() { format!("{mark}{{}}\n") } else { text.to_owned() };
        let plain = if comments { comments::blanked(&text) } else { text.clone() };
        let value = serde_json::from_str(&plain[mark.len()..])?;
        let mut document = Self { text, plain, comments, value, indent: String::from("  ") };
        if let Some(indent) = document.root().and_then(|root| document.child_indent(&root)) {
            document.indent = indent;
        }
        Ok(document)
    }

    pub(super) fn text(&self) -> &str {
        &self.text
    }

    pub(super) fn value(&self) -> &Value {
        &self.value
    }

    /// Puts `new` in the place of a value. `None` if there is no such place, here as below.
    pub(super) fn replace(&mut self, path: &[Step<'_>], new: &Value) -> Option<()> {
        let node = self.find(path)?;
        self.splice(node.start, node.end, &new.to_string())
    }

    /// Adds a member at the end of an object.
    pub(super) fn insert(&mut self, object: &[Step<'_>], key: &str, value: &Value) -> Option<()> {
        self.append(object, &format!("{}: ", Value::from(key)), value)
    }

    /// Adds an item at the end of an array.
    pub(super) fn push(&mut self, array: &[Step<'_>], value: &Value) -> Option<()> {
        self.append(array, "", value)
    }

    /// Removes a value, with its key and comma.
    pub(super) fn remove(&mut self, path: &[Step<'_>]) -> Option<()> {
        let (last, parent) = path.split_last()?;
        let parent = self.find(parent)?;
        let index = parent.position(last)?;
        if self.has_comments() {
            return self.cut_out(&parent, index);
        }
        let (start, end) = match (index, parent.children.get(index + 1)) {
            (0, None) => (parent.start + 1, parent.end - 1),
            (0, Some(next)) => (parent.children[0].start, next.start),
            _ => (parent.children[index - 1].node.end, parent.children[index].node.end),
        };
        self.splice(start, end, "")
    }

    /// Whether something stands in the text that is no part of the value.
    pub(super) fn has_comments(&self) -> bool {
        self.text != self.plain
    }

    /// Whether an object or an array has nothing between its brackets, not even a comment.
    pub(super) fn is_bare(&self, path: &[Step<'_>]) -> bool {
        let inner = self.find(path).and_then(|node| self.text.get(node.start + 1..node.end - 1));
        inner.is_some_and(|inner| inner.trim().is_empty())
    }

    /// Removes a child with one comma, but nothing of what is said before and behind it.
    fn cut_out(&mut self, parent: &Node, index: usize) -> Option<()> {
        let child = parent.children.get(index)?;
        let comma = match index.checked_sub(1).and_then(|before| parent.children.get(before)) {
            Some(before) => Some(comments::comma_after(&self.text, before.node.end)?),
            None => None,
        };
        let own = comments::comma_after(&self.text, child.node.end);
        let end = own.map_or(child.node.end, |own| own + 1);
        let before = comma.map_or(parent.start + 1, |comma| comma + 1);
        let gap = self.text.get(before..child.start)?;
        let start = match gap.rfind('\n') {
            // A line goes as a whole, unless more than a remark follows in it.
            Some(newline)
                if gap[newline..].trim().is_empty() && comments::is_rest_of_line(&self.text, end) =>
            {
                before + gap[..newline].trim_end_matches('\r').len()
            }
            None if comma.is_some() || !gap.trim().is_empty() => before + gap.trim_end().len(),
            _ => child.start,
        };
        let kept = match (own, comma) {
            (Some(own), _) => self.text.get(child.node.end..own)?.to_owned(),
            // The last one: the comma before it has nothing to divide any more.
            (None, Some(comma)) => {
                let kept = self.text.get(comma + 1..start)?.to_owned();
                return self.splice(comma, end, &kept);
            }
            (None, None) => String::new(),
        };
        let is_all = parent.children.len() == 1
            && [parent.start + 1..start, end..parent.end - 1]
                .into_iter()
                .all(|rest| self.text.get(rest).is_some_and(|rest| rest.trim().is_empty()));
        match is_all && kept.trim().is_empty() {
            true => self.splice(parent.start + 1, parent.end - 1, ""),
            false => self.splice(start, end, &kept),
        }
    }

    fn append(&mut self, container: &[Step<'_>], key: &str, value: &Value) -> Option<()> {
        let node = self.find(container)?;
        let newline = if self.text.contains("\r\n") { "\r\n" } else { "\n" };
        let outer = self.line_indent(node.start);
        let Some(last) = node.children.last() else {
            let is_root = container.is_empty();
            let said = self.text.get(node.start + 1..node.end - 1)?;
            if !said.trim().is_empty() {
                // Below the comments that stand there.
                let at = node.start + 1 + said.trim_end().len();
                if !said.contains('\n') {
                    return self.splice(at, at, &format!(" {key}{value}"));
                }
                let inner = format!("{outer}{}", self.indent);
                let text = self.pretty(value, newline, &inner)?;
                let text = format!("{newline}{inner}{key}{text}{newline}{outer}");
                return self.splice(at, node.end - 1, &text);
            }
            if !is_root && !self.text.trim_end().contains('\n') {
                return self.splice(node.start + 1, node.end - 1, &format!("{key}{value}"));
            }
            let inner = format!("{outer}{}", self.indent);
            let text = self.pretty(value, newline, &inner)?;
            let text = format!("{newline}{inner}{key}{text}{newline}{outer}");
            return self.splice(node.start + 1, node.end - 1, &text);
        };
        let end = last.node.end;
        let Some(inner) = self.child_indent(&node) else {
            return self.splice(end, end, &format!(", {key}{value}"));
        };
        let text = format!("{newline}{inner}{key}{}", self.pretty(value, newline, &inner)?);
        // What is said of the last one, in its line, stays with it.
        match comments::comma_after(&self.text, end).filter(|_| self.comments) {
            Some(comma) => {
                let at = comments::line_end(&self.text, comma + 1);
                self.splice(at, at, &format!("{text},"))
            }
            None => {
                let at = if self.comments { comments::line_end(&self.text, end) } else { end };
                let said = self.text.get(end..at)?.to_owned();
                self.splice(end, at, &format!(",{said}{text}"))
            }
        }
    }

    /// The text must be JSON again after every change.
    fn splice(&mut self, start: usize, end: usize, new: &str) -> Option<()> {
        let text = format!("{}{new}{}", self.text.get(..start)?, self.text.get(end..)?);
        let plain = if self.comments { comments::blanked(&text) } else { text.clone() };
        self.value = serde_json::from_str(plain.trim_start_matches('\u{feff}')).ok()?;
        (self.text, self.plain) = (text, plain);
        Some(())
    }

    fn pretty(&self, value: &Value, newline: &str, indent: &str) -> Option<String> {
        let mut bytes = Vec::new();
        let formatter = PrettyFormatter::with_indent(self.indent.as_bytes());
        value.serialize(&mut Serializer::with_formatter(&mut bytes, formatter)).ok()?;
        Some(String::from_utf8(bytes).ok()?.replace('\n', &format!("{newline}{indent}")))
    }

    fn root(&self) -> Option<Node> {
        let start = self.text.len() - self.text.trim_start_matches('\u{feff}').len();
        Scanner { text: &self.plain, at: start }.value()
    }

    fn find(&self, path: &[Step<'_>]) -> Option<Node> {
        path.iter().try_fold(self.root()?, |mut node, step| {
            let index = node.position(step)?;
            Some(node.children.swap_remove(index).node)
        })
    }

    /// The white space before the last child, if that begins a line.
    fn child_indent(&self, node: &Node) -> Option<String> {
        let (last, earlier) = node.children.split_last()?;
        let start = earlier.last().map_or(node.start + 1, |child| child.node.end);
        let (_, indent) = self.text[start..last.start].rsplit_once('\n')?;
        indent.trim().is_empty().then(|| indent.to_owned())
    }

    /// The white space at the beginning of the line that holds `at`.
    fn line_indent(&self, at: usize) -> String {
        let line = self.text[..at].rsplit('\n').next().unwrap_or_default().trim_start_matches('\u{feff}');
        line.chars().take_while(|letter| matches!(letter, ' ' | '\t')).collect()
    }
}

impl Node {
    fn position(&self, step: &Step<'_>) -> Option<usize> {
        match step {
            Step::Index(index) => (*index < self.children.len()).then_some(*index),
            Step::Key(key) => self.children.iter().rposition(|child| child.key.as_deref() == Some(*key)),
        }
    }
}

/// Finds places in a text that is known to be valid JSON.
struct Scanner<'a> {
    text: &'a str,
    at: usize,
}

impl Scanner<'_> {
    fn value(&mut self) -> Option<Node> {
        let start = self.skip_space()?;
        let mut children = Vec::new();
        match self.byte()? {
            open @ (b'{' | b'[') => {
                self.at += 1;
                while !matches!(self.peek_token()?, b'}' | b']') {
                    children.push(self.child(open == b'{')?);
                    if self.peek_token()? == b',' {
                        self.at += 1;
                    }
                }
                self.at += 1;
            }
            b'"' => self.string()?,
            _ => {
                let rest = &self.text[start..];
                self.at += rest.find([',', '}', ']', ' ', '\t', '\r', '\n']).unwrap_or(rest.len());
            }
        }
        Some(Node { start, end: self.at, children })
    }

    fn child(&mut self, has_key: bool) -> Option<Child> {
        let start = self.skip_space()?;
        let key = if has_key {
            self.string()?;
            let key = serde_json::from_str(&self.text[start..self.at]).ok()?;
            self.skip_space()?;
            self.at += 1; // The colon.
            Some(key)
        } else {
            None
        };
        Some(Child { start, key, node: self.value()? })
    }

    fn string(&mut self) -> Option<()> {
        self.at += 1;
        loop {
            match self.byte()? {
                b'"' => break,
                b'\\' => self.at += 2,
                _ => self.at += 1,
            }
        }
        self.at += 1;
        Some(())
    }

    fn peek_token(&mut self) -> Option<u8> {
        self.skip_space()?;
        self.byte()
    }

    fn skip_space(&mut self) -> Option<usize> {
        while matches!(self.byte()?, b' ' | b'\t' | b'\r' | b'\n') {
            self.at += 1;
        }
        Some(self.at)
    }

    fn byte(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::Step::{Index, Key};
    use super::*;

    fn edited(text: &str, edit: impl Fn(&mut Document) -> Option<()>) -> String {
        let mut document = Document::parse(text).unwrap();
        edit(&mut document).unwrap();
        document.text
    }

    #[test]
    fn additions_follow_the_layout_around_them() {
        let add = |text: &str| edited(text, |document| document.insert(&[], "h", &json!({"a": [1]})));
        assert_eq!(
            add("{\n  \"x\": 1\n}\n"),
            "{\n  \"x\": 1,\n  \"h\": {\n    \"a\": [\n      1\n    ]\n  }\n}\n"
        );
        assert_eq!(
            add("{\n\t\"x\": 1\n}"),
            "{\n\t\"x\": 1,\n\t\"h\": {\n\t\t\"a\": [\n\t\t\t1\n\t\t]\n\t}\n}"
        );
        assert_eq!(add("{\"x\":1}"), "{\"x\":1, \"h\": {\"a\":[1]}}");
        assert_eq!(
            add("{\r\n  \"x\": 1\r\n}"),
            "{\r\n  \"x\": 1,\r\n  \"h\": {\r\n    \"a\": [\r\n      1\r\n    ]\r\n  }\r\n}"
        );
        let fresh = "{\n  \"h\": {\n    \"a\": [\n      1\n    ]\n  }\n}\n";
        for empty in ["", " \n", "{}\n"] {
            assert_eq!(add(empty), fresh);
        }
        assert_eq!(add("\u{feff}{}\n"), format!("\u{feff}{fresh}"));
    }

    #[test]
    fn what_is_not_touched_keeps_its_bytes() {
        let text = "{ \"n\" : 1.50e+3,\n    \"list\": [\"a\",  \"b\"], \"q\\\"}\": \"}]\\\\\",\n    \"in\": {\"e\": []}\n}";
        let out = edited(text, |document| document.push(&[Key("in"), Key("e")], &json!("x")));
        assert_eq!(out, text.replace("[]", "[\n        \"x\"\n    ]"));
        let out = edited(text, |document| document.replace(&[Key("list"), Index(1)], &json!("c")));
        assert_eq!(out, text.replace("\"b\"", "\"c\""));
    }

    #[test]
    fn removals_take_one_comma_with_them() {
        let text = "{\n  \"a\": 1,\n  \"b\": [1, 2, 3],\n  \"c\": 3\n}";
        let remove = |path: &[Step<'_>]| edited(text, |document| document.remove(path));
        assert_eq!(remove(&[Key("a")]), "{\n  \"b\": [1, 2, 3],\n  \"c\": 3\n}");
        assert_eq!(remove(&[Key("b")]), "{\n  \"a\": 1,\n  \"c\": 3\n}");
        assert_eq!(remove(&[Key("c")]), "{\n  \"a\": 1,\n  \"b\": [1, 2, 3]\n}");
        assert_eq!(remove(&[Key("b"), Index(0)]), text.replace("1, 2", "2"));
        assert_eq!(edited("[ 1 ]", |document| document.remove(&[Index(0)])), "[]");
    }

    #[test]
    fn places_that_are_not_there() {
        let mut document = Document::parse("{\"a\": [1]}").unwrap();
        assert!(document.remove(&[Key("x")]).is_none());
        assert!(document.replace(&[Key("a"), Index(1)], &json!(1)).is_none());
        assert!(document.remove(&[]).is_none());
        assert_eq!(document.text, "{\"a\": [1]}");
        let position = Document::parse("{\n  // no\n}").unwrap_err();
        assert_eq!((position.line(), position.column()), (2, 3));
    }

    #[test]
    fn what_is_said_between_values_stays_where_it_is() {
        let value = json!({"a": 1});
        for text in [
            "{\n  // one\n  /* two */\n}\n",
            "{\r\n  // one\r\n}\r\n",
            "{ /* one */ }",
            "{/* one */}",
            "{\n  \"x\": 1 // one\n}",
            "{\n  \"x\": 1, // one\n  // two\n}",
            "{\n  \"x\": 1 // one\n  , // two\n}",
            "{\n  \"x\": 1, /* one\n  two */ // three\n  // four\n}",
            "{\r\n  \"x\": 1, // one\r\n}\r\n",
            "{ \"x\": 1, // one\n}",
            "{ \"x\": 1 } // one",
            "{\n  \"x\": [ 1, ],\n}",
        ] {
            let mut document = Document::parse_with_comments(text).unwrap();
            document.insert(&[], "new", &value).unwrap();
            assert_eq!(document.value()["new"], value, "{}", document.text);
            for comment in ["// one\n", "// one\r\n", "/* one */", "// two\n"] {
                assert_eq!(text.contains(comment), document.text.contains(comment), "{}", document.text);
            }
            document.remove(&[Key("new")]).unwrap();
            assert_eq!(document.text, text);
        }
        let add = |text: &str| {
            let mut document = Document::parse_with_comments(text).unwrap();
            document.insert(&[], "n", &json!(1)).unwrap();
            document.text
        };
        assert_eq!(add("{\n  \"x\": 1 // one\n}"), "{\n  \"x\": 1, // one\n  \"n\": 1\n}");
        assert_eq!(add("{\n  \"x\": 1, // one\n}"), "{\n  \"x\": 1, // one\n  \"n\": 1,\n}");
        assert_eq!(add("{\n  // one\n}"), "{\n  // one\n  \"n\": 1\n}");
    }

    #[test]
    fn a_removed_value_takes_no_remark_with_it() {
        for (text, key, left) in [
            ("{\n  \"a\": 1,\n  // of b\n  \"b\": 2\n}", "a", "{\n  // of b\n  \"b\": 2\n}"),
            ("{\n  // of a\n  \"a\": 1, // here\n  \"b\": 2\n}", "a", "{\n  // of a // here\n  \"b\": 2\n}"),
            (
                "{\n  \"a\": 1, // of a\n  \"b\": 2, // of b\n  \"c\": 3\n}",
                "b",
                "{\n  \"a\": 1, // of a // of b\n  \"c\": 3\n}",
            ),
            ("{\n  \"a\": 1, // of a\n  \"b\": 2 // of b\n}", "b", "{\n  \"a\": 1 // of a // of b\n}"),
            ("{ /* one */ \"a\": 1, /* two */ \"b\": 2 }", "a", "{ /* one */ /* two */ \"b\": 2 }"),
            ("{\n  \"a\": 1, // of a\n}", "a", "{ // of a\n}"),
            ("{ \"a\": 1, }", "a", "{}"),
            ("{\n  // of a\n  \"a\": 1, \"b\": 2\n}", "a", "{\n  // of a\n   \"b\": 2\n}"),
            ("{\n  // of a\n  \"a\": 1 }", "a", "{\n  // of a\n   }"),
            ("{\n  \"b\": 2, // of b\n  \"a\": 1 }", "a", "{\n  \"b\": 2 // of b\n   }"),
        ] {
            let mut document = Document::parse_with_comments(text).unwrap();
            document.remove(&[Key(key)]).unwrap();
            assert_eq!(document.text, left);
        }
    }

    fn any_object() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i32>().prop_map(Value::from),
            "[ -~\\n]{0,8}".prop_map(Value::from),
        ];
        let value = leaf.prop_recursive(3, 20, 4, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
                prop::collection::btree_map("[a-d\"\\\\]{1,3}", inner, 0..4)
                    .prop_map(|map| Value::Object(map.into_iter().collect())),
            ]
        });
        prop::collection::btree_map("[a-d\"]{1,3}", value, 0..5)
            .prop_map(|map| Value::Object(map.into_iter().collect()))
    }

    proptest! {
        #[test]
        fn adding_and_removing_again_gives_the_same_text(object in any_object(), pretty in any::<bool>()) {
            let text = if pretty { serde_json::to_string_pretty(&object).unwrap() } else { object.to_string() };
            let mut document = Document::parse(&text).unwrap();
            document.insert(&[], "new key", &json!({"x": [1, {}]})).unwrap();
            let mut expected = object.clone();
            expected["new key"] = json!({"x": [1, {}]});
            prop_assert_eq!(document.value(), &expected);
            document.remove(&[Key("new key")]).unwrap();
            prop_assert_eq!(document.text(), text);
        }

        #[test]
        fn comments_do_not_change_that(object in any_object(), said in prop::collection::vec(0..4, 1..30), crlf in any::<bool>()) {
            let end = if crlf { "\r\n" } else { "\n" };
            let plain = serde_json::to_string_pretty(&object).unwrap();
            let lines = plain.lines().zip(said.iter().cycle()).map(|(line, said)| match said {
                1 => format!("{line} // c"),
                2 => format!("{line} /* c */{end}  // d"),
                3 => format!("{line}{end}{end}  /* c{end} */"),
                _ => line.to_owned(),
            });
            let text = lines.collect::<Vec<_>>().join(end);
            let mut document = Document::parse_with_comments(&text).unwrap();
            document.insert(&[], "new key", &json!({"x": [1, {}]})).unwrap();
            let mut expected = object.clone();
            expected["new key"] = json!({"x": [1, {}]});
            prop_assert_eq!(document.value(), &expected);
            prop_assert_eq!(document.text().matches(" c").count(), text.matches(" c").count());
            document.remove(&[Key("new key")]).unwrap();
            prop_assert_eq!(document.text(), text.as_str());
            for key in object.as_object().unwrap().keys() {
                let mut document = Document::parse_with_comments(&text).unwrap();
                document.remove(&[Key(key)]).unwrap();
                let mut expected = object.clone();
                expected.as_object_mut().unwrap().shift_remove(key);
                prop_assert_eq!(document.value(), &expected);
            }
        }

        #[test]
        fn removing_any_member_leaves_the_others(object in any_object(), pretty in any::<bool>()) {
            let text = if pretty { serde_json::to_string_pretty(&object).unwrap() } else { object.to_string() };
            for key in object.as_object().unwrap().keys() {
                let mut document = Document::parse(&text).unwrap();
                document.remove(&[Key(key)]).unwrap();
                let mut expected = object.clone();
                expected.as_object_mut().unwrap().shift_remove(key);
                prop_assert_eq!(document.value(), &expected);
            }
        }
    }
}
