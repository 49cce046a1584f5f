/**
 * Writes records. What takes time is done first. Then a guard judges the record inside the transaction that stores it, and a
 * single write joins the group commit of the database.
 */
import { isPannierError, type PannierError } from 'pannier'
import type { Database, Transaction, TransactionCollection, WriteResult } from 'pannier'
import { guarded, pause, type DocumentGuard } from 'pannier/internal'
import type { Environment } from 'pannier/types'
import type { Action } from '../../access/access.ts'
import type { Actor } from '../../access/actor.ts'
import type { LoginLimiter } from '../../accounts/login-limiter.ts'
import type { Passwords } from '../../accounts/passwords.ts'
import type { Definition } from '../../definitions/definition.ts'
import { toText } from '../../fields/cast.ts'
import { NewFile } from '../../fields/new-file.ts'
import type { JsonObject } from '../../gateway/documents.ts'
import { jsonSize } from '../../gateway/json-text.ts'
import { asRefusal } from '../../gateway/guard-chain.ts'
import { forbidden, invalid, missing, ServiceError } from '../../gateway/service-error.ts'
import type { HookApp } from '../../hooks/hook-app.ts'
import type { Hooks } from '../../hooks/hooks.ts'
import { accountForm, type CheckedPassword } from './account-form.ts'
import { AccountReferences } from './account-references.ts'
import { Consequences } from './consequences.ts'
import {
  canBeId,
  documentOf,
  draftOf,
  drawnIn,
  listOf,
  renewedTokenKey,
  type Draft,
  type PreparedInput,
} from './draft.ts'
import { Judge, type JudgeParts } from './judge.ts'
import {
  recordsIn,
  type CollectionSource,
  type PreparedWrite,
  type RecordOperation,
  type WrittenRecord,
} from './operations.ts'
import type { RecordInput } from '../record-types.ts'
import { prepareInput } from './prepare-input.ts'
import { storeFiles, type FileStore } from './store-files.ts'
import { WriteHooks, type BeginOptions, type HookedWrite } from './write-hooks.ts'
import { Passage, tombstoneOf, type Passed, type WriteGate } from './passage.ts'
import { writeError } from './write-errors.ts'
import { OutdatedWrite, withViewRows } from './write-views.ts'

export interface RecordWriterParts extends JudgeParts {
  readonly database: Database
  readonly environment: Environment
  readonly passwords: Passwords
  /** Counts guesses of old passwords with failed logins. */
  readonly limiter: LoginLimiter
  readonly hooks: Hooks
  readonly app: HookApp
  readonly files: FileStore
  /** The operator's gate of every write. */
  readonly gate: WriteGate
}

/** Which record is changed, and on what condition. */
interface WantedUpdate extends Pick<
  Extract<RecordOperation, { readonly action: 'update' }>,
  'id' | 'rev' | 'was' | 'isOwn'
> {
  /** Whether its old password is right, if one is asked for. */
  readonly known?: CheckedPassword | undefined
}

/** A write of fields that is ready. */
interface ReadyWrite {
  readonly operation: Exclude<RecordOperation, { readonly action: 'delete' }>
  readonly prepared: PreparedInput
  readonly passage: Passage
  readonly known: CheckedPassword | undefined
  /** Counts what is stored beyond what came: it is in memory until the answer was sent. @throws ServiceError as a budget does */
  readonly count: (document: JsonObject) => void
  /** Other records may change with it. */
  readonly isWide: boolean
}

type Drafting = Pick<ReadyWrite, 'prepared' | 'passage' | 'count' | 'isWide'>

/** How often a write waits for the definitions, which follow what is stored. */
const ROUNDS_MAX = 100

export class RecordWriter {
  readonly environment: Environment
  readonly #parts: RecordWriterParts
  readonly #judge: Judge
  readonly #references: AccountReferences
  readonly #consequences: Consequences
  readonly #hooks: WriteHooks

  constructor(parts: RecordWriterParts) {
    this.environment = parts.environment
    this.#parts = parts
    this.#judge = new Judge(parts)
    this.#references = new AccountReferences(parts.definitions)
    this.#consequences = new Consequences(parts.definitions)
    this.#hooks = new WriteHooks({ ...parts, judge: this.#judge })
  }

  /** Resolves with undefined after a delete. @throws ServiceError */
  async write(actor: Actor, operation: RecordOperation): Promise<WrittenRecord | undefined> {
    const definition = this.#definitionOf(operation.collection)
    const hooked = await this.#hooks.begin(actor, definition, operation)
    if (hooked === undefined) return this.#write(actor, definition, operation)
    if (!hooked.isWanted) return hooked.unwritten()
    const written = await this.#write(actor, definition, hooked.operation).catch((error: unknown) =>
      hooked.failed(error),
    )
    return hooked.succeeded(written)
  }

  /** Runs the hooks of a write as far as the write. Undefined: it has none. @throws ServiceError */
  async begin(actor: Actor, operation: RecordOperation, options?: BeginOptions): Promise<HookedWrite | undefined> {
    return this.#hooks.begin(actor, this.#definitionOf(operation.collection), operation, options)
  }

  /** The same text for a record, however its collection is named: by its id, and by its name in any case. */
  recordKey(collection: string, id: string): string {
    return `${this.#parts.definitions.find(collection)?.id ?? collection}/${id}`
  }

  /** Whether any hook is about writes of a collection. */
  hasHooks(collection: string): boolean {
    const definition = this.#parts.definitions.find(collection)
    return definition !== undefined && this.#hooks.areAbout(definition)
  }

  /** `definition`: of its collection, until it turns out to have changed. */
  async #write(actor: Actor, definition: Definition, operation: RecordOperation): Promise<WrittenRecord | undefined> {
    return whileOutdated(this.environment, async (round) => {
      const current = round === 1 ? definition : this.#definitionOf(definition.id)
      const { isWide, run, written, release } = await this.#prepare(actor, current, operation)
      const { database } = this.#parts
      try {
        const stored = await withViewRows(() =>
          isWide ? database.transaction((one: Transaction) => run(one)) : run(database),
        )
        written()
        return stored
      } finally {
        release()
      }
    })
  }

  /** Each takes a hash, so it counts as a failed login does. @throws ServiceError TOO_MANY_REQUESTS */
  #countSignUp({ principal }: Actor, { type, id }: Definition, input: RecordInput): void {
    const { isAdmin, account, address = '' } = principal
    if (type !== 'auth' || isAdmin || account !== undefined || address === '') return
    this.#parts.limiter.attempt(address, `${id}:${toText(input['email'])}`)
  }

  /** Refuses writes that can be refused before anything is sent. @throws ServiceError */
  assertOpen(actor: Actor, collection: string, action: Action): Definition {
    const definition = this.#definitionOf(collection)
    this.#assertUnlocked(actor, definition, action)
    return definition
  }

  /** Call `release` of the result in any case. @throws ServiceError */
  async prepare(actor: Actor, operation: RecordOperation, namings?: number): Promise<PreparedWrite> {
    return this.#prepare(actor, this.#definitionOf(operation.collection), operation, namings)
  }

  async #prepare(
    actor: Actor,
    definition: Definition,
    operation: RecordOperation,
    namings = 1,
  ): Promise<PreparedWrite> {
    if (operation.action !== 'upsert') this.#assertUnlocked(actor, definition, operation.action)
    if (operation.action === 'delete') return this.#prepareDelete(actor, definition, operation)
    const { isAdmin: isSuperuser } = actor.principal
    const { input, changes = [], isForm = true, isUnchecked = false, autodates, begun } = operation
    if (operation.action !== 'update') this.#countSignUp(actor, definition, input)
    const asked = { definition, input, changes, isForm, isUnchecked, autodates, begun, isSuperuser, namings }
    const id = operation.action === 'update' ? operation.id : undefined
    const { prepared: ready, release: releaseFiles } = await storeFiles(
      this.#parts.files,
      await prepareInput(asked, this.#parts),
      id,
    )
    const passage = new Passage(this.#parts, actor.principal, definition)
    const release = (): void => {
      passage.leave()
      releaseFiles()
    }
    try {
      const prepared = passage.isAsked && id === undefined ? withDrawnTexts(ready) : ready
      // Before the transaction, in which others would wait for it.
      const known = id === undefined ? undefined : await this.#checkPassword(this.#parts.database, actor, prepared, id)
      if (passage.isAsked) await this.#askAhead(passage, operation, prepared, known)
      const count = counting(actor, input)
      const isWide = isWideWrite(operation.action, prepared, passage)
      const run = (place: CollectionSource): Promise<WrittenRecord> =>
        this.#run(place, actor, { operation, prepared, passage, known, count, isWide })
      return { isWide, run, written: () => passage.written(), release }
    } catch (error) {
      release()
      throw error
    }
  }

  async #run(
    place: CollectionSource,
    actor: Actor,
    { operation, known, ...ready }: ReadyWrite,
  ): Promise<WrittenRecord> {
    if (operation.action === 'create') return this.#create(place, actor, ready)
    if (operation.action === 'update') return this.#update(place, actor, ready, { ...operation, known })
    const { definition } = ready.prepared
    const id = toText(operation.input['id'])
    const stored = !canBeId(id) ? undefined : await recordsIn(place, definition).get(id)
    const action = stored === undefined ? 'create' : 'update'
    this.#assertUnlocked(actor, definition, action)
    const method = action === 'create' ? 'POST' : 'PATCH'
    const acting: Actor = { ...actor, request: { ...actor.request, method } }
    return action === 'create' ? this.#create(place, acting, ready) : this.#update(place, acting, ready, { id })
  }

  /** Guards may take time, so they are asked before the transaction. One that finds another revision asks them again. */
  async #askAhead(
    passage: Passage,
    operation: ReadyWrite['operation'],
    prepared: PreparedInput,
    known: CheckedPassword | undefined,
  ): Promise<void> {
    const { database } = this.#parts
    const id = operation.action === 'update' ? operation.id : toText(operation.input['id'])
    const isNew = operation.action === 'create' || !canBeId(id)
    const old = isNew ? undefined : await recordsIn(database, prepared.definition).get(id)
    if (operation.action === 'update' && old === undefined) return
    await passage.pass(database, draftOf(prepared, old, known), () => undefined)
  }

  /** @throws ServiceError NOT_FOUND; INVALID for a view */
  #definitionOf(collection: string): Definition {
    const definition = this.#parts.definitions.find(collection)
    if (definition === undefined) throw missing('Missing collection context.')
    if (definition.type === 'view') throw invalid('Unsupported collection type.')
    return definition
  }

  #assertUnlocked(actor: Actor, definition: Definition, action: Action): void {
    if (this.#parts.access.isLocked(actor, definition, action))
      throw forbidden('Only superusers can perform this action.')
  }

  async #create(place: CollectionSource, actor: Actor, drafting: Drafting): Promise<WrittenRecord> {
    const { prepared, passage, count } = drafting
    const { definition } = prepared
    try {
      const { draft, document } = await passage.pass(place, draftOf(prepared, undefined), () => undefined)
      count(document)
      const guard: DocumentGuard = ({ reader }) =>
        refusal(this.#judge.create(actor, draft, reader) ?? passage.refusalOf({ old: undefined, document, reader }))
      const admitted = await passage.admit(document)
      const insert = (): Promise<WriteResult> => guarded(recordsIn(place, definition), guard).insert(admitted)
      const { rev } = await this.#followed(place, drafting, String(document['_id']), insert)
      return { definition, document: { ...document, _rev: rev }, body: draft.body }
    } catch (error) {
      throw writeError(error, [definition], 'create')
    }
  }

  async #update(
    place: CollectionSource,
    actor: Actor,
    drafting: Drafting,
    { id, rev, known, ...seen }: WantedUpdate,
  ): Promise<WrittenRecord> {
    const { prepared, passage, count, isWide } = drafting
    const { definition } = prepared
    if (!canBeId(id)) throw missing('')
    const checked = await this.#checkPassword(place, actor, prepared, id, known)
    const hasExternalAuths = isWide && (await this.#references.hasExternalAuths(place, { definition, id }))
    const tokenKeyOf = (draft: Draft): string | undefined => renewedTokenKey(draft, hasExternalAuths)
    let made: Passed | undefined
    const change = (old: JsonObject): JsonObject => {
      const draft = draftOf(prepared, old, checked)
      made = { draft, document: documentOf(draft, tokenKeyOf(draft)) }
      count(made.document)
      return made.document
    }
    const changeAsked = async (old: JsonObject): Promise<JsonObject> => {
      made = await passage.pass(place, draftOf(prepared, old, checked), tokenKeyOf)
      count(made.document)
      return passage.admit(made.document)
    }
    const guard: DocumentGuard = ({ reader, old }) => {
      const { draft, document } = made!
      const stored = old()
      // Another write came in between: this one ends in a conflict.
      if (stored === undefined || stored._rev !== draft.old!['_rev']) return undefined
      const refused = this.#judge.update(actor, draft, { ...seen, old: stored, rev }, reader)
      return refusal(
        refused ?? passage.refusalOf({ old: stored, document: { ...document, _rev: stored._rev }, reader }),
      )
    }
    try {
      const records = recordsIn(place, definition)
      const isLong = passage.isAsked || hasFiles(prepared)
      if (!isLong) await passage.admit({ _id: id })
      const update = (): Promise<{ readonly rev: string }> =>
        isLong ? replace(records, guard, id, changeAsked) : guarded(records, guard).update(id, change)
      const written = await this.#followed(place, drafting, id, update)
      const { draft, document } = made!
      return { definition, document: { ...document, _rev: written.rev }, body: draft.body }
    } catch (error) {
      throw writeError(error, [definition], 'update')
    }
  }

  #followed<T>(
    place: CollectionSource,
    { prepared: { definition }, isWide }: Drafting,
    id: string,
    write: () => Promise<T>,
  ): Promise<T> {
    return isWide ? this.#consequences.around(place, { definition, id, isDelete: false }, write) : write()
  }

  /**
   * Whether the old password is right, if one is asked for. Somebody who has got hold of a token does not know it: guesses are counted,
   * as at a login. `known`: the answer for a hash that may have been replaced.
   *
   * @throws ServiceError TOO_MANY_REQUESTS
   */
  async #checkPassword(
    place: CollectionSource,
    actor: Actor,
    prepared: PreparedInput,
    id: string,
    known?: CheckedPassword,
  ): Promise<CheckedPassword | undefined> {
    const { definition, input, isSuperuser, isForm } = prepared
    const { oldPassword, password, passwordConfirm } = accountForm(input)
    const isAsked = definition.type === 'auth' && isForm && !isSuperuser && (password !== '' || passwordConfirm !== '')
    if (!isAsked || oldPassword === '' || !canBeId(id)) return undefined
    const record = await recordsIn(place, definition).get(id)
    const hash = toText(record?.['password'])
    if (known?.hash === hash) return known
    const { passwords, limiter } = this.#parts
    const [address, name] = [actor.principal.address ?? '', `${definition.id}:${toText(record?.['email'])}`]
    const isRight = await limiter.compare(address, name, async () => hash !== '' && passwords.verify(hash, oldPassword))
    return { hash, isRight }
  }

  async #prepareDelete(
    actor: Actor,
    definition: Definition,
    { id, rev }: { readonly id: string; readonly rev?: string },
  ): Promise<PreparedWrite> {
    const { definitions, database } = this.#parts
    const isWide = this.#consequences.mayFollow(definition, true)
    const passage = new Passage(this.#parts, actor.principal, definition)
    const ask = async (place: CollectionSource): Promise<unknown> => {
      if (!passage.isAsked || !canBeId(id)) return undefined
      const old = await recordsIn(place, definition).get(id)
      if (old !== undefined) await passage.passDelete(place, old)
      return old?._rev
    }
    const run = async (place: CollectionSource): Promise<undefined> => {
      if (!canBeId(id)) throw missing('')
      try {
        const askedRev = await ask(place)
        const guard: DocumentGuard = ({ reader, old }) => {
          const stored = old()!
          if (passage.isAsked && stored._rev !== askedRev) throw new OutdatedWrite()
          const refused = this.#judge.delete(actor, definition, { old: stored, rev }, reader)
          return refusal(refused ?? passage.refusalOf({ old: stored, document: tombstoneOf(stored), reader }))
        }
        // A full collection can be emptied, so a delete needs no room.
        const remove = (): Promise<unknown> =>
          guarded(recordsIn(place, definition), guard, passage.following).delete(id)
        const outcome = isWide
          ? await this.#consequences.around(place, { definition, id, isDelete: true }, remove)
          : await remove()
        if (outcome === undefined) throw missing('')
        return undefined
      } catch (error) {
        throw writeError(error, definitions.all(), 'delete')
      }
    }
    await ask(database).catch((error: unknown) => {
      passage.leave()
      throw error
    })
    return { isWide, run, written: () => passage.written(), release: () => passage.leave() }
  }
}

/** Runs it again while definitions change. `round`: from 1. */
export async function whileOutdated<T>(environment: Environment, run: (round: number) => Promise<T>): Promise<T> {
  for (let round = 1; ; round++) {
    try {
      return await run(round)
    } catch (error) {
      if (!(error instanceof OutdatedWrite)) throw error
      if (round === ROUNDS_MAX)
        throw new ServiceError('UNAVAILABLE', 'The collection keeps changing. Try again later.', { cause: error })
      await pause(environment, round)
    }
  }
}

/** Tries that come to the same count once. */
function counting({ budget }: Actor, input: RecordInput): ReadyWrite['count'] {
  if (budget === undefined) return () => {}
  let counted = jsonSize(input)
  return (document) => {
    const size = jsonSize(document)
    if (size > counted) budget.take(size - counted)
    counted = Math.max(counted, size)
  }
}

function refusal(error: ServiceError | undefined): PannierError | undefined {
  return error && asRefusal(error)
}

/** As `update`, for a change that takes time: guards are asked, or content is read. It is made again if another write came in between. */
async function replace(
  records: TransactionCollection<JsonObject>,
  guard: DocumentGuard,
  id: string,
  change: (old: JsonObject) => Promise<JsonObject>,
): Promise<{ readonly rev: string }> {
  for (let round = 1; ; round++) {
    const old = await records.get(id)
    if (old === undefined) throw missing('')
    try {
      return await guarded(records, guard).put({ ...(await change(old)), _rev: old._rev })
    } catch (error) {
      const isOvertaken = isPannierError(error, 'PANNIER_CONFLICT') && !(error.cause instanceof ServiceError)
      if (!isOvertaken || round === ROUNDS_MAX) throw error
    }
  }
}

/** An upsert may draft the record as a new one and as a stored one: its texts are drawn once. */
function withDrawnTexts(prepared: PreparedInput): PreparedInput {
  const begun = draftOf(prepared, undefined)
  return { ...prepared, begun, drawn: { ...drawnIn(begun), ...prepared.drawn } }
}

function hasFiles({ input, changes }: PreparedInput): boolean {
  const values = [...Object.values(input), ...changes.map(([, value]) => value)]
  return values.some((value) => listOf(value).some((one) => one instanceof NewFile))
}

/**
 * Whether records that belong to an account may go with the write: it is made with an id that somebody may have had, or what it is known by
 * changes. A guard may change anything.
 */
function isWideWrite(
  action: Exclude<RecordOperation['action'], 'delete'>,
  input: PreparedInput,
  guards: Passage,
): boolean {
  if (input.definition.type !== 'auth') return false
  const names = action === 'create' ? ['id'] : IDENTIFYING
  return guards.isAsked || names.some((name) => sets(input, name))
}

function sets({ input, changes }: PreparedInput, name: string): boolean {
  return Object.hasOwn(input, name) || changes.some(([key]) => key === name)
}

const IDENTIFYING: readonly string[] = ['password', 'verified', 'email', 'tokenKey', 'tokenKey:autogenerate']
