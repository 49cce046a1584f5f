/**
 * Hooks of writes. They run outside the transaction, so a slow one delays nobody: first as far as the write itself, and when that has
 * ended, to their end. What they change joins the input. The guard judges the rule by the input, and the fields by both.
 */
import type { Database, TransactionCollection } from 'pannier'
import { guarded, readSnapshot } from 'pannier/internal'
import type { DocumentGuard, GuardReader } from 'pannier/internal'
import type { Environment } from 'pannier/types'
import type { Access } from '../../access/access.ts'
import type { Actor } from '../../access/actor.ts'
import type { Definitions } from '../../definitions/definitions.ts'
import { recordsName, type Definition } from '../../definitions/definition.ts'
import { toText } from '../../fields/cast.ts'
import { randomText, type Chance } from '../../gateway/chance.ts'
import type { JsonObject } from '../../gateway/documents.ts'
import { asRefusal } from '../../gateway/guard-chain.ts'
import { invalid } from '../../gateway/service-error.ts'
import type { HookApp } from '../../hooks/hook-app.ts'
import type { HookName, RecordEvent } from '../../hooks/hook-events.ts'
import { HookRecord } from '../../hooks/hook-record.ts'
import type { Hooks } from '../../hooks/hooks.ts'
import { requestEvent } from '../../hooks/request-event.ts'
import { Suspended } from '../../hooks/suspended.ts'
import { canBeId, changedDraft, draftOf, type Draft } from './draft.ts'
import type { Judge } from './judge.ts'
import { recordsIn, type CollectionSource, type RecordOperation, type WrittenRecord } from './operations.ts'
import { prepareInput } from './prepare-input.ts'
import { failed } from './write-errors.ts'
import { withViewRows } from './write-views.ts'

export interface WriteHooksParts {
  readonly database: Database
  readonly environment: Environment
  readonly definitions: Definitions
  readonly access: Access
  readonly judge: Judge
  readonly hooks: Hooks
  readonly app: HookApp
}

type Kind = 'Create' | 'Update' | 'Delete'
type Step = 'Validate' | Kind | `${Kind}Execute` | `After${Kind}Success` | `After${Kind}Error`

export interface BeginOptions {
  /** How often a file is named. */
  readonly namings?: number
  /** The transaction in which it takes place. */
  readonly place?: CollectionSource
  /** The application for hooks. */
  readonly app?: HookApp
}

/** A write as hooks see it. */
interface SeenWrite {
  readonly actor: Actor
  readonly definition: Definition
  readonly kind: Kind
  readonly record: HookRecord
  /** Makes it with what hooks have changed so far. A delete has none. */
  readonly draft: (() => Draft) | undefined
  /** The application for hooks, or one inside a transaction. */
  readonly app?: HookApp | undefined
}

export class WriteHooks {
  readonly #parts: WriteHooksParts

  constructor(parts: WriteHooksParts) {
    this.#parts = parts
  }

  /**
   * Runs the hooks of a write as far as the write. Undefined: no hook is about it, or the write is to be refused anyway.
   *
   * @throws what a hook throws
   */
  async begin(
    actor: Actor,
    definition: Definition,
    operation: RecordOperation,
    { namings = 1, place = this.#parts.database, app }: BeginOptions = {},
  ): Promise<HookedWrite | undefined> {
    const { environment, access, hooks } = this.#parts
    if (hooks.isEmpty) return undefined
    const tags = [definition.id, definition.name]
    const kinds: readonly Kind[] = operation.action === 'upsert' ? ['Create', 'Update'] : [KINDS[operation.action]]
    if (!hooks.has(kinds.flatMap(namesOf), tags)) return undefined
    const id = operation.action === 'create' ? '' : 'id' in operation ? operation.id : toText(operation.input['id'])
    const old = canBeId(id) ? await place.collection<JsonObject>(recordsName(definition)).get(id) : undefined
    const action = operation.action === 'upsert' ? (old === undefined ? 'create' : 'update') : operation.action
    if (access.isLocked(actor, definition, action) || (action !== 'create' && old === undefined)) return undefined
    const prepared =
      operation.action === 'delete'
        ? undefined
        : await prepareInput(
            {
              definition,
              input: operation.input,
              isUnchecked: operation.isUnchecked === true,
              isSuperuser: actor.principal.isAdmin,
              namings,
            },
            { environment },
          )
    const draft = prepared && draftOf(prepared, old)
    if (!(await this.admits(actor, definition, { old, draft }, place))) return undefined
    const record =
      draft === undefined
        ? HookRecord.of(definition, old!, environment)
        : new HookRecord(definition, { stored: old, values: draft.values }, environment)
    if (operation.action !== 'delete') for (const [key, value] of operation.changes ?? []) record.set(key, value)
    const again = draft && draftAfter(draft, record)
    const seen: SeenWrite = { actor, definition, kind: KINDS[action], record, draft: again, app }
    const suspended = await this.start(seen)
    const changed: RecordOperation =
      operation.action === 'delete'
        ? operation
        : { ...operation, input: prepared!.input, changes: [...record.changes], begun: again!() }
    return new HookedWrite(suspended, changed, record, old && { definition, document: old })
  }

  /** Whether any hook is about writes of a collection. */
  areAbout({ id, name }: Definition): boolean {
    const { hooks } = this.#parts
    return !hooks.isEmpty && hooks.has(ALL_NAMES, [id, name])
  }

  /** Runs the hooks of a write as far as the write. @throws what a hook throws */
  start(seen: SeenWrite): Promise<Suspended> {
    return Suspended.start((rest) => this.#around(seen, rest))
  }

  /** No hook runs for what the rule refuses. The guard asks it again. */
  admits(
    actor: Actor,
    definition: Definition,
    write: Parameters<Judge['admits']>[2],
    place: CollectionSource = this.#parts.database,
  ): Promise<boolean> {
    const { database, environment, judge } = this.#parts
    const admits = (reader: GuardReader): boolean => judge.admits(actor, definition, write, reader)
    if (actor.principal.isAdmin) return Promise.resolve(true)
    if (place !== database) return readWithin(recordsIn(place, definition), admits, environment)
    return withViewRows(() => readSnapshot(database, (snapshot) => snapshot.read(admits)))
  }

  async #around(seen: SeenWrite, rest: () => Promise<void>): Promise<void> {
    const { actor, definition, kind, record, app = this.#parts.app } = seen
    const { hooks, definitions, environment } = this.#parts
    const write = (): Promise<void> => this.#write(seen, rest)
    if (actor.principal.by === 'system') return write()
    const event = {
      ...requestEvent({ app, definitions, environment }, actor, seen.draft?.().body),
      collection: definition,
      record,
    }
    return hooks.trigger(`onRecord${kind}Request`, event, [definition.id, definition.name], write)
  }

  async #write(seen: SeenWrite, rest: () => Promise<void>): Promise<void> {
    const { kind, draft } = seen
    let hasRun = false
    const run = (): Promise<void> => {
      hasRun = true
      return rest()
    }
    const check = async (): Promise<void> => {
      const { errors } = draft!()
      if (Object.keys(errors).length > 0) throw failed(kind === 'Create' ? 'create' : 'update', errors)
    }
    try {
      await this.#step(seen, kind, async () => {
        if (draft?.().isUnchecked === false) await this.#step(seen, 'Validate', check)
        await this.#step(seen, `${kind}Execute`, run)
      })
    } catch (error) {
      await this.#step(seen, `After${kind}Error`, undefined, error)
      throw error
    }
    if (hasRun) await this.#step(seen, `After${kind}Success`)
  }

  /** The hooks of all models are around those of records. */
  #step(
    { definition, record, kind, app = this.#parts.app }: SeenWrite,
    step: Step,
    last?: () => Promise<void>,
    error?: unknown,
  ): Promise<void> {
    const { hooks } = this.#parts
    const tags = [definition.id, definition.name]
    const type = step === 'Validate' ? 'validate' : (kind.toLowerCase() as RecordEvent['type'])
    const event = (): RecordEvent & { readonly error: unknown } => ({ app, record, type, error })
    return hooks.trigger(`onModel${step}`, event(), tags, () => hooks.trigger(`onRecord${step}`, event(), tags, last))
  }
}

/** Gives the draft with what hooks have changed so far. */
function draftAfter(begun: Draft, record: HookRecord): () => Draft {
  let draft = begun
  return () => (draft = changedDraft(draft, record.changes.slice(draft.changes.length)))
}

/** Reads what a transaction has written so far: as the guard of a write that it refuses. */
export async function readWithin<T>(
  records: TransactionCollection<JsonObject>,
  read: (reader: GuardReader) => T,
  chance: Chance,
): Promise<T> {
  const refused = asRefusal(invalid(''))
  let found: { readonly value: T } | undefined
  const guard: DocumentGuard = ({ reader }) => {
    found = { value: read(reader) }
    return refused
  }
  await guarded(records, guard)
    .insert({ _id: randomText(chance, 32) })
    .catch((error: unknown) => {
      if (found === undefined) throw error
    })
  return found!.value
}

/** A write whose hooks have begun. */
export class HookedWrite {
  /** With what hooks have changed. */
  readonly operation: RecordOperation
  readonly #suspended: Suspended
  readonly #record: HookRecord
  readonly #stored: WrittenRecord | undefined

  constructor(suspended: Suspended, operation: RecordOperation, record: HookRecord, stored: WrittenRecord | undefined) {
    this.#suspended = suspended
    this.operation = operation
    this.#record = record
    this.#stored = stored
  }

  /** False: a hook has not called `next()`, so nothing is written. */
  get isWanted(): boolean {
    return this.#suspended.wantsRest
  }

  /** The result of a write that no hook wants: the record as it is; nothing for a delete. */
  unwritten(): WrittenRecord | undefined {
    if (this.operation.action === 'delete') return undefined
    if (this.#stored === undefined) throw invalid('A hook has stopped the request: it has not called next().')
    return this.#stored
  }

  /** Resolves with what is stored then: a hook may have saved the record again. @throws what a hook throws now; it is written all the same */
  async succeeded<Written extends WrittenRecord | undefined>(written: Written): Promise<Written> {
    if (written !== undefined) this.#record.settle(written.document)
    await this.#suspended.resume()
    return written && { ...written, document: this.#record.document! }
  }

  /** @throws `error`, or what a hook makes of it */
  failed(error: unknown): Promise<never> {
    return this.#suspended.fail(error)
  }
}

const KINDS: Readonly<Record<'create' | 'update' | 'delete', Kind>> = {
  create: 'Create',
  update: 'Update',
  delete: 'Delete',
}

/** The events of a write. */
function namesOf(kind: Kind): readonly HookName[] {
  const steps: readonly Step[] = ['Validate', kind, `${kind}Execute`, `After${kind}Success`, `After${kind}Error`]
  const names = steps.flatMap((step) => [`onModel${step}` as const, `onRecord${step}` as const])
  return [`onRecord${kind}Request`, ...names.filter((name) => kind !== 'Delete' || !name.endsWith('Validate'))]
}

const ALL_NAMES: readonly HookName[] = Object.values(KINDS).flatMap(namesOf)
