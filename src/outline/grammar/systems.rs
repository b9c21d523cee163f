//! Rust, Go, C, C++, Swift.

use super::rules::{NONE, Name, Rules, When, leaf, open};

pub(super) const RUST: Rules = Rules {
    items: &[
        leaf("function_item", "fn"),
        leaf("function_signature_item", "fn"),
        leaf("struct_item", "struct"),
        leaf("enum_item", "enum"),
        leaf("union_item", "union"),
        open("trait_item", "trait"),
        open("impl_item", "impl").named(Name::Field("type")),
        open("mod_item", "mod"),
        leaf("const_item", "const"),
        leaf("static_item", "static"),
        leaf("type_item", "type"),
        leaf("associated_type", "type"),
        leaf("macro_definition", "macro").until("{"),
    ],
    through: &["declaration_list", "foreign_mod_item"],
    attached: &["line_comment", "block_comment", "attribute_item"],
    separators: &[':'],
    ..NONE
};

pub(super) const GO: Rules = Rules {
    items: &[
        leaf("function_declaration", "func"),
        leaf("method_declaration", "method").named(Name::Owned("name", "receiver")),
        open("type_spec", "type").until("{"),
        leaf("type_alias", "type"),
        leaf("method_elem", "method"),
        leaf("const_spec", "const"),
        leaf("var_spec", "var"),
    ],
    through: &["interface_type", "type_declaration", "const_declaration", "var_declaration", "var_spec_list"],
    wrappers: &["type_declaration", "const_declaration", "var_declaration"],
    ..NONE
};

const C_ATTACHED: &[&str] = &["comment", "attribute_declaration"];

pub(super) const C: Rules = Rules {
    items: &[
        leaf("function_definition", "fn").named(Name::Declarator),
        leaf("declaration", "fn").named(Name::Declarator).when(When::Callable),
        leaf("declaration", "var").named(Name::Declarator).when(When::Top),
        leaf("type_definition", "typedef").named(Name::Declarator),
        leaf("struct_specifier", "struct").when(When::Has("body")),
        leaf("union_specifier", "union").when(When::Has("body")),
        leaf("enum_specifier", "enum").when(When::Has("body")),
        leaf("preproc_def", "macro"),
        leaf("preproc_function_def", "macro"),
    ],
    through: &[
        "preproc_ifdef",
        "preproc_if",
        "preproc_else",
        "preproc_elif",
        "preproc_elifdef",
        "linkage_specification",
        "declaration_list",
    ],
    attached: C_ATTACHED,
    cuts_in: &["init_declarator"],
    ..NONE
};

pub(super) const CPP: Rules = Rules {
    items: &[
        leaf("function_definition", "fn").named(Name::Declarator),
        leaf("declaration", "fn").named(Name::Declarator).when(When::Callable),
        leaf("field_declaration", "fn").named(Name::Declarator).when(When::Callable),
        open("class_specifier", "class").when(When::Has("body")),
        open("struct_specifier", "struct").when(When::Has("body")),
        leaf("union_specifier", "union").when(When::Has("body")),
        leaf("enum_specifier", "enum").when(When::Has("body")),
        open("namespace_definition", "namespace"),
        open("namespace_definition", "namespace").named(Name::Fixed("(anonymous)")),
        leaf("declaration", "var").named(Name::Declarator).when(When::Top),
        leaf("type_definition", "typedef").named(Name::Declarator),
        leaf("alias_declaration", "using"),
        leaf("concept_definition", "concept").until("="),
        leaf("preproc_def", "macro"),
        leaf("preproc_function_def", "macro"),
    ],
    through: &[
        "preproc_ifdef",
        "preproc_if",
        "preproc_else",
        "preproc_elif",
        "preproc_elifdef",
        "linkage_specification",
        "declaration_list",
        "field_declaration_list",
        "field_declaration",
        "declaration",
        "template_declaration",
    ],
    wrappers: &["template_declaration"],
    attached: C_ATTACHED,
    cuts: &["body", "value", "field_initializer_list", "default_value"],
    cuts_in: &["init_declarator"],
    separators: &[':'],
    ..NONE
};

pub(super) const SWIFT: Rules = Rules {
    items: &[
        open("class_declaration", "class").or(&["struct", "enum", "extension", "actor"]),
        open("protocol_declaration", "protocol"),
        leaf("function_declaration", "func"),
        leaf("protocol_function_declaration", "func"),
        leaf("init_declaration", "init").named(Name::Fixed("init")),
        leaf("deinit_declaration", "deinit").named(Name::Fixed("deinit")),
        leaf("subscript_declaration", "subscript").named(Name::Fixed("subscript")),
        leaf("property_declaration", "var").when(When::TopOr("computed_value")),
        leaf("protocol_property_declaration", "var").named(Name::First(&["simple_identifier"])),
        leaf("typealias_declaration", "typealias"),
        leaf("associatedtype_declaration", "associatedtype"),
        leaf("macro_declaration", "macro").named(Name::First(&["simple_identifier"])),
    ],
    through: &["class_body", "protocol_body", "enum_class_body"],
    attached: &["comment", "multiline_comment", "attribute"],
    cuts: &["body", "value", "computed_value", "computed_property"],
    ..NONE
};
