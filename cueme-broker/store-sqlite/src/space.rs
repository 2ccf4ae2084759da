//! Returns unused space of a database to the file system, a little at a time.
//!
//! Deletion leaves empty pages behind, which SQLite keeps for later use. After a large deletion they could last for
//! years. A database from before this feature keeps its pages; a [copy](cueme_store::UpkeepReads::back_up) of it does
//! not.

use rusqlite::Connection;

/// The most pages returned in one transaction.
const PAGES_AT_ONCE: u64 = 64;
/// Fewer empty pages are not worth the work.
const PAGES_MIN: u64 = 256;
/// SQLite's number of the mode in which a database returns pages on demand.
const ON_DEMAND: u32 = 2;

/// Returns some pages, if more than this share of them is empty; returns whether it is to be called again.
pub(super) fn give_some_back(connection: &Connection, empty_percent_max: u8) -> rusqlite::Result<bool> {
    let pages = Pages::of(connection)?;
    if !pages.are_given_back {
        return Ok(false);
    }
    let surplus = pages.surplus(empty_percent_max);
    if surplus > 0 {
        let some = surplus.min(PAGES_AT_ONCE);
        // As a batch: SQLite returns one page for each step of the statement.
        connection.execute_batch(&format!("PRAGMA incremental_vacuum({some})"))?;
    }
    Ok(surplus > PAGES_AT_ONCE)
}

/// Configures a database that is still empty to return pages on demand.
pub(super) fn give_back_on_demand(connection: &Connection) -> rusqlite::Result<()> {
    if Pages::of(connection)?.all == 0 {
        connection.pragma_update(None, "auto_vacuum", ON_DEMAND)?;
    }
    Ok(())
}

/// Rewrites a database that no other process uses without empty pages, if it has many or could not return them.
pub(super) fn compact(connection: &Connection) -> rusqlite::Result<()> {
    let pages = Pages::of(connection)?;
    if pages.are_given_back && pages.surplus(0) == 0 {
        return Ok(());
    }
    connection.pragma_update(None, "auto_vacuum", ON_DEMAND)?;
    connection.execute_batch("VACUUM")
}

/// The pages of a database.
#[derive(Debug, Clone, Copy)]
struct Pages {
    all: u64,
    empty: u64,
    /// Whether empty pages can be returned.
    are_given_back: bool,
}

impl Pages {
    fn of(connection: &Connection) -> rusqlite::Result<Self> {
        connection.query_row(
            "SELECT page_count, freelist_count, auto_vacuum
             FROM pragma_page_count(), pragma_freelist_count(), pragma_auto_vacuum()",
            [],
            |row| {
                Ok(Self {
                    all: row.get(0)?,
                    empty: row.get(1)?,
                    are_given_back: row.get::<_, u32>(2)? == ON_DEMAND,
                })
            },
        )
    }

    /// Returns the number of empty pages beyond a share of all.
    fn surplus(self, empty_percent_max: u8) -> u64 {
        let kept = self.all / 100 * u64::from(empty_percent_max);
        if self.empty < PAGES_MIN {
            0
        } else {
            self.empty.saturating_sub(kept)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_empty_beyond_its_share_is_surplus_unless_it_is_little() {
        let surplus = |empty, percent| {
            let pages = Pages {
                all: 10_000,
                empty,
                are_given_back: true,
            };
            pages.surplus(percent)
        };
        assert_eq!(surplus(2500, 25), 0);
        assert_eq!(surplus(2501, 25), 1);
        assert_eq!(surplus(2500, 0), 2500);
        assert_eq!(surplus(9999, 100), 0);
        assert_eq!(surplus(PAGES_MIN, 0), PAGES_MIN);
        assert_eq!(surplus(PAGES_MIN - 1, 0), 0);
    }
}
