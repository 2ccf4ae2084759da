//! Detects the type of a file from its first bytes. Its name and its sender's claims are ignored.

/// A kind of file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct FileType {
    /// Its media type.
    pub(crate) media_type: &'static str,
    /// The extension of its stored copy, so that tools of agents recognise it.
    pub(crate) ending: &'static str,
}

const fn kind(media_type: &'static str, ending: &'static str) -> FileType {
    FileType { media_type, ending }
}

/// Media types that browsers show without running anything in them.
const SHOWN: &[&str] = &["image/png", "image/jpeg", "image/gif", "image/webp"];

/// Returns the type of a file.
pub(crate) fn sniff(bytes: &[u8]) -> FileType {
    let starts = |mark: &[u8]| bytes.starts_with(mark);
    let has = |at: usize, mark: &[u8]| bytes.get(at..at + mark.len()) == Some(mark);
    if starts(b"\x89PNG\r\n\x1a\n") {
        kind("image/png", "png")
    } else if starts(b"\xff\xd8\xff") {
        kind("image/jpeg", "jpg")
    } else if starts(b"GIF87a") || starts(b"GIF89a") {
        kind("image/gif", "gif")
    } else if starts(b"RIFF") && has(8, b"WEBP") {
        kind("image/webp", "webp")
    } else if starts(b"%PDF-") {
        kind("application/pdf", "pdf")
    } else if starts(b"PK\x03\x04") || starts(b"PK\x05\x06") {
        kind("application/zip", "zip")
    } else if starts(b"\x1f\x8b") {
        kind("application/gzip", "gz")
    } else if has(4, b"ftyp") {
        kind("video/mp4", "mp4")
    } else if starts(b"\x1a\x45\xdf\xa3") {
        kind("video/webm", "webm")
    } else if is_text(bytes) {
        // Also HTML and SVG: to an agent they are text, and a browser must never take them for anything else.
        kind("text/plain", "txt")
    } else {
        kind("application/octet-stream", "bin")
    }
}

/// Says whether a browser may show a file of this type in place.
pub(crate) fn is_shown(media_type: &str) -> bool {
    SHOWN.contains(&media_type)
}

fn is_text(bytes: &[u8]) -> bool {
    let valid = match std::str::from_utf8(bytes) {
        Ok(text) => text,
        // The last character may be truncated.
        Err(error) if error.error_len().is_none() => {
            std::str::from_utf8(&bytes[..error.valid_up_to()]).unwrap_or_default()
        }
        Err(_) => return false,
    };
    !valid.contains('\0')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_bytes_count() {
        assert_eq!(sniff(b"\x89PNG\r\n\x1a\n....").media_type, "image/png");
        assert_eq!(sniff(b"RIFF\0\0\0\0WEBPVP8 ").media_type, "image/webp");
        assert_eq!(sniff(b"<html><script>alert(1)</script>").media_type, "text/plain");
        assert_eq!(
            sniff(b"<svg xmlns='http://www.w3.org/2000/svg' onload='x'>").media_type,
            "text/plain"
        );
        assert_eq!(sniff("数据".as_bytes()).media_type, "text/plain");
        assert_eq!(sniff(b"\0\x01\x02").media_type, "application/octet-stream");
        assert_eq!(sniff(b"").media_type, "text/plain");
    }

    #[test]
    fn nothing_that_can_run_is_shown() {
        for media_type in [
            "text/html",
            "image/svg+xml",
            "text/plain",
            "application/pdf",
            "application/xml",
        ] {
            assert!(!is_shown(media_type), "{media_type}");
        }
    }
}
