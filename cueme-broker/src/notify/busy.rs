//! Marks keys as busy, so that one task at a time works on each.

use std::collections::HashSet;
use std::hash::Hash;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// A mark on a key that ends when it is dropped.
#[derive(Debug)]
pub(super) struct Busy<'a, K: Eq + Hash> {
    all: &'a Mutex<HashSet<K>>,
    key: K,
}

impl<'a, K: Eq + Hash + Clone> Busy<'a, K> {
    /// Marks a key, unless it is marked already.
    pub(super) fn take(all: &'a Mutex<HashSet<K>>, key: K) -> Option<Self> {
        let is_free = lock(all).insert(key.clone());
        // Made only then: dropping one ends the mark of the task that set it.
        is_free.then(|| Self { all, key })
    }
}

impl<K: Eq + Hash> Drop for Busy<'_, K> {
    fn drop(&mut self) {
        lock(self.all).remove(&self.key);
    }
}

fn lock<K>(all: &Mutex<HashSet<K>>) -> MutexGuard<'_, HashSet<K>> {
    all.lock().unwrap_or_else(PoisonError::into_inner)
}
