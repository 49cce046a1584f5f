/**
 * The operator's conditions for a write of a record, for all doors: guards and the room of the database. Guards see the document that
 * will be stored. What they change joins the changes of hooks, so fields judge it too.
 */
import type { Database } from 'pannier'
import type { FollowingGuard } from 'pannier/internal'
import type { KnownDefinitions } from '../../access/rule-records.ts'
import { nameOfRecords, recordsName, type Definition } from '../../definitions/definition.ts'
import { typeOfField } from '../../fields/field-types.ts'
import { type JsonObject } from '../../gateway/documents.ts'
import { asServiceError, GuardChain, judgedBy } from '../../gateway/guard-chain.ts'
import type { GuardedChange, Judge, Write } from '../../gateway/guards.ts'
import type { Principal } from '../../gateway/principal.ts'
import { Quota, type Room } from '../../gateway/quota.ts'
import type { ServiceError } from '../../gateway/service-error.ts'
import { Stored } from '../../gateway/stored-documents.ts'
import type { HookChange } from '../../hooks/hook-record.ts'
import { changedDraft, documentOf, type Draft } from './draft.ts'
import { recordsIn, type CollectionSource } from './operations.ts'

/** The gate of every write. */
export interface WriteGate {
  /** The guards of the operator. */
  readonly guards: GuardChain
  readonly quota: Quota
}

interface PassageParts {
  readonly database: Database
  readonly definitions: KnownDefinitions
  readonly gate: WriteGate
}

/** The answer of guards about a document. */
interface Answer {
  readonly id: unknown
  /** The revision that it replaces. */
  readonly rev: unknown
  readonly changes: readonly HookChange[]
  /** The attachments. Undefined: they are as they were. */
  readonly attachments: unknown
}

/** A draft, and the document that it comes to. */
export interface Passed {
  readonly draft: Draft
  readonly document: JsonObject
}

const OPEN: WriteGate = { guards: new GuardChain([], { write: () => {} }), quota: new Quota() }

/** One write on its way. Call `leave` when it has ended, whatever came of it. */
export class Passage {
  readonly #gate: WriteGate
  readonly #definitions: KnownDefinitions
  readonly #definition: Definition
  readonly #write: Write
  readonly #stored: Stored
  readonly #room: Room
  #answer: Answer | undefined
  #judges: readonly Judge[] | undefined
  #last: JsonObject | undefined

  /** Collections of the system are the server's own: no guard and no quota keeps anybody from logging in. */
  constructor(parts: PassageParts, principal: Principal, definition: Definition) {
    const { database, definitions } = parts
    const gate = definition.system ? OPEN : parts.gate
    const records = database.collection<JsonObject>(recordsName(definition))
    this.#gate = gate
    this.#definitions = definitions
    this.#definition = definition
    this.#write = { principal, database: definition.name, newEdits: true }
    this.#stored = new Stored(records)
    this.#room = gate.quota.enter(definition.name, records)
  }

  /** Whether guards want to see the document before it is written. */
  get isAsked(): boolean {
    return this.#gate.guards.prepares
  }

  /** The draft with what guards make of it. `tokenKeyOf`: as `documentOf` takes it. @throws ServiceError */
  async pass(place: CollectionSource, draft: Draft, tokenKeyOf: (draft: Draft) => string | undefined): Promise<Passed> {
    const document = documentOf(draft, tokenKeyOf(draft))
    const { old, errors } = draft
    // What fields refuse is not written.
    if (!this.isAsked || Object.keys(errors).length > 0) return { draft, document }
    const rev = old?.['_rev']
    const { changes, attachments } = await this.#ask(place, rev === undefined ? document : { ...document, _rev: rev })
    const made = changedDraft(draft, changes)
    const changed = made === draft ? document : documentOf(made, tokenKeyOf(made))
    return { draft: made, document: attachments === undefined ? changed : { ...changed, _attachments: attachments } }
  }

  /** A document that is stored as it comes, as guards want it. @throws ServiceError */
  async passWhole(place: CollectionSource, document: JsonObject): Promise<JsonObject> {
    return this.isAsked ? this.#verdictOn(place, document) : document
  }

  /** Asks guards about a delete. @throws ServiceError */
  async passDelete(place: CollectionSource, old: JsonObject): Promise<void> {
    if (this.isAsked) await this.#ask(place, tombstoneOf(old))
  }

  /** The document, when there is room for it. @throws ServiceError QUOTA_EXCEEDED; so does reading its attachments */
  async admit(document: JsonObject): Promise<JsonObject> {
    const [admitted] = await this.#room.admit([document])
    return admitted!
  }

  /** Judges inside the transaction. */
  refusalOf(change: GuardedChange): ServiceError | undefined {
    this.#judges ??= this.#gate.guards.decide(this.#write)
    this.#last = change.document
    const refusal = judgedBy(this.#judges, change)
    return refusal && asServiceError(refusal)
  }

  /** Judges records that a delete takes along, or changes. */
  get following(): FollowingGuard {
    return this.#gate.guards.following(this.#write, (collection) => nameOfRecords(this.#definitions, collection))
  }

  /** Call it when the write is stored. */
  written(): void {
    if (this.#last !== undefined) this.#gate.guards.written(this.#write, [this.#last])
  }

  leave(): void {
    this.#room.leave()
  }

  /** Asks once for each revision: it is asked ahead of the transaction, which others wait for. */
  async #ask(place: CollectionSource, document: JsonObject): Promise<Answer> {
    const { _id: id, _rev: rev } = document
    if (this.#answer !== undefined && this.#answer.id === id && this.#answer.rev === rev) return this.#answer
    const verdict = await this.#verdictOn(place, document)
    const attachments = verdict['_attachments'] === document['_attachments'] ? undefined : verdict['_attachments']
    this.#answer = { id, rev, changes: changesOf(this.#definition, document, verdict), attachments }
    return this.#answer
  }

  async #verdictOn(place: CollectionSource, document: JsonObject): Promise<JsonObject> {
    const stored = this.#stored.within(recordsIn(place, this.#definition))
    const [verdict] = await this.#gate.guards.prepare({ ...this.#write, documents: [document], stored })
    if (verdict instanceof Error) throw asServiceError(verdict)
    return verdict!
  }
}

/** The record as guards know a delete. */
export function tombstoneOf({ _id, _rev }: JsonObject): JsonObject {
  return { _id, _rev, _deleted: true }
}

/** Passwords stay: guards see hashes. */
function changesOf({ fields }: Definition, asked: JsonObject, verdict: JsonObject): HookChange[] {
  if (verdict === asked) return []
  return fields.flatMap((field): HookChange[] => {
    const { name } = field
    const isSame = JSON.stringify(asked[name]) === JSON.stringify(verdict[name])
    return name === 'id' || typeOfField(field).isHashed || isSame ? [] : [[name, verdict[name]]]
  })
}
