//! A store that injects refusals, doubts and delays; everything else is passed to a real one.

use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use cueme_rules::{Change, Known, Machine, Message, Now};
use cueme_store::{
    AutomaticRecords, BatchId, BootstrapRecord, BootstrapRecords, Changes, DatabaseFault, DeliveryRecords,
    Device, DoorRecords, Draft, DraftPlace, DraftRecords, FaultKind, Foreign, LeadRecords, Loads, LookUps,
    Pass, PlainQuestion, Reader, Remembered, Repairs, RunLead, RunRecords, SettingRecords, Storage, Store,
    StoreError, SurfaceRecords, Token, TokenHash, Transactions, Upkeep, UpkeepRecords, Upload, UploadRecords,
};
use protocol_spec::id::{AgentId, CueId, DriverId, RequestId, RunId, RuntimeTag};
use protocol_spec::message::{EventKind, Run, RunEvent, Sending};
use protocol_spec::time::Timestamp;

/// A fault of a transaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fault {
    /// It does not begin.
    Refuse,
    /// It is not committed, and the store cannot tell.
    LoseCommit,
    /// It is committed, and reported as failed.
    HideCommit,
    /// It is committed and reported as failed, and the store cannot be opened again at once.
    HideCommitAndStayAway,
    /// It is committed so many milliseconds later.
    Delay(u64),
}

/// The faults to come, as the simulation and its store share them.
#[derive(Debug, Clone, Default)]
pub(crate) struct Faults(Arc<Mutex<Plan>>);

#[derive(Debug, Default)]
struct Plan {
    next: Option<Fault>,
    is_away: bool,
    delayed_ms: u64,
}

impl Faults {
    /// Lets the next transaction go wrong.
    pub(crate) fn plan(&self, fault: Option<Fault>) {
        self.0.lock().unwrap().next = fault;
    }

    /// Takes the fault back; returns whether it was still to come.
    pub(crate) fn cancel(&self) -> bool {
        self.0.lock().unwrap().next.take().is_some()
    }

    /// Returns by how much the store was late since it was last asked.
    pub(crate) fn delayed_ms(&self) -> u64 {
        std::mem::take(&mut self.0.lock().unwrap().delayed_ms)
    }

    fn strike(&self, is_meant: impl Fn(Fault) -> bool) -> Option<Fault> {
        self.0.lock().unwrap().next.take_if(|fault| is_meant(*fault))
    }
}

#[derive(Debug)]
pub(crate) struct FaultyStorage {
    storage: Box<dyn Storage>,
    faults: Faults,
}

impl FaultyStorage {
    pub(crate) fn new(storage: Box<dyn Storage>, faults: Faults) -> Self {
        Self { storage, faults }
    }
}

impl Storage for FaultyStorage {
    fn open(&mut self, was_clean: bool) -> Result<Box<dyn Store>, StoreError> {
        if std::mem::take(&mut self.faults.0.lock().unwrap().is_away) {
            return Err(broken());
        }
        Ok(Box::new(FaultyStore {
            store: self.storage.open(was_clean)?,
            faults: self.faults.clone(),
        }))
    }

    fn reader(&self) -> Arc<dyn Reader> {
        self.storage.reader()
    }

    fn is_shared(&self) -> bool {
        self.storage.is_shared()
    }

    fn schema(&self) -> u32 {
        self.storage.schema()
    }

    fn location(&self) -> PathBuf {
        self.storage.location()
    }

    fn is_full(&self) -> bool {
        self.storage.is_full()
    }

    fn use_reserve(&mut self) -> bool {
        self.storage.use_reserve()
    }

    fn regain_reserve(&mut self) -> bool {
        self.storage.regain_reserve()
    }
}

#[derive(Debug)]
struct FaultyStore {
    store: Box<dyn Store>,
    faults: Faults,
}

impl Transactions for FaultyStore {
    fn expect(&self, look_ups: LookUps) {
        self.store.expect(look_ups);
    }

    fn begin(&self) -> Result<Foreign, StoreError> {
        match self.faults.strike(|fault| fault == Fault::Refuse) {
            Some(_) => Err(broken()),
            None => self.store.begin(),
        }
    }

    fn commit(&self, batch: BatchId) -> Result<(), StoreError> {
        match self.faults.strike(|fault| fault != Fault::Refuse) {
            None | Some(Fault::Refuse) => return self.store.commit(batch),
            Some(Fault::Delay(millis)) => {
                self.faults.0.lock().unwrap().delayed_ms += millis;
                return self.store.commit(batch);
            }
            Some(Fault::LoseCommit) => {}
            Some(Fault::HideCommit) => self.store.commit(batch)?,
            Some(Fault::HideCommitAndStayAway) => {
                self.store.commit(batch)?;
                self.faults.0.lock().unwrap().is_away = true;
            }
        }
        Err(broken())
    }

    fn has_committed(&self, batch: BatchId) -> Result<bool, StoreError> {
        self.store.has_committed(batch)
    }

    fn set_waiting(&self, cues: &[CueId]) -> Result<(), StoreError> {
        self.store.set_waiting(cues)
    }

    fn roll_back(&self) {
        self.store.roll_back();
    }
}

impl Upkeep for FaultyStore {
    fn is_behind(&self) -> bool {
        self.store.is_behind()
    }

    fn index_some(&self) -> Result<bool, StoreError> {
        self.store.index_some()
    }

    fn prepare_for_more(&self) {
        self.store.prepare_for_more();
    }

    fn after_commit(&mut self) {
        self.store.after_commit();
    }

    fn save_space(&self, is_saving: bool) {
        self.store.save_space(is_saving);
    }

    fn flush(&mut self) -> Result<(), StoreError> {
        self.store.flush()
    }
}

fn broken() -> StoreError {
    StoreError::Statement(DatabaseFault {
        kind: FaultKind::Other,
        message: "the connection broke".into(),
    })
}

macro_rules! pass_on {
    ($($topic:ident { $(fn $name:ident(&self $(, $given:ident: $type:ty)*) -> $result:ty;)* })*) => {
        $(impl $topic for FaultyStore {
            $(fn $name(&self $(, $given: $type)*) -> $result {
                self.store.$name($($given),*)
            })*
        })*
    };
}

pass_on! {
    Changes {
        fn apply(&self, at: Timestamp, change: &Change) -> Result<(), StoreError>;
        fn log(&self, at: Timestamp, what: EventKind, agent: &AgentId, cue: Option<CueId>) -> Result<i64, StoreError>;
    }
    Loads {
        fn load(&self, now: Now) -> Result<Machine, StoreError>;
        fn load_agents(&self, now: Now, agents: &[AgentId]) -> Result<Machine, StoreError>;
        fn cue(&self, now: Now, cue: CueId) -> Result<Option<Remembered>, StoreError>;
        fn cue_of_request(&self, request: RequestId) -> Result<Option<CueId>, StoreError>;
        fn plain_question(&self, cue: CueId) -> Result<Option<PlainQuestion>, StoreError>;
        fn agent_of_session(&self, runtime: &RuntimeTag, session: &str) -> Result<Option<AgentId>, StoreError>;
        fn agent_of_cue(&self, cue: CueId) -> Result<Option<AgentId>, StoreError>;
        fn agent_of_message(&self, message: RequestId) -> Result<Option<AgentId>, StoreError>;
        fn past_cue(&self, request: RequestId) -> Result<Known, StoreError>;
    }
    Repairs {
        fn remove_damaged_decision(&self, cue: CueId) -> Result<Option<Vec<Message>>, StoreError>;
    }
    UpkeepRecords {
        fn purge_some(&self, before: Timestamp) -> Result<(u64, bool), StoreError>;
        fn count_purgeable(&self, before: Timestamp) -> Result<u64, StoreError>;
        fn shrink_some(&self, empty_percent_max: u8) -> Result<bool, StoreError>;
    }
    AutomaticRecords {
        fn claim_for_policy(&self, cue: CueId, policy: &str, at: Timestamp) -> Result<bool, StoreError>;
    }
    SurfaceRecords {
        fn claim_notice(&self, cue: CueId, channel: &str, at: Timestamp) -> Result<bool, StoreError>;
        fn keep_reference(&self, cue: CueId, channel: &str, reference: &str) -> Result<bool, StoreError>;
        fn forget_notice(&self, cue: CueId, channel: &str) -> Result<(), StoreError>;
    }
    BootstrapRecords {
        fn add_bootstrap(&self, record: &BootstrapRecord, now: Timestamp) -> Result<(), StoreError>;
        fn take_bootstrap(&self, token_hash: &TokenHash) -> Result<Option<BootstrapRecord>, StoreError>;
    }
    DeliveryRecords {
        fn keep_delivery(&self, delivery_id: &str, session: &str, status: &str, at: Timestamp) -> Result<bool, StoreError>;
    }
    DoorRecords {
        fn is_valid(&self, pass: &Pass, at: Timestamp) -> Result<bool, StoreError>;
        fn add_device(&self, device: &Device) -> Result<(), StoreError>;
        fn rename_device(&self, device_id: &str, name: &str) -> Result<(), StoreError>;
        fn touch_device(&self, device_id: &str, at: Timestamp) -> Result<(), StoreError>;
        fn drop_device(&self, device_id: &str) -> Result<(), StoreError>;
        fn add_link(&self, hash: &TokenHash, name: Option<&str>, expires_at: Timestamp) -> Result<(), StoreError>;
        fn use_link(&self, hash: &TokenHash, at: Timestamp) -> Result<Option<Option<String>>, StoreError>;
        fn add_token(&self, token: &Token) -> Result<(), StoreError>;
        fn touch_token(&self, token_id: &str, at: Timestamp) -> Result<(), StoreError>;
        fn drop_token(&self, token_id: &str) -> Result<(), StoreError>;
        fn note_joined_with(&self, agent: &AgentId, token_id: &str) -> Result<(), StoreError>;
    }
    DraftRecords {
        fn keep_draft(&self, place: &DraftPlace, base: i64, body: &str, by: Option<&str>, at: Timestamp) -> Result<Result<Draft, Draft>, StoreError>;
        fn keep_sent(&self, place: &DraftPlace, body: &str, by: Option<&str>, at: Timestamp) -> Result<Draft, StoreError>;
        fn drop_draft(&self, place: &DraftPlace) -> Result<(), StoreError>;
        fn drop_settled_drafts(&self) -> Result<(), StoreError>;
    }
    LeadRecords {
        fn lead_of_run(&self, run: RunId) -> Result<Option<RunLead>, StoreError>;
        fn keep_leader(&self, run: RunId, leader: DriverId) -> Result<(), StoreError>;
        fn keep_sending(&self, run: RunId, leader: DriverId, sending: &Sending) -> Result<(), StoreError>;
        fn forget_ended_leads(&self) -> Result<(), StoreError>;
    }
    RunRecords {
        fn keep_run(&self, run: &Run, at: Timestamp) -> Result<(), StoreError>;
        fn note_run_event(&self, run: RunId, event: &RunEvent) -> Result<(), StoreError>;
        fn open_runs_of_session(&self, session: &str) -> Result<Vec<RunId>, StoreError>;
        fn is_of_open_run(&self, cue: CueId) -> Result<bool, StoreError>;
        fn has_agent(&self, agent: &AgentId) -> Result<bool, StoreError>;
    }
    SettingRecords {
        fn set(&self, name: &str, value: &str) -> Result<(), StoreError>;
        fn mark_read(&self, agent: &AgentId, seq: i64) -> Result<(), StoreError>;
        fn mark_unread(&self, agent: &AgentId, seq: i64) -> Result<(), StoreError>;
        fn mark_seen(&self, cue: CueId) -> Result<(), StoreError>;
    }
    UploadRecords {
        fn add_upload(&self, upload: &Upload, at: Timestamp) -> Result<(), StoreError>;
        fn note_uploads(&self, uploads: &[Upload], at: Timestamp) -> Result<(), StoreError>;
        fn drop_upload(&self, upload_id: &str) -> Result<bool, StoreError>;
        fn drop_stray_uploads(&self, before: Timestamp) -> Result<Vec<String>, StoreError>;
    }
}
