/** Makes messages of what a step has changed: who gets them, and what they show of the record. */
import type { Access } from '../access/access.ts'
import type { KnownDefinitions } from '../access/rule-records.ts'
import type { Definition } from '../definitions/definition.ts'
import { DEFINITIONS_COLLECTION } from '../definitions/store.ts'
import { recordsName } from '../definitions/definition.ts'
import { ServiceError } from '../gateway/service-error.ts'
import type { RecordSnapshot } from '../records/read/record-snapshot.ts'
import type { FoundRecords, RecordReads } from '../records/record-reads.ts'
import type { RecordJson, ShowOptions } from '../records/record-types.ts'
import type { CommitStep } from './commit-states.ts'
import { admittedGroups } from './group-rules.ts'
import { changesIn, type RecordChange } from './record-changes.ts'
import type { SubscriptionGroup, SubscriptionGroups } from './subscription-groups.ts'
import { Slices } from './slices.ts'

/** The change of a record. `leave`: it is there, but does not meet the rule or the filter any more. */
type RecordAction = 'create' | 'update' | 'delete' | 'leave'

/** The data of a message about a record. */
export interface RecordEvent {
  readonly record: RecordJson
  readonly action: RecordAction
}

/** A message that hooks have still to make. Equal accounts share it, so it is made once. */
export interface LateEvent {
  /** Bytes that are held until it is made, about. */
  bytes(): number
  /** Undefined: a hook has refused it. @throws ServiceError UNAVAILABLE if a hook takes too long */
  make(): Promise<RecordEvent | undefined>
}

interface MessagesOptions {
  readonly definitions: KnownDefinitions
  readonly access: Access
  readonly reads: Pick<RecordReads, 'snapshotOf' | 'findIn'>
}

/** The audience of messages. */
interface Audience {
  readonly groups: SubscriptionGroups
  /** Whether all changes of a collection are to be given to `changed`. */
  watches(definition: Definition): boolean
  /** Looks at a change, before anything but deletes is sent. */
  changed(change: RecordChange): void
  /** The deletes are sent, and the other changes come. */
  deletesSent(): void
  /** The rules of a group have tried rows. */
  spent(group: SubscriptionGroup, rows: number): void
  /** Sends a message about one change to a group. `place`: of the change in its step. What it gives is waited for. */
  send(group: SubscriptionGroup, event: RecordEvent | LateEvent, place: number): void | Promise<void>
}

/** The states before and after a step, for rules and expanded records. */
interface States {
  readonly before: RecordSnapshot
  readonly after: RecordSnapshot
}

/** Changes of a step that are held in memory; those of a larger one are read twice. */
const HELD_MAX = 1024

export class RecordMessages {
  readonly #options: MessagesOptions

  constructor(options: MessagesOptions) {
    this.#options = options
  }

  /**
   * Sends the changes of a step: the deletes, then the others, each kind in the order of writes. What changes definitions is no
   * news of records.
   */
  async notify(step: CommitStep, audience: Audience): Promise<void> {
    if (step.collections.has(DEFINITIONS_COLLECTION)) return
    const { definitions, reads } = this.#options
    const told = definitions
      .all()
      .filter(
        (definition) =>
          step.collections.has(recordsName(definition)) &&
          (audience.groups.concern(definition) || audience.watches(definition)),
      )
    if (told.length === 0) return
    const states = { before: reads.snapshotOf(step.before), after: reads.snapshotOf(step.after) }
    const held = await firstChanges(step, told)
    const changes = held.length > HELD_MAX ? undefined : held
    let place = 0
    for await (const change of changes ?? allChanges(step, told)) {
      if (audience.watches(change.definition)) audience.changed(change)
      if (change.document === undefined) await this.#notifyChange(change, states, audience, place++)
    }
    audience.deletesSent()
    for await (const change of changes ?? allChanges(step, told))
      if (change.document !== undefined) await this.#notifyChange(change, states, audience, place++)
  }

  async #notifyChange(
    change: RecordChange,
    { before, after }: States,
    audience: Audience,
    place: number,
  ): Promise<void> {
    const groups = this.#groupsOf(change, audience.groups)
    if (groups.length === 0) return
    const { document, old, records } = change
    const state = document === undefined ? before : after
    const spent = audience.spent.bind(audience)
    const admitted = new Set(await admittedGroups(state, groups, records[0]!, spent))
    const asking = document === undefined || old === undefined ? [] : groups.filter(asksForLeaves)
    const others = asking.filter((group) => !admitted.has(group))
    const left = others.length === 0 ? [] : await admittedGroups(before, others, records[1]!, spent)
    const shown = new SharedEvents(this.#options.reads, state, change)
    const told: (readonly [SubscriptionGroup, RecordEvent | LateEvent])[] = []
    const slices = new Slices(state.environment)
    for (const group of admitted) {
      told.push([group, await shown.to(group)])
      await slices.next()
    }
    for (const group of left) told.push([group, leaving(change)])
    // A client that comes back gets what it has not got: so the order is always the same.
    told.sort(([one], [other]) => (one.topic.text < other.topic.text ? -1 : 1))
    for (const [group, event] of told) await audience.send(group, event, place)
  }

  #groupsOf({ definition, id, records }: RecordChange, groups: SubscriptionGroups): readonly SubscriptionGroup[] {
    const { schema } = this.#options.definitions
    return [definition.name, definition.id].flatMap((collection) => [
      // The older form of the next one.
      ...groups.find({ name: collection, definition, action: 'list', records, schema }),
      ...groups.find({ name: `${collection}/*`, definition, action: 'list', records, schema }),
      ...groups.find({ name: `${collection}/${id}`, definition, action: 'view', records, schema }),
    ])
  }
}

async function* allChanges(step: CommitStep, definitions: readonly Definition[]): AsyncGenerator<RecordChange> {
  for (const definition of definitions) for await (const batch of changesIn(step, definition)) yield* batch
}

/** All changes, or more than `HELD_MAX`. */
async function firstChanges(step: CommitStep, definitions: readonly Definition[]): Promise<readonly RecordChange[]> {
  const changes: RecordChange[] = []
  for await (const change of allChanges(step, definitions)) {
    changes.push(change)
    if (changes.length > HELD_MAX) break
  }
  return changes
}

/** Clients ask for it by `leave: true` among the options of the topic. */
function asksForLeaves({ topic: { query } }: SubscriptionGroup): boolean {
  return query['leave'] === 'true'
}

/** The message that a record leaves: its new values are not for the client. */
function leaving({ definition, id }: RecordChange): RecordEvent {
  return { record: { collectionId: definition.id, collectionName: definition.name, id }, action: 'leave' }
}

/** The records of one change as groups see them. Groups that see the same share an object. */
class SharedEvents {
  readonly #reads: Pick<RecordReads, 'findIn'>
  readonly #state: RecordSnapshot
  readonly #change: RecordChange
  readonly #shared = new Map<string, Promise<RecordEvent>>()

  constructor(reads: Pick<RecordReads, 'findIn'>, state: RecordSnapshot, change: RecordChange) {
    this.#reads = reads
    this.#state = state
    this.#change = change
  }

  async to({ topic, actor }: SubscriptionGroup): Promise<RecordEvent | LateEvent> {
    const { definition, old, document } = this.#change
    const { expand = '', fields = '' } = topic.query
    const action = document === undefined ? 'delete' : old === undefined ? 'create' : 'update'
    const find = (options: ShowOptions): Promise<FoundRecords> =>
      this.#reads.findIn(this.#state, actor, definition, [(document ?? old)!], options)
    const found = await find({ expand, fields }).catch((error: unknown) => {
      if (!(error instanceof ServiceError)) throw error
      // As PocketBase: who names what is wrong gets all.
      return find({ expand })
    })
    const show = async (): Promise<RecordEvent> => ({ record: (await found.show())[0]!, action })
    if (found.sameFor !== undefined) {
      const shared = this.#shared.get(found.sameFor) ?? show()
      this.#shared.set(found.sameFor, shared)
      return shared
    }
    if (!found.isEnriched) return show()
    let made: Promise<RecordEvent | undefined> | undefined
    return { bytes: () => found.bytes(), make: () => (made ??= show().catch(refused)) }
  }
}

/** Ignores an error of a hook, which keeps the message from its group. Other errors are thrown. */
function refused(error: unknown): undefined {
  if (!(error instanceof ServiceError) || error.code === 'UNAVAILABLE') throw error
}
