//! SQL, JSON, YAML, TOML. Keys only: a value is for whoever reads the file.

use super::rules::{NONE, Name, Rules, leaf, open};

const OBJECT: Name = Name::First(&["object_reference"]);

pub(super) const SQL: Rules = Rules {
    items: &[
        leaf("create_table", "table").named(OBJECT),
        leaf("create_view", "view").named(OBJECT),
        leaf("create_materialized_view", "view").named(OBJECT),
        leaf("create_index", "index").named(Name::Field("column")),
        leaf("create_function", "function").named(OBJECT),
        leaf("create_procedure", "procedure").named(OBJECT),
        leaf("create_trigger", "trigger").named(OBJECT),
        leaf("create_type", "type").named(OBJECT),
        leaf("create_sequence", "sequence").named(OBJECT),
        leaf("create_schema", "schema").named(Name::First(&["identifier"])),
        leaf("create_database", "database").named(Name::First(&["identifier"])),
        leaf("create_role", "role").named(Name::First(&["identifier"])),
        leaf("alter_table", "alter").named(OBJECT),
    ],
    through: &["statement", "transaction", "block"],
    wrappers: &["statement"],
    attached: &["comment", "marginalia"],
    cuts: &["column_definitions", "keyword_as", "create_query", "function_body", "enum_elements"],
    ..NONE
};

pub(super) const JSON: Rules = Rules {
    items: &[open("pair", "key").named(Name::Field("key"))],
    through: &["object"],
    cuts: &["value", ":"],
    deepest: 3,
    ..NONE
};

pub(super) const YAML: Rules = Rules {
    items: &[
        open("block_mapping_pair", "key").named(Name::Field("key")),
        open("flow_pair", "key").named(Name::Field("key")),
    ],
    through: &["document", "block_node", "block_mapping", "flow_node", "flow_mapping"],
    cuts: &["value", ":"],
    deepest: 3,
    ..NONE
};

const KEYS: &[&str] = &["bare_key", "dotted_key", "quoted_key"];

pub(super) const TOML: Rules = Rules {
    items: &[
        open("table", "table").named(Name::First(KEYS)),
        open("table_array_element", "table").named(Name::First(KEYS)),
        leaf("pair", "key").named(Name::First(KEYS)),
    ],
    cuts: &["=", "pair", "comment"],
    ..NONE
};
