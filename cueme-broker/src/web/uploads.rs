//! Files that humans add: taken in under random names, given back without anything a browser could run.

use std::fs::{DirBuilder, File, OpenOptions};
use std::io::Write;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use axum::Json;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use protocol_spec::endpoint::Places;
use protocol_spec::time::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::door::random_name;
use super::error::ApiError;
use super::extract::{Asked, At, receive};
use super::sniff::{FileType, is_shown, sniff};
use super::state::{Shared, Web};
use crate::broker::Broker;
use crate::store::{Reader, StoreError, Upload};

/// The largest file.
const UPLOAD_BYTES_MAX: usize = 32 * 1024 * 1024;
/// How much all files may have together.
const UPLOADS_BYTES_MAX: u64 = 4 * 1024 * 1024 * 1024;
/// How much a file leaves free on the disk: what the broker wants before it takes a disk for one that is not full, so that
/// no file takes space that is kept for answers.
const LEFT_FREE_BYTES: u64 = 3 * 512 * 1024;
/// The longest name that is kept.
const NAME_BYTES_MAX: usize = 255;
/// How much of a file tells what it is.
const SNIFFED_BYTES: usize = 4096;
/// How long a file waits for an answer that carries it.
const STRAY_LIFE: Duration = Duration::from_secs(7 * 24 * 60 * 60);

/// What a file is called where it comes from.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct UploadQuery {
    name: Option<String>,
}

/// A file that was taken in.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Upload")]
pub(super) struct UploadShown {
    upload_id: String,
    url: String,
    name: String,
    media_type: String,
    bytes: u64,
}

/// Creates the directory of attachments, closed to others.
pub(super) fn prepare(places: &Places) -> Result<(), StoreError> {
    let path = places.attachments();
    DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(&path)
        .map_err(failed("create", &path))
}

/// Returns where a file can be fetched.
pub(super) fn upload_url(upload_id: &str) -> String {
    format!("/api/v1/uploads/{upload_id}")
}

/// Takes a file in.
pub(super) async fn take(
    State(web): State<Shared>,
    Asked(query): Asked<UploadQuery>,
    request: Request,
) -> Result<(StatusCode, Json<UploadShown>), ApiError> {
    let name = clean_name(query.name.as_deref().unwrap_or_default());
    if web.read(|reader| reader.upload_bytes()).await? > UPLOADS_BYTES_MAX {
        return Err(ApiError::new(
            StatusCode::INSUFFICIENT_STORAGE,
            "storage",
            "there are too many files already",
        )
        .with_hint("`cueme purge` deletes old questions with their files"));
    }
    let attachments = web.broker.places().attachments();
    leave_room(&attachments, 0)?;
    let mut incoming = IncomingFile::create(web.broker.places())?;
    receive(request.into_body(), UPLOAD_BYTES_MAX, |chunk| {
        // Looked at for each piece, because others take space at the same time.
        leave_room(&attachments, chunk.len())?;
        incoming.add(&chunk)
    })
    .await?;
    let upload = incoming.finish(name).await?;
    let noted = upload.clone();
    let kept = KeptFile::new(&upload.path);
    web.write(move |store, now| store.add_upload(&noted, now)).await?;
    kept.keep();
    Ok((
        StatusCode::CREATED,
        Json(UploadShown {
            url: upload_url(&upload.upload_id),
            upload_id: upload.upload_id,
            name: upload.name,
            media_type: upload.media_type,
            bytes: upload.bytes,
        }),
    ))
}

/// Takes a file in that came another way, under the same limits.
pub(crate) async fn keep_file(broker: &Arc<Broker>, name: &str, bytes: &[u8]) -> Result<Upload, String> {
    let said = |error: ApiError| error.problem.message;
    let places = broker.places();
    prepare(places).map_err(|error| error.to_string())?;
    let reading = Arc::clone(broker);
    let kept_bytes = crate::broker::blocking(move || reading.reader().upload_bytes()).await;
    if kept_bytes.map_err(|failure| failure.message)? > UPLOADS_BYTES_MAX {
        return Err("there are too many files already".to_owned());
    }
    if bytes.len() > UPLOAD_BYTES_MAX {
        return Err(format!("a file has at most {UPLOAD_BYTES_MAX} bytes"));
    }
    leave_room(&places.attachments(), bytes.len()).map_err(said)?;
    let mut incoming = IncomingFile::create(places).map_err(said)?;
    incoming.add(bytes).map_err(said)?;
    let upload = incoming.finish(clean_name(name)).await.map_err(said)?;
    let (noted, kept) = (upload.clone(), KeptFile::new(&upload.path));
    let written = broker
        .engine()
        .write(move |store, now| store.add_upload(&noted, now))
        .await;
    written
        .map_err(|error| error.to_string())?
        .map_err(|error| error.to_string())?;
    kept.keep();
    Ok(upload)
}

/// Gives a file back.
pub(super) async fn give(State(web): State<Shared>, At(upload_id): At<String>) -> Result<Response, ApiError> {
    let upload = find(&web, &upload_id).await?;
    let path = upload.path.clone();
    let bytes = web.read(move |reader| bytes_of(reader, &path)).await?;
    let is_shown = is_shown(&upload.media_type);
    let kind = match upload.media_type.as_str() {
        "text/plain" => "text/plain; charset=utf-8",
        media_type if is_shown => media_type,
        _ => "application/octet-stream",
    };
    let mut response = Body::from(bytes).into_response();
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, header_value(kind)?);
    headers.insert(
        header::CONTENT_DISPOSITION,
        header_value(&disposition(is_shown, &upload.name))?,
    );
    // Whatever the bytes are, nothing in them runs, and nothing in them reaches the page.
    headers.insert(
        header::CONTENT_SECURITY_POLICY,
        HeaderValue::from_static("default-src 'none'; sandbox; frame-ancestors 'none'"),
    );
    headers.insert(
        header::CACHE_CONTROL,
        HeaderValue::from_static("private, max-age=86400, immutable"),
    );
    Ok(response)
}

/// Reads a file from the store, where that keeps the bytes, or from the disk.
fn bytes_of(reader: &dyn Reader, path: &str) -> Result<Vec<u8>, StoreError> {
    match reader.upload_piece(path, 0, UPLOAD_BYTES_MAX as u64)? {
        Some((bytes, _)) => Ok(bytes),
        None => std::fs::read(path).map_err(failed("read", Path::new(path))),
    }
}

/// Throws a file away that no answer carries.
pub(super) async fn discard(
    State(web): State<Shared>,
    At(upload_id): At<String>,
) -> Result<StatusCode, ApiError> {
    let upload = find(&web, &upload_id).await?;
    if !web.write(move |store, _| store.drop_upload(&upload_id)).await? {
        return Err(ApiError::new(
            StatusCode::CONFLICT,
            "already_released",
            "an answer carries this file",
        ));
    }
    remove_ours(&web.broker.places().attachments(), Path::new(&upload.path));
    Ok(StatusCode::NO_CONTENT)
}

/// Throws away files that no answer carries, and drafts whose question is settled.
pub(crate) async fn tidy(broker: &Broker) {
    let tidied = broker
        .engine()
        .write(|store, now| {
            store.drop_settled_drafts()?;
            let life = i64::try_from(STRAY_LIFE.as_millis()).unwrap_or(i64::MAX);
            store.drop_stray_uploads(Timestamp::from_millis(now.as_millis().saturating_sub(life)))
        })
        .await;
    match tidied {
        Ok(Ok(paths)) => {
            let attachments = broker.places().attachments();
            paths
                .iter()
                .for_each(|path| remove_ours(&attachments, Path::new(path)));
        }
        Ok(Err(error)) => tracing::warn!(%error, "could not look for stray files"),
        // The broker is stopping.
        Err(_) => {}
    }
}

/// Refuses bytes that would not leave enough of the disk; where that cannot be known, writing them will tell.
fn leave_room(directory: &Path, bytes: usize) -> Result<(), ApiError> {
    let disk = rustix::fs::statvfs(directory);
    let free = disk.map_or(u64::MAX, |disk| disk.f_bavail.saturating_mul(disk.f_frsize));
    if free >= LEFT_FREE_BYTES.saturating_add(bytes as u64) {
        return Ok(());
    }
    Err(ApiError::new(
        StatusCode::INSUFFICIENT_STORAGE,
        "storage",
        "the disk is full; what is left is kept for answers",
    )
    .with_hint("free some space, and send the file again"))
}

async fn find(web: &Web, upload_id: &str) -> Result<Upload, ApiError> {
    let id = upload_id.to_owned();
    let upload = web.read(move |reader| reader.upload(&id)).await?;
    upload.ok_or_else(|| ApiError::not_found("there is no such file"))
}

/// A file being taken in; removed unless it is finished.
struct IncomingFile {
    file: File,
    kept: KeptFile,
    first: Vec<u8>,
    bytes: u64,
}

impl IncomingFile {
    fn create(places: &Places) -> Result<Self, ApiError> {
        let path = places.attachments().join(format!(".{}.part", random_name()));
        let file = OpenOptions::new()
            .write(true)
            .create_new(true)
            .mode(0o600)
            .open(&path);
        Ok(Self {
            file: file.map_err(failed("create", &path))?,
            kept: KeptFile { path: Some(path) },
            first: Vec::new(),
            bytes: 0,
        })
    }

    fn add(&mut self, chunk: &[u8]) -> Result<(), ApiError> {
        let missing = SNIFFED_BYTES.saturating_sub(self.first.len());
        self.first.extend_from_slice(&chunk[..missing.min(chunk.len())]);
        self.bytes += chunk.len() as u64;
        self.file
            .write_all(chunk)
            .map_err(|source| failed("write", self.kept.path())(source).into())
    }

    /// Makes the file durable under its random name: an answer may carry it from now on.
    async fn finish(mut self, name: String) -> Result<Upload, ApiError> {
        let FileType { media_type, ending } = sniff(&self.first);
        if self.bytes == 0 {
            return Err(ApiError::bad_request("the file is empty"));
        }
        let upload_id = random_name();
        let temporary = self.kept.path().to_owned();
        let path = temporary.with_file_name(format!(
            "{upload_id}.{}",
            wanted_ending(&name, media_type, ending)
        ));
        let (file, target) = (self.file, path.clone());
        crate::broker::blocking(move || {
            file.sync_all()
                .and_then(|()| std::fs::rename(&temporary, &target))
                .and_then(|()| File::open(target.parent().unwrap_or(&target))?.sync_all())
                .map_err(failed("keep", &target))
        })
        .await?;
        self.kept.path = None;
        Ok(Upload {
            upload_id,
            path: path.display().to_string(),
            name: if name.is_empty() {
                format!("file.{ending}")
            } else {
                name
            },
            media_type: media_type.to_owned(),
            bytes: self.bytes,
            cue_ids: Vec::new(),
        })
    }
}

/// A file that is removed unless it is kept.
struct KeptFile {
    path: Option<PathBuf>,
}

impl KeptFile {
    fn new(path: &str) -> Self {
        Self {
            path: Some(PathBuf::from(path)),
        }
    }

    fn path(&self) -> &Path {
        self.path.as_deref().unwrap_or(Path::new(""))
    }

    fn keep(mut self) {
        self.path = None;
    }
}

impl Drop for KeptFile {
    fn drop(&mut self) {
        if let Some(path) = &self.path {
            remove(path);
        }
    }
}

/// Removes a file of ours. A row may name any path, after a restore above all: nothing outside our directory is touched.
fn remove_ours(attachments: &Path, path: &Path) {
    // Resolved, so that neither `..` nor a link on the way leads out; the last part is a name and is not followed.
    let parent = path.parent().and_then(|parent| parent.canonicalize().ok());
    let is_ours = match (parent, attachments.canonicalize().ok()) {
        (Some(parent), Some(ours)) => path.file_name().is_some() && parent.starts_with(ours),
        (None, _) | (_, None) => false,
    };
    if is_ours {
        remove(path);
    } else if path.exists() {
        tracing::warn!(path = %path.display(), "not removed: it is outside the directory of attachments");
    }
}

fn remove(path: &Path) {
    if let Err(error) = std::fs::remove_file(path)
        && error.kind() != std::io::ErrorKind::NotFound
    {
        tracing::warn!(%error, path = %path.display(), "could not remove a file");
    }
}

/// Keeps the ending of a text file, because it tells agents what the text is.
fn wanted_ending<'a>(name: &'a str, media_type: &str, otherwise: &'a str) -> &'a str {
    let ending = name
        .rsplit_once('.')
        .map(|(_, ending)| ending)
        .unwrap_or_default();
    let is_plain = (1..=8).contains(&ending.len()) && ending.bytes().all(|byte| byte.is_ascii_alphanumeric());
    if media_type == "text/plain" && is_plain {
        ending
    } else {
        otherwise
    }
}

/// Keeps the last part of a name, without anything that could be more than a name.
fn clean_name(name: &str) -> String {
    let last = name.rsplit(['/', '\\']).next().unwrap_or_default();
    let mut clean = String::new();
    for letter in last.chars().filter(|letter| !letter.is_control()) {
        if clean.len() + letter.len_utf8() > NAME_BYTES_MAX {
            break;
        }
        clean.push(letter);
    }
    clean.trim_matches(['.', ' ']).to_owned()
}

/// Names a file for whoever saves it, in ASCII for old readers and in full for others.
fn disposition(is_shown: bool, name: &str) -> String {
    let how = if is_shown { "inline" } else { "attachment" };
    let ascii: String = name
        .chars()
        .map(|letter| {
            if letter.is_ascii_alphanumeric() || "._- ".contains(letter) {
                letter
            } else {
                '_'
            }
        })
        .collect();
    let encoded: String = name
        .bytes()
        .map(|byte| {
            if byte.is_ascii_alphanumeric() || b"._-".contains(&byte) {
                char::from(byte).to_string()
            } else {
                format!("%{byte:02X}")
            }
        })
        .collect();
    format!("{how}; filename=\"{ascii}\"; filename*=UTF-8''{encoded}")
}

fn header_value(text: &str) -> Result<HeaderValue, ApiError> {
    HeaderValue::from_str(text)
        .map_err(|error| ApiError::new(StatusCode::INTERNAL_SERVER_ERROR, "internal", error.to_string()))
}

fn failed<'a>(doing: &'static str, path: &'a Path) -> impl Fn(std::io::Error) -> StoreError + use<'a> {
    move |source| StoreError::Io {
        doing,
        path: path.to_owned(),
        source,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_files_of_ours_are_removed_whatever_path_is_named() {
        let home = tempfile::tempdir().unwrap();
        let attachments = home.path().join("attachments");
        let precious = home.path().join("precious.txt");
        std::fs::create_dir(&attachments).unwrap();
        std::os::unix::fs::symlink(home.path(), attachments.join("out")).unwrap();
        let ours = attachments.join("ours.txt");
        std::fs::write(&ours, "x").unwrap();
        std::fs::write(&precious, "x").unwrap();
        for path in [
            precious.clone(),
            attachments.join("../precious.txt"),
            attachments.join("out/precious.txt"),
            attachments.join(".."),
            PathBuf::from("precious.txt"),
        ] {
            remove_ours(&attachments, &path);
            assert!(precious.exists() && attachments.exists(), "{}", path.display());
        }
        remove_ours(&home.path().join("missing"), &precious);
        assert!(precious.exists());
        // A link of ours goes, and not what it points to.
        let link = attachments.join("link.txt");
        std::os::unix::fs::symlink(&precious, &link).unwrap();
        remove_ours(&attachments, &link);
        assert!(precious.exists() && !link.is_symlink());
        remove_ours(&attachments, &ours);
        assert!(!ours.exists());
    }

    #[test]
    fn a_name_is_only_a_name() {
        for (given, kept) in [
            ("../../etc/passwd", "passwd"),
            ("C:\\Users\\x\\a.png", "a.png"),
            ("..", ""),
            ("a\0b\n.txt", "ab.txt"),
            (".hidden", "hidden"),
            ("截图 1.png", "截图 1.png"),
        ] {
            assert_eq!(clean_name(given), kept, "{given:?}");
        }
        assert!(clean_name(&"长".repeat(300)).len() <= NAME_BYTES_MAX);
    }

    #[test]
    fn a_name_cannot_break_out_of_its_header() {
        let header = disposition(false, "a\"; x=\"<b>\r\n.html");
        assert!(
            header.starts_with("attachment; filename=\"a__ x___b__"),
            "{header}"
        );
        assert!(
            !header.contains('\n') && header.matches('"').count() == 2,
            "{header}"
        );
    }

    #[test]
    fn text_keeps_its_ending_and_nothing_else_does() {
        assert_eq!(wanted_ending("a.rs", "text/plain", "txt"), "rs");
        assert_eq!(wanted_ending("a.png", "application/octet-stream", "bin"), "bin");
        assert_eq!(wanted_ending("a.p/../x", "text/plain", "txt"), "txt");
    }
}
