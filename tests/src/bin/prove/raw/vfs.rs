//! The virtual file system that SQLite calls: simulated in the directory of a [`SimDisk`](super::SimDisk), and the
//! system's own everywhere else.

use std::ffi::{CStr, c_char, c_int, c_void};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, Once};

use rusqlite::ffi::{self, sqlite3_file, sqlite3_io_methods, sqlite3_vfs};

use super::sim::{State, find, locked};

/// Makes every connection of this process go through here.
pub(super) fn register() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        // SAFETY: SQLite keeps the pointer for ever, and it is never freed; every function in it follows SQLite's contract.
        let code = unsafe {
            ffi::sqlite3_initialize();
            let system = ffi::sqlite3_vfs_find(std::ptr::null());
            let mut ours = *system;
            ours.pNext = std::ptr::null_mut();
            ours.zName = c"prove".as_ptr();
            let size = c_int::try_from(size_of::<SimFile>()).unwrap_or(c_int::MAX);
            ours.szOsFile = ours.szOsFile.max(size);
            ours.pAppData = system.cast();
            ours.xOpen = Some(open);
            ours.xDelete = Some(delete);
            ours.xAccess = Some(access);
            ours.xFullPathname = Some(full_pathname);
            ffi::sqlite3_vfs_register(Box::into_raw(Box::new(ours)), 1)
        };
        assert_eq!(code, ffi::SQLITE_OK, "SQLite takes the simulated disk");
    });
}

/// A file of a simulated disk, in memory that SQLite provides.
#[repr(C)]
struct SimFile {
    base: sqlite3_file,
    open: *mut Open,
}

struct Open {
    disk: Arc<Mutex<State>>,
    name: String,
    /// Tells it from other openings of the same file.
    number: u64,
}

static METHODS: sqlite3_io_methods = sqlite3_io_methods {
    iVersion: 2,
    xClose: Some(close),
    xRead: Some(read),
    xWrite: Some(write),
    xTruncate: Some(truncate),
    xSync: Some(sync),
    xFileSize: Some(file_size),
    xLock: Some(lock),
    xUnlock: Some(unlock),
    xCheckReservedLock: Some(check_reserved_lock),
    xFileControl: Some(file_control),
    xSectorSize: Some(sector_size),
    xDeviceCharacteristics: Some(device_characteristics),
    xShmMap: Some(shm_map),
    xShmLock: Some(shm_lock),
    xShmBarrier: Some(shm_barrier),
    xShmUnmap: Some(shm_unmap),
    xFetch: None,
    xUnfetch: None,
};

/// Returns the system's file system that ours was made from.
///
/// # Safety
///
/// `vfs` is ours.
unsafe fn system(vfs: *mut sqlite3_vfs) -> *mut sqlite3_vfs {
    // SAFETY: `register` put it there.
    unsafe { (*vfs).pAppData.cast() }
}

/// Reads a name that SQLite passes.
///
/// # Safety
///
/// `name` is null or ends with a zero byte.
unsafe fn text<'a>(name: *const c_char) -> Option<&'a str> {
    if name.is_null() {
        return None;
    }
    // SAFETY: by the contract of this function.
    unsafe { CStr::from_ptr(name) }.to_str().ok()
}

/// Returns what is known of an open file.
///
/// # Safety
///
/// `file` was opened by [`open`] as a simulated one and is not closed.
unsafe fn opened<'a>(file: *mut sqlite3_file) -> &'a Open {
    // SAFETY: by the contract of this function, `open` points to a live box.
    unsafe { &*(*file.cast::<SimFile>()).open }
}

fn place(offset: ffi::sqlite3_int64) -> usize {
    usize::try_from(offset).unwrap_or(0)
}

unsafe extern "C" fn open(
    vfs: *mut sqlite3_vfs,
    name: ffi::sqlite3_filename,
    file: *mut sqlite3_file,
    flags: c_int,
    out_flags: *mut c_int,
) -> c_int {
    // SAFETY: SQLite passes a name or null, memory of `szOsFile` bytes, and a place for flags or null.
    unsafe {
        let Some((disk, name)) = text(name).and_then(find) else {
            let system = system(vfs);
            return (*system).xOpen.map_or(ffi::SQLITE_CANTOPEN, |real| {
                real(system, name, file, flags, out_flags)
            });
        };
        (*file).pMethods = std::ptr::null();
        let code = locked(&disk).open(&name, flags & ffi::SQLITE_OPEN_CREATE != 0);
        if code != ffi::SQLITE_OK {
            return code;
        }
        static NUMBER: AtomicU64 = AtomicU64::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let open = Box::into_raw(Box::new(Open { disk, name, number }));
        file.cast::<SimFile>().write(SimFile {
            base: sqlite3_file { pMethods: &METHODS },
            open,
        });
        if !out_flags.is_null() {
            *out_flags = flags;
        }
        ffi::SQLITE_OK
    }
}

unsafe extern "C" fn delete(vfs: *mut sqlite3_vfs, name: *const c_char, sync_directory: c_int) -> c_int {
    // SAFETY: SQLite passes a name.
    unsafe {
        match text(name).and_then(find) {
            Some((disk, name)) => locked(&disk).delete(&name),
            None => {
                let system = system(vfs);
                (*system)
                    .xDelete
                    .map_or(ffi::SQLITE_IOERR, |real| real(system, name, sync_directory))
            }
        }
    }
}

unsafe extern "C" fn access(
    vfs: *mut sqlite3_vfs,
    name: *const c_char,
    flags: c_int,
    result: *mut c_int,
) -> c_int {
    // SAFETY: SQLite passes a name and a place for the result.
    unsafe {
        match text(name).and_then(find) {
            Some((disk, name)) => {
                *result = c_int::from(locked(&disk).exists(&name));
                ffi::SQLITE_OK
            }
            None => {
                let system = system(vfs);
                (*system)
                    .xAccess
                    .map_or(ffi::SQLITE_IOERR, |real| real(system, name, flags, result))
            }
        }
    }
}

unsafe extern "C" fn full_pathname(
    vfs: *mut sqlite3_vfs,
    name: *const c_char,
    size: c_int,
    out: *mut c_char,
) -> c_int {
    // SAFETY: passed on as it came.
    unsafe {
        let system = system(vfs);
        (*system)
            .xFullPathname
            .map_or(ffi::SQLITE_CANTOPEN, |real| real(system, name, size, out))
    }
}

unsafe extern "C" fn close(file: *mut sqlite3_file) -> c_int {
    // SAFETY: SQLite closes a file once; the box was made by `open`.
    unsafe {
        let open = Box::from_raw((*file.cast::<SimFile>()).open);
        locked(&open.disk).close(&open.name, open.number);
        (*file).pMethods = std::ptr::null();
    }
    ffi::SQLITE_OK
}

unsafe extern "C" fn read(
    file: *mut sqlite3_file,
    buffer: *mut c_void,
    count: c_int,
    offset: ffi::sqlite3_int64,
) -> c_int {
    // SAFETY: SQLite passes an open file and a buffer of `count` bytes.
    unsafe {
        let open = opened(file);
        let buffer = std::slice::from_raw_parts_mut(buffer.cast::<u8>(), usize::try_from(count).unwrap_or(0));
        locked(&open.disk).read(&open.name, buffer, place(offset))
    }
}

unsafe extern "C" fn write(
    file: *mut sqlite3_file,
    bytes: *const c_void,
    count: c_int,
    offset: ffi::sqlite3_int64,
) -> c_int {
    // SAFETY: SQLite passes an open file and `count` bytes.
    unsafe {
        let open = opened(file);
        let bytes = std::slice::from_raw_parts(bytes.cast::<u8>(), usize::try_from(count).unwrap_or(0));
        locked(&open.disk).write(&open.name, bytes, place(offset))
    }
}

unsafe extern "C" fn truncate(file: *mut sqlite3_file, size: ffi::sqlite3_int64) -> c_int {
    // SAFETY: SQLite passes an open file.
    let open = unsafe { opened(file) };
    locked(&open.disk).truncate(&open.name, place(size))
}

unsafe extern "C" fn sync(file: *mut sqlite3_file, _: c_int) -> c_int {
    // SAFETY: SQLite passes an open file.
    let open = unsafe { opened(file) };
    locked(&open.disk).sync(&open.name)
}

unsafe extern "C" fn file_size(file: *mut sqlite3_file, size: *mut ffi::sqlite3_int64) -> c_int {
    // SAFETY: SQLite passes an open file and a place for the size.
    unsafe {
        let open = opened(file);
        *size = i64::try_from(locked(&open.disk).size(&open.name)).unwrap_or(i64::MAX);
    }
    ffi::SQLITE_OK
}

unsafe extern "C" fn lock(file: *mut sqlite3_file, level: c_int) -> c_int {
    // SAFETY: SQLite passes an open file.
    let open = unsafe { opened(file) };
    locked(&open.disk).lock(&open.name, open.number, level)
}

unsafe extern "C" fn unlock(file: *mut sqlite3_file, level: c_int) -> c_int {
    // SAFETY: SQLite passes an open file.
    let open = unsafe { opened(file) };
    locked(&open.disk).unlock(&open.name, open.number, level)
}

unsafe extern "C" fn check_reserved_lock(_: *mut sqlite3_file, result: *mut c_int) -> c_int {
    // SAFETY: SQLite passes a place for the result.
    unsafe { *result = 0 };
    ffi::SQLITE_OK
}

unsafe extern "C" fn file_control(_: *mut sqlite3_file, _: c_int, _: *mut c_void) -> c_int {
    ffi::SQLITE_NOTFOUND
}

unsafe extern "C" fn sector_size(_: *mut sqlite3_file) -> c_int {
    512
}

/// Promises what the system's own file system does: a write does not damage its neighbours.
unsafe extern "C" fn device_characteristics(_: *mut sqlite3_file) -> c_int {
    ffi::SQLITE_IOCAP_POWERSAFE_OVERWRITE
}

unsafe extern "C" fn shm_map(
    file: *mut sqlite3_file,
    region: c_int,
    size: c_int,
    extend: c_int,
    out: *mut *mut c_void,
) -> c_int {
    // SAFETY: SQLite passes an open file and a place for the pointer; regions are never freed while the disk is there.
    unsafe {
        let open = opened(file);
        let mut state = locked(&open.disk);
        let regions = state.shared.entry(open.name.clone()).or_default();
        let (region, words) = (
            usize::try_from(region).unwrap_or(0),
            usize::try_from(size).unwrap_or(0).div_ceil(8),
        );
        while extend != 0 && regions.len() <= region {
            regions.push(vec![0; words].into_boxed_slice());
        }
        *out = regions
            .get_mut(region)
            .map_or(std::ptr::null_mut(), |memory| memory.as_mut_ptr().cast());
    }
    ffi::SQLITE_OK
}

/// Simulated connections take turns by themselves: those that write are on one thread.
unsafe extern "C" fn shm_lock(_: *mut sqlite3_file, _: c_int, _: c_int, _: c_int) -> c_int {
    ffi::SQLITE_OK
}

unsafe extern "C" fn shm_barrier(_: *mut sqlite3_file) {
    std::sync::atomic::fence(Ordering::SeqCst);
}

unsafe extern "C" fn shm_unmap(file: *mut sqlite3_file, is_deleted: c_int) -> c_int {
    if is_deleted != 0 {
        // SAFETY: SQLite passes an open file, and uses no region of it after this.
        let open = unsafe { opened(file) };
        locked(&open.disk).shared.remove(&open.name);
    }
    ffi::SQLITE_OK
}
