/**
 * The shapes of the HTTP API, as `src/web/API.md` describes them. Types only: this file is never loaded by the page.
 *
 * @typedef {"waiting" | "detached" | "working" | "quiet"} AgentState
 * @typedef {"open" | "answered" | "declined" | "cancelled" | "superseded"} Outcome
 *
 * @typedef {{
 *   cue_id: string, seq: number, agent_id: string, kind: "cue" | "pause", origin: string,
 *   type: "text" | "choice" | "confirm" | "form" | "pause", beginning: string, outcome: Outcome,
 *   delivery: "none" | "handed" | "acknowledged", asked_at: string, waiting: number, detached_at: string | null,
 *   decided_at: string | null, released_at: string | null, acknowledged_at: string | null,
 *   by: string | null, policy: string | null, from_queue?: boolean, withdrawn?: boolean, damaged?: boolean,
 *   stopped_policy?: { name: string, in_a_row_max: number } | null, content?: string,
 * }} CueCard
 *
 * @typedef {{
 *   agent_id: string, name: string | null, runtime: string, project_dir: string, project: string, terminal: string,
 *   joined_at: string, seen_at: string, state: AgentState, since: string, pinned: boolean, archived: boolean,
 *   standing: string | null, unread: number, queued: number, open: CueCard[], damaged: CueCard[],
 *   last: CueCard | null,
 * }} Agent
 *
 * @typedef {{
 *   html: string, bytes: number, lines: number, next: number | null, folded: number, end: { html: string, from: number } | null,
 *   hides_marks: boolean,
 * }} Markup
 *
 * @typedef {{ type: "choice", options: string[], allow_multiple: boolean }} Choice
 * @typedef {{ type: "confirm", text: string | null, confirm_label: string, cancel_label: string, yes: string[], no: string[] }} Confirm
 * @typedef {{ label: string, kind: string, options: string[], allow_multiple: boolean, required: boolean }} Field
 * @typedef {{ type: "form", fields: Field[] }} Form
 * @typedef {Choice | Confirm | Form} Payload
 *
 * What was written beside options and is not picked stays in drafts, as `unpicked`; it is never sent.
 * @typedef {{ type: "choice", selected: string[], other?: string, unpicked?: string }} ChoiceReply
 * @typedef {{ label: string, values: string[], other?: string, unpicked?: string }} FieldReply
 * @typedef {{ type: "form", fields: FieldReply[] }} FormReply
 * @typedef {{ type: "confirm", confirmed: boolean }} ConfirmReply
 * @typedef {ChoiceReply | FormReply | ConfirmReply | { type: "continue" }} Reply
 * @typedef {{ upload_id?: string, url?: string, path?: string, name?: string, media_type?: string, bytes?: number }} Attachment
 * A comment on lines of a patch; `side` says whose numbers they are.
 * @typedef {{ path: string, from: number, to: number, side: "old" | "now", text: string }} Comment
 * A comment in the making, which may be instead of one that was added.
 * @typedef {Comment & { instead?: Comment }} Writing
 * @typedef {{ text?: string, comments?: Comment[], writing?: Writing, reply?: Reply, attachments?: Attachment[], purpose?: Purpose, ends_run?: boolean }} Answer
 * What is decided: an answer, or the reason of a refusal.
 * @typedef {Answer & { declined?: string }} Says
 * @typedef {{ rev: number, body: Answer, by: string | null, at: string }} Draft
 *
 * @typedef {{ path: string, kind: "image" | "patch", url: string, bytes: number }} QuestionFile
 * @typedef {{ cue_id: string, agent_id: string, beginning: string, is_same: boolean, decided_at: string | null, by: string | null, answer: Answer }} Precedent
 * @typedef {CueCard & {
 *   prompt: Markup, payload: Payload | null, in_run?: boolean, text: Markup | null, notes?: string[],
 *   standing?: string | null, answer: Answer | null, precedent?: Precedent, files?: QuestionFile[], names_files?: boolean,
 *   draft: Draft | null | undefined,
 * }} Cue
 *
 * @typedef {"note" | "queued_answer"} Purpose
 * @typedef {{ message_id: string, text: string, purpose?: Purpose, by: string | null, at: string }} Message
 * @typedef {Agent & { messages: Message[], draft: Draft | null }} AgentDetail
 * @typedef {{ cue_id: string, agent_id: string, outcome: Outcome, handed_to: number, released_at: string | null }} Decided
 *
 * @typedef {{
 *   language: "auto" | "en" | "zh", undo_ms: number, quick_replies: string[], groups: { name: string, agents: string[] }[],
 *   notifications: { browser: boolean, sound: boolean, desktop: boolean },
 *   quiet_hours: { enabled: boolean, from: string, to: string },
 *   enter_sends: boolean, policies: boolean, page: { newest_first?: boolean, group_by_state?: boolean, advance?: boolean, snoozed?: Record<string, number>, replies_used?: Record<string, number> },
 * }} Settings
 *
 * @typedef {{
 *   name: string, action: "answer" | "hold", enabled: boolean, conditions: Conditions, gives: Gives, answered: number,
 *   last_at: string | null, in_a_row_max: number, until: string | null, ended: boolean, rule?: Rule, by?: string, at?: string,
 * }} Policy
 *
 * @typedef {{
 *   agent: string | null, runtimes: string[], project: string | null, payloads: string[], origins: string[], says: string | null,
 *   pattern: string | null, hours: string | null,
 * }} Conditions
 * @typedef {{ choose: string[], confirm: boolean | null, continue: boolean, text: string | null }} Gives
 *
 * @typedef {{
 *   name: string, agent?: string, project?: string, payload?: string, says?: string, answer?: string, choose?: string[], confirm?: boolean,
 *   continue?: boolean, hold?: boolean, in_a_row_max?: number, until: string,
 * }} Rule
 * @typedef {{ cue: CueCard, agrees: boolean | null, said: string | null }} Fitting
 *
 * @typedef {{ runtime: string, name: string, command: string, files: { path: string, what: string, roles: string[] }[] }} RuntimeGuide
 *
 * @typedef {{ device_id: string, name: string, created_at: string, seen_at: string, current: boolean }} Device
 *
 * @typedef {{
 *   epoch: string | number, newest_event: number, now: string, version: string, agents: Agent[], settings: Settings, policies: Policy[],
 *   device: Device | null, secure_hint: string | null, storage_error: string | null, config_error: string | null,
 * }} Snapshot
 *
 * @typedef {{ agents: { agent: Agent, why: string[] }[], cues: (CueCard & { snippet: string })[], more: boolean }} Found
 *
 * @typedef {{
 *   run_id: string, kind: "local" | "cloud", agent_id: string | null, project: string, title: string, status: string,
 *   end: "succeeded" | "failed" | "cancelled" | null, error: string | null, session: string | null, model: string | null,
 *   branch: string | null, pr_url: string | null, url: string | null, started_at: string, changed_at: string,
 *   ended_at: string | null, followed: boolean,
 * }} Run
 *
 * @typedef {{ at: string, what: string, text: string }} RunEvent
 * @typedef {Run & { events: RunEvent[] }} RunWhole
 *
 * @typedef {{
 *   repository?: string, ref?: string, model?: string, auto_create_pr?: boolean, branch_name?: string, prompt_template?: string,
 *   poll_interval_sec?: number, timeout_sec?: number, grace_sec?: number, public_url?: string, enable_webhooks?: boolean,
 *   api?: string, env?: Record<string, object>,
 * }} CloudConfig
 * @typedef {{ config: CloudConfig, has_api_key: boolean, has_webhook_secret: boolean, is_public: boolean }} CloudForm
 *
 * @typedef {{ name: string, args: string, outcome: string | null, result: string, is_error: boolean }} ChatTool
 * @typedef {{ role: "user" | "assistant" | "thinking" | "tool", text: string, tools: ChatTool[] }} ChatMessage
 * @typedef {{
 *   chat_id: string, name: string | null, mode: string | null, first: number, total: number, messages: ChatMessage[],
 *   warnings: string[],
 * }} Chat
 */

export {};
