//! What is to be known of a grammar so that items can be listed: names of its nodes and fields.

/// Rules of one language.
#[derive(Debug)]
pub(super) struct Rules {
    /// What is an item. The first rule for a node that holds is used.
    pub items: &'static [Rule],
    /// What is no item and may hold some.
    pub through: &'static [&'static str],
    /// What holds the code of a function: what it defines is not seen from outside.
    pub blocks: &'static [&'static str],
    /// What stands around one item and belongs to it (`export`, decorators, `template <...>`).
    pub wrappers: &'static [&'static str],
    /// What stands above an item and belongs to it, or inside of its signature and does not: comments, attributes.
    pub attached: &'static [&'static str],
    /// Fields and nodes of an item at which its signature ends.
    pub cuts: &'static [&'static str],
    /// Nodes of an item in which such an end may lie.
    pub cuts_in: &'static [&'static str],
    /// Nodes that are functions: as values they make an item of what they are assigned to.
    pub functions: &'static [&'static str],
    /// Nodes that are types: as values they are shown up to their bodies.
    pub types: &'static [&'static str],
    /// What separates the parts of a name (`Type::method`).
    pub separators: &'static [char],
    /// How many items may lie in each other.
    pub deepest: usize,
}

/// No language; what one does not say of itself.
pub(super) const NONE: Rules = Rules {
    items: &[],
    through: &[],
    blocks: &[],
    wrappers: &[],
    attached: &["comment"],
    cuts: &["body", "value"],
    cuts_in: &[],
    functions: &[],
    types: &[],
    separators: &[],
    deepest: 20,
};

/// What makes an item.
#[derive(Debug)]
pub(super) struct Rule {
    pub node: &'static str,
    /// What it is called.
    pub kind: &'static str,
    /// What it is called instead if it has such a child.
    pub kinds: &'static [&'static str],
    pub name: Name,
    pub when: When,
    /// Whether it may hold items.
    pub is_open: bool,
    /// The signature ends before this text at the latest.
    pub until: &'static str,
}

/// Where the name stands.
#[derive(Debug)]
pub(super) enum Name {
    /// In a field.
    Field(&'static str),
    /// In a field, if it is such a node; otherwise there is none.
    Of(&'static str, &'static [&'static str]),
    /// In the first such node among the children and theirs.
    First(&'static [&'static str]),
    /// At the end of the declarators of C.
    Declarator,
    /// In a field, and the type that it belongs to is in another.
    Owned(&'static str, &'static str),
    /// In the first string among the arguments of a call of one of these functions.
    Call(&'static [&'static str]),
    /// It is always the same.
    Fixed(&'static str),
    /// It is the signature.
    Signature,
    /// An element of HTML: what it is called, or what it is.
    Element,
}

/// Under which condition.
#[derive(Debug, Clone, Copy)]
pub(super) enum When {
    Always,
    /// It lies in no other item and in no block.
    Top,
    /// It is or holds a function.
    Function,
    /// It lies in no other item, or has such a child.
    TopOr(&'static str),
    /// It has such a child.
    Has(&'static str),
    /// It has such a child, and that has no name.
    Nameless(&'static str),
    /// Its declarator is that of a function.
    Callable,
}

/// An item that holds no others.
pub(super) const fn leaf(node: &'static str, kind: &'static str) -> Rule {
    let name = Name::Field("name");
    Rule { node, kind, kinds: &[], name, when: When::Always, is_open: false, until: "" }
}

/// An item that may hold others.
pub(super) const fn open(node: &'static str, kind: &'static str) -> Rule {
    Rule { is_open: true, ..leaf(node, kind) }
}

impl Rule {
    pub(super) const fn named(self, name: Name) -> Self {
        Self { name, ..self }
    }

    pub(super) const fn when(self, when: When) -> Self {
        Self { when, ..self }
    }

    pub(super) const fn or(self, kinds: &'static [&'static str]) -> Self {
        Self { kinds, ..self }
    }

    pub(super) const fn until(self, until: &'static str) -> Self {
        Self { until, ..self }
    }
}
