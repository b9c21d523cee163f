//! Python, Ruby, PHP, Bash, Lua.

use super::rules::{NONE, Name, Rules, When, leaf, open};

pub(super) const PYTHON: Rules = Rules {
    items: &[
        open("class_definition", "class"),
        leaf("function_definition", "def"),
        leaf("assignment", "var").named(Name::Of("left", &["identifier"])).when(When::Top),
        leaf("type_alias_statement", "type").named(Name::Field("left")),
    ],
    through: &[
        "block",
        "decorated_definition",
        "expression_statement",
        "if_statement",
        "elif_clause",
        "else_clause",
        "try_statement",
        "except_clause",
        "finally_clause",
        "with_statement",
    ],
    wrappers: &["decorated_definition", "expression_statement"],
    attached: &["comment", "decorator"],
    cuts: &["body", "right"],
    ..NONE
};

pub(super) const RUBY: Rules = Rules {
    items: &[
        open("module", "module"),
        open("class", "class"),
        leaf("method", "def"),
        leaf("singleton_method", "def"),
        leaf("assignment", "const").named(Name::Of("left", &["constant"])),
        open("call", "test")
            .named(Name::Call(&["describe", "context", "it", "specify", "feature", "scenario"])),
    ],
    // A call: `private def`, `included do`.
    through: &[
        "body_statement",
        "singleton_class",
        "call",
        "argument_list",
        "do_block",
        "block",
        "block_body",
        "program",
    ],
    wrappers: &["call", "argument_list"],
    cuts: &["body", "right", "end"],
    separators: &[':'],
    ..NONE
};

pub(super) const PHP: Rules = Rules {
    items: &[
        open("namespace_definition", "namespace"),
        open("class_declaration", "class"),
        open("interface_declaration", "interface"),
        open("trait_declaration", "trait"),
        open("enum_declaration", "enum"),
        leaf("function_definition", "function"),
        leaf("method_declaration", "function"),
        leaf("const_element", "const").named(Name::First(&["name"])),
    ],
    through: &[
        "declaration_list",
        "enum_declaration_list",
        "compound_statement",
        "if_statement",
        "const_declaration",
    ],
    wrappers: &["const_declaration"],
    attached: &["comment", "attribute_list"],
    cuts: &["body", "="],
    ..NONE
};

pub(super) const BASH: Rules = Rules {
    items: &[leaf("function_definition", "function"), leaf("variable_assignment", "var").when(When::Top)],
    through: &["declaration_command", "if_statement", "else_clause", "elif_clause", "compound_statement"],
    wrappers: &["declaration_command"],
    ..NONE
};

pub(super) const LUA: Rules = Rules {
    items: &[
        leaf("function_declaration", "function"),
        leaf("assignment_statement", "function").named(Name::First(LUA_NAMES)).when(When::Function),
        open("assignment_statement", "var").named(Name::First(LUA_NAMES)).when(When::Top),
        leaf("field", "function").when(When::Function),
    ],
    through: &["variable_declaration", "expression_list", "table_constructor", "return_statement"],
    wrappers: &["variable_declaration"],
    cuts: &["body", "=", "end"],
    functions: &["function_definition"],
    separators: &['.', ':'],
    ..NONE
};

const LUA_NAMES: &[&str] = &["identifier", "dot_index_expression", "bracket_index_expression"];
