//! Gives the disk back what a database holds of it and does not use, a little at a time.
//!
//! What was deleted leaves empty pages behind, which SQLite keeps for what comes next. Where a lot was deleted that would be
//! years of it. A database from before this keeps what it holds; a [copy](cueme_store::UpkeepReads::back_up) of it does not.

use rusqlite::Connection;

/// How many pages are given back in one transaction.
const PAGES_AT_ONCE: u64 = 64;
/// So few empty pages are not worth the work.
const PAGES_MIN: u64 = 256;
/// What SQLite calls a database that gives pages back when it is told to.
const ON_DEMAND: u32 = 2;

/// Gives some pages back, if more than this share of them is empty; returns whether it is to be called again.
pub(super) fn give_some_back(connection: &Connection, empty_percent_max: u8) -> rusqlite::Result<bool> {
    let pages = Pages::of(connection)?;
    if !pages.are_given_back {
        return Ok(false);
    }
    let surplus = pages.surplus(empty_percent_max);
    if surplus > 0 {
        let some = surplus.min(PAGES_AT_ONCE);
        // As a batch: SQLite gives back one page for each step of the statement.
        connection.execute_batch(&format!("PRAGMA incremental_vacuum({some})"))?;
    }
    Ok(surplus > PAGES_AT_ONCE)
}

/// Lets a database that has nothing in it yet give pages back later on.
pub(super) fn give_back_on_demand(connection: &Connection) -> rusqlite::Result<()> {
    if Pages::of(connection)?.all == 0 {
        connection.pragma_update(None, "auto_vacuum", ON_DEMAND)?;
    }
    Ok(())
}

/// Rewrites a database that nobody else uses without empty pages, if it has many or could not give them back.
pub(super) fn compact(connection: &Connection) -> rusqlite::Result<()> {
    let pages = Pages::of(connection)?;
    if pages.are_given_back && pages.surplus(0) == 0 {
        return Ok(());
    }
    connection.pragma_update(None, "auto_vacuum", ON_DEMAND)?;
    connection.execute_batch("VACUUM")
}

/// What a database is made of.
#[derive(Debug, Clone, Copy)]
struct Pages {
    all: u64,
    empty: u64,
    /// Whether empty ones can be given back.
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

    /// Returns how many are empty beyond a share of all.
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
