//! A small file system of its own, to be filled to the last byte.

use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A small file system, unmounted when dropped.
#[derive(Debug)]
pub struct Disk {
    path: PathBuf,
}

impl Disk {
    /// Mounts one below `parent`, or says why that cannot be done here.
    pub fn mount(parent: &Path, mebibytes: u32) -> Result<Self, String> {
        let path = parent.join("disk");
        std::fs::create_dir(&path).map_err(|error| error.to_string())?;
        let mounted = Command::new("mount")
            .args(["-t", "tmpfs", "-o"])
            .arg(format!("size={mebibytes}m,mode=0700"))
            .arg("cueme-e2e")
            .arg(&path)
            .output();
        match mounted {
            Ok(output) if output.status.success() => Ok(Self { path }),
            Ok(output) => Err(format!(
                "no small disk can be mounted: {}",
                String::from_utf8_lossy(&output.stderr).trim()
            )),
            Err(error) => Err(format!("no small disk can be mounted: {error}")),
        }
    }

    /// Returns where it is mounted.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Fills it to the last byte.
    pub fn fill(&self) {
        let mut file = File::create(self.path.join("filler")).unwrap_or_else(|error| panic!("{error}"));
        for size in [64 * 1024, 4096, 1] {
            while file.write_all(&vec![b'x'; size]).is_ok() {}
        }
    }

    /// Frees what filled it.
    pub fn free(&self) {
        std::fs::remove_file(self.path.join("filler")).unwrap_or_else(|error| panic!("{error}"));
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        // Nothing can be done about one that stays; it holds nothing but this test's files.
        let _ = Command::new("umount").arg("-l").arg(&self.path).status();
    }
}
