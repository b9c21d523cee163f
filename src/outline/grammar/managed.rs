//! Java, Kotlin, Scala, C#.

use super::rules::{NONE, Name, Rules, When, leaf, open};

pub(super) const JAVA: Rules = Rules {
    items: &[
        open("class_declaration", "class"),
        open("interface_declaration", "interface"),
        open("enum_declaration", "enum"),
        open("record_declaration", "record"),
        open("annotation_type_declaration", "annotation"),
        leaf("method_declaration", "method"),
        leaf("constructor_declaration", "constructor"),
        leaf("compact_constructor_declaration", "constructor"),
    ],
    through: &["class_body", "interface_body", "enum_body", "enum_body_declarations", "annotation_type_body"],
    attached: &["line_comment", "block_comment", "marker_annotation", "annotation"],
    ..NONE
};

pub(super) const KOTLIN: Rules = Rules {
    items: &[
        open("class_declaration", "class").or(&["interface"]),
        open("object_declaration", "object"),
        open("companion_object", "companion"),
        open("companion_object", "companion").named(Name::Fixed("companion")),
        leaf("function_declaration", "fun"),
        leaf("secondary_constructor", "constructor").named(Name::Fixed("constructor")),
        leaf("property_declaration", "val").named(Name::First(&["identifier"])).when(When::TopOr("getter")),
        leaf("type_alias", "typealias").named(Name::Field("type")),
    ],
    through: &["class_body", "enum_class_body"],
    attached: &["line_comment", "block_comment", "annotation"],
    cuts: &[
        "class_body",
        "enum_class_body",
        "function_body",
        "block",
        "getter",
        "=",
        "constructor_delegation_call",
    ],
    ..NONE
};

pub(super) const SCALA: Rules = Rules {
    items: &[
        open("class_definition", "class"),
        open("object_definition", "object"),
        open("package_object", "object"),
        open("trait_definition", "trait"),
        open("enum_definition", "enum"),
        open("given_definition", "given"),
        open("given_definition", "given").named(Name::Fixed("given")),
        open("extension_definition", "extension").named(Name::Signature),
        leaf("function_definition", "def"),
        leaf("function_declaration", "def"),
        leaf("type_definition", "type"),
        leaf("val_definition", "val").named(Name::Field("pattern")).when(When::Top),
    ],
    through: &["package_clause", "template_body", "enum_body", "with_template_body"],
    attached: &["comment", "block_comment", "annotation"],
    ..NONE
};

pub(super) const CSHARP: Rules = Rules {
    items: &[
        open("namespace_declaration", "namespace"),
        open("file_scoped_namespace_declaration", "namespace"),
        open("class_declaration", "class"),
        open("struct_declaration", "struct"),
        open("record_declaration", "record"),
        open("interface_declaration", "interface"),
        leaf("enum_declaration", "enum"),
        leaf("delegate_declaration", "delegate"),
        leaf("method_declaration", "method"),
        leaf("constructor_declaration", "constructor"),
        leaf("destructor_declaration", "destructor").named(Name::Fixed("finalizer")),
        leaf("property_declaration", "property"),
        leaf("indexer_declaration", "indexer").named(Name::Fixed("this")),
        leaf("operator_declaration", "operator").named(Name::Field("operator")),
        leaf("local_function_statement", "method").when(When::Top),
    ],
    through: &["declaration_list", "global_statement"],
    attached: &["comment", "attribute_list"],
    cuts: &["body", "value", "accessors", "constructor_initializer"],
    ..NONE
};
