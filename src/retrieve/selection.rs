//! Everything that meets a filter, in the order of uids: the same for the same memory, wherever it lies.

use rusqlite::params_from_iter;
use rusqlite::types::Value;

use super::conditions::{Condition, Table, condition, tables};
use super::{Filter, RecordKind, Scope};
use crate::model::Status;
use crate::store::{Store, StoreError};

/// A filter, and the states that an observation may be in.
#[derive(Debug, Clone)]
pub struct Selection {
    /// What is asked for.
    pub filter: Filter,
    /// Any of these; empty = all. Only observations have a state: other records pass.
    pub statuses: Vec<Status>,
}

impl Selection {
    /// Whether it asks for nothing but a scope.
    pub fn is_whole(&self) -> bool {
        self.filter.is_scope_only() && self.filter.kinds.is_empty() && self.statuses.is_empty()
    }

    /// Row ids of one kind.
    ///
    /// # Errors
    /// [`StoreError::Sql`].
    pub fn rows(&self, store: &Store, kind: RecordKind) -> Result<Vec<i64>, StoreError> {
        let Some(table) = self.tables().find(|table| table.kind == kind) else { return Ok(Vec::new()) };
        let (name, alias, condition) = (table.name, table.alias, self.condition(table));
        let sql =
            format!("SELECT {alias}.id FROM {name} {alias} WHERE 1 {} ORDER BY {alias}.uid", condition.sql);
        let mut statement = store.conn().prepare(&sql)?;
        let rows = statement.query_map(params_from_iter(condition.values), |row| row.get(0))?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// The projects that the rows name, and the main checkouts of those.
    ///
    /// # Errors
    /// [`StoreError::Sql`].
    pub fn projects(&self, store: &Store) -> Result<Vec<i64>, StoreError> {
        if self.is_whole() && matches!(self.filter.scope, Scope::All) {
            let mut statement = store.conn().prepare("SELECT id FROM projects ORDER BY id")?;
            return Ok(statement.query_map([], |row| row.get(0))?.collect::<Result<_, _>>()?);
        }
        let mut parts = Vec::new();
        let mut values: Vec<Value> = Vec::new();
        for table in self.tables() {
            let (name, alias, condition) = (table.name, table.alias, self.condition(table));
            for column in ["project", "merged_into"] {
                parts.push(format!("SELECT {alias}.{column} FROM {name} {alias} WHERE 1 {}", condition.sql));
                values.extend(condition.values.iter().cloned());
            }
        }
        if parts.is_empty() {
            return Ok(Vec::new());
        }
        let sql = format!(
            "WITH named (id) AS ({}), place (id) AS (SELECT id FROM named UNION SELECT adopted_into FROM branches
               WHERE project IN (SELECT id FROM named))
             SELECT id FROM projects WHERE id IN (SELECT id FROM place)
               OR worktree = '' AND key IN (SELECT key FROM projects WHERE id IN (SELECT id FROM place)) ORDER BY id",
            parts.join(" UNION ")
        );
        let mut statement = store.conn().prepare(&sql)?;
        let rows = statement.query_map(params_from_iter(values), |row| row.get(0))?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    fn tables(&self) -> impl Iterator<Item = Table> + '_ {
        tables(&self.filter)
    }

    fn condition(&self, table: Table) -> Condition {
        let mut condition = condition(&self.filter, table);
        if table.kind == RecordKind::Observation && !self.statuses.is_empty() {
            let names: Vec<String> =
                self.statuses.iter().map(|status| format!("'{}'", status.name())).collect();
            condition.sql.push_str(&format!(" AND o.status IN ({})", names.join(",")));
        }
        condition
    }
}
