//! JavaScript and TypeScript, HTML, CSS.

use super::rules::{NONE, Name, Rules, When, leaf, open};

const TESTS: &[&str] = &["describe", "context", "suite", "it", "test"];

pub(super) const SCRIPT: Rules = Rules {
    items: &[
        leaf("function_declaration", "function"),
        leaf("generator_function_declaration", "function"),
        leaf("function_signature", "function"),
        open("class_declaration", "class"),
        open("abstract_class_declaration", "class"),
        // As a value: it goes by what it is assigned to where it lies in that, or has no name of its own.
        open("class", "class").when(When::Top),
        open("interface_declaration", "interface"),
        leaf("enum_declaration", "enum"),
        leaf("type_alias_declaration", "type"),
        open("module", "namespace"),
        open("internal_module", "namespace"),
        leaf("method_definition", "method"),
        leaf("method_signature", "method"),
        leaf("abstract_method_signature", "method"),
        leaf("construct_signature", "method").named(Name::Fixed("new")),
        leaf("public_field_definition", "method").when(When::Function),
        leaf("field_definition", "method").named(Name::Field("property")).when(When::Function),
        leaf("variable_declarator", "function").named(Name::Of("name", &["identifier"])).when(When::Function),
        open("variable_declarator", "class")
            .named(Name::Of("name", &["identifier"]))
            .when(When::Has("class")),
        open("variable_declarator", "const").named(Name::Of("name", &["identifier"])).when(When::Top),
        leaf("assignment_expression", "function")
            .named(Name::Of("left", &["identifier", "member_expression"]))
            .when(When::Function),
        open("assignment_expression", "class")
            .named(Name::Of("left", &["identifier", "member_expression"]))
            .when(When::Nameless("class")),
        leaf("pair", "function").named(Name::Field("key")).when(When::Function),
        open("pair", "class").named(Name::Field("key")).when(When::Has("class")),
        leaf("export_statement", "function").named(Name::Fixed("default")).when(When::Function),
        open("export_statement", "class").named(Name::Fixed("default")).when(When::Nameless("class")),
        open("call_expression", "test").named(Name::Call(TESTS)),
    ],
    through: &[
        "class",
        "class_body",
        "interface_body",
        "object_type",
        "export_statement",
        "ambient_declaration",
        "lexical_declaration",
        "variable_declaration",
        "variable_declarator",
        "expression_statement",
        "assignment_expression",
        "call_expression",
        "parenthesized_expression",
        "as_expression",
        "satisfies_expression",
        "unary_expression",
        "arguments",
        "function_expression",
        "arrow_function",
        "statement_block",
        "if_statement",
        "else_clause",
        "object",
        "pair",
    ],
    blocks: &["statement_block"],
    wrappers: &[
        "export_statement",
        "ambient_declaration",
        "lexical_declaration",
        "variable_declaration",
        "expression_statement",
    ],
    attached: &["comment", "decorator"],
    cuts: &["body", "value", "right"],
    functions: &["arrow_function", "function_expression", "generator_function"],
    types: &["class"],
    separators: &['.'],
    ..NONE
};

pub(super) const HTML: Rules = Rules {
    items: &[
        open("element", "element").named(Name::Element),
        leaf("script_element", "element").named(Name::Element),
        leaf("style_element", "element").named(Name::Element),
    ],
    through: &["element"],
    ..NONE
};

pub(super) const CSS: Rules = Rules {
    items: &[
        open("rule_set", "rule").named(Name::Signature),
        open("media_statement", "at-rule").named(Name::Signature),
        open("supports_statement", "at-rule").named(Name::Signature),
        leaf("keyframes_statement", "at-rule").named(Name::Signature),
        open("at_rule", "at-rule").named(Name::Signature),
        leaf("import_statement", "at-rule").named(Name::Signature),
    ],
    through: &["block"],
    attached: &["comment", "js_comment"],
    cuts: &["block", "keyframe_block_list"],
    ..NONE
};
