//! What a database file takes on disk, and giving back what it does not need. Shared by `memory.db` and `spool.db`.

use rusqlite::Connection;
use serde::Serialize;

use super::{Store, StoreError};

/// Free pages that stay in a file: what comes next would only make it grow again (1 MiB with pages of 4 KiB).
const SPARE: i64 = 256;

/// What a database file consists of.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct DatabaseSize {
    /// Bytes of a page.
    pub page_size: i64,
    /// Pages in the file.
    pub pages: i64,
    /// Pages in it that hold nothing.
    pub free_pages: i64,
    /// Each table, by name; those that SQLite keeps for itself or for an index are left out.
    pub tables: Vec<TableSize>,
}

/// A table and how many rows it has.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[expect(missing_docs, reason = "the field names are the documentation")]
pub struct TableSize {
    pub name: String,
    pub rows: i64,
}

impl Store {
    /// Gives back free pages beyond a few, and empties the write-ahead log as far as readers allow. For the drainer,
    /// when it leaves.
    ///
    /// # Errors
    /// [`StoreError::Sql`].
    pub fn tidy(&self) -> Result<(), StoreError> {
        give_back(&self.conn, SPARE)?;
        empty_log(&self.conn)?;
        Ok(())
    }

    /// Gives back every free page and empties the write-ahead log; tells whether that went all the way: a reader may
    /// need what is in the log.
    ///
    /// # Errors
    /// [`StoreError::Sql`].
    pub fn scrub(&self) -> Result<bool, StoreError> {
        give_back(&self.conn, 0)?;
        empty_log(&self.conn)
    }

    /// What the file consists of.
    ///
    /// # Errors
    /// [`StoreError::Sql`].
    pub fn size(&self) -> Result<DatabaseSize, StoreError> {
        size(&self.conn)
    }
}

/// Gives back free pages until only `keep` are left.
pub(crate) fn give_back(conn: &Connection, keep: i64) -> Result<(), StoreError> {
    let free: i64 = conn.query_row("PRAGMA freelist_count", [], |row| row.get(0))?;
    if free > keep {
        // A step of the statement is a page.
        let mut statement = conn.prepare(&format!("PRAGMA incremental_vacuum({})", free - keep))?;
        let mut steps = statement.query([])?;
        while steps.next()?.is_some() {}
    }
    Ok(())
}

/// Empties the write-ahead log; `false` when a reader or a writer was in the way for longer than the connection waits.
pub(crate) fn empty_log(conn: &Connection) -> Result<bool, StoreError> {
    Ok(conn.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get::<_, i64>(0))? == 0)
}

/// What a database file consists of, from one consistent read.
pub(crate) fn size(conn: &Connection) -> Result<DatabaseSize, StoreError> {
    let snapshot = conn.unchecked_transaction()?;
    let number = |sql: &str| snapshot.query_row(sql, [], |row| row.get::<_, i64>(0));
    let names: Vec<String> = snapshot
        .prepare(
            "SELECT name FROM pragma_table_list WHERE schema = 'main' AND type = 'table' AND name NOT LIKE 'sqlite_%'
             ORDER BY name",
        )?
        .query_map([], |row| row.get(0))?
        .collect::<Result<_, _>>()?;
    let tables = names
        .into_iter()
        .map(|name| Ok(TableSize { rows: number(&format!("SELECT count(*) FROM \"{name}\""))?, name }))
        .collect::<Result<_, StoreError>>()?;
    Ok(DatabaseSize {
        page_size: number("PRAGMA page_size")?,
        pages: number("PRAGMA page_count")?,
        free_pages: number("PRAGMA freelist_count")?,
        tables,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Paths;

    #[test]
    fn free_pages_are_given_back_but_for_the_spare_ones() {
        let folder = tempfile::tempdir().unwrap();
        let paths = Paths::resolve(Some(folder.path())).unwrap();
        let store = Store::open(&paths).unwrap();
        store
            .conn
            .execute_batch(
                "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 4000)
                 INSERT INTO aliases SELECT i || hex(zeroblob(300)), '' FROM n",
            )
            .unwrap();
        store.conn.execute_batch("DELETE FROM aliases").unwrap();
        assert!(store.size().unwrap().free_pages > 2 * SPARE);
        store.tidy().unwrap();
        assert_eq!(store.size().unwrap().free_pages, SPARE);
        assert!(store.scrub().unwrap());
        let size = store.size().unwrap();
        assert_eq!(size.free_pages, 0);
        let file = std::fs::metadata(paths.memory()).unwrap().len();
        assert_eq!(i64::try_from(file).unwrap(), size.pages * size.page_size);
        let names: Vec<&str> = size.tables.iter().map(|table| table.name.as_str()).collect();
        assert!(
            names.contains(&"observations") && !names.iter().any(|name| name.contains("_fts")),
            "{names:?}"
        );
    }

    #[test]
    fn a_reader_keeps_the_log_from_being_emptied() {
        let folder = tempfile::tempdir().unwrap();
        let paths = Paths::resolve(Some(folder.path())).unwrap();
        let store = Store::open_within(&paths, std::time::Duration::ZERO).unwrap();
        let reader = Store::open_read_only(&paths).unwrap();
        let snapshot = reader.conn.unchecked_transaction().unwrap();
        let read =
            || snapshot.query_row("SELECT count(*) FROM aliases", [], |row| row.get::<_, i64>(0)).unwrap();
        assert_eq!(read(), 0);
        store.conn.execute_batch("INSERT INTO aliases VALUES ('a', 'b')").unwrap();
        assert!(!store.scrub().unwrap());
        snapshot.finish().unwrap();
        assert!(store.scrub().unwrap());
    }
}
