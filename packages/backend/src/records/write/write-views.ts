/**
 * The rows of views that rules of writes read, as the write sees them: what it has written itself, too. A write can't wait for another
 * process, so it ends where rows are missing, and is made again with them.
 */
import { RuleError } from '@pannier/rules'
import { LruMap, type GuardReader } from 'pannier/internal'
import type { Definition, ViewDefinition } from '../../definitions/definition.ts'
import { documentMaker } from '../../definitions/views/view-documents.ts'
import { SqlRefusal } from '../../definitions/views/view-queries.ts'
import type { JsonObject } from '../../gateway/documents.ts'
import type { Overlay } from '../../model/protocol.ts'
import type { ReadModel, ReadyView } from '../../model/read-model.ts'

/** Thrown by a guard to have a write prepared again: what it was prepared with has changed. */
export class OutdatedWrite extends Error {}

/** The write reads rows of a view that are not here. */
export class MissingRows extends OutdatedWrite {
  /** Loads the rows. */
  readonly load: () => Promise<void>

  constructor(load: () => Promise<void>) {
    super('The rows of a view are read first.')
    this.load = load
  }
}

/** Rows that a rule may try in a write, as others wait for it. */
const ROWS_MAX = 50_000
/** States whose rows are kept: each write of a batch sees another one. */
const STATES_MAX = 100
/** Each operation of a batch may read another state. */
const LOADS_MAX = 200

interface KnownView {
  readonly ready: ReadyView
  readonly rows: LruMap<string, readonly JsonObject[] | RuleError>
}

type ViewModel = Pick<ReadModel, 'ready' | 'upTo' | 'overlays' | 'rows'>

export class WriteViews {
  readonly #model: ViewModel
  /** A definition that changes is another object, and so is one that a view reads. */
  #known = new WeakMap<readonly Definition[], Map<string, KnownView | RuleError>>()

  constructor(model: ViewModel) {
    this.#model = model
  }

  /** @throws MissingRows; RuleError for a view that no longer fits what it reads, or has too many rows */
  rows(view: ViewDefinition, all: readonly Definition[], reader: GuardReader): readonly JsonObject[] {
    const views = this.#known.get(all) ?? new Map<string, KnownView | RuleError>()
    this.#known.set(all, views)
    const known = views.get(view.id)
    if (known === undefined) throw new MissingRows(async () => void views.set(view.id, await this.#viewOf(view)))
    if (known instanceof RuleError) throw known
    const { ready, rows } = known
    const state = stateOf(ready.collections, reader)
    const found = rows.get(state)
    if (found instanceof RuleError) throw found
    if (found !== undefined) return found
    const overlays = this.#model.overlays(ready, reader)
    if (overlays === undefined) throw tooMany(view)
    if (overlays === 'behind') throw new MissingRows(async () => void (await this.#model.upTo(ready)))
    throw new MissingRows(async () => {
      const made = await this.#made(view, ready, overlays)
      rows.set(state, made)
    })
  }

  async #viewOf(view: ViewDefinition): Promise<KnownView | RuleError> {
    try {
      const ready = await this.#model.ready(view)
      // From now on few documents are ahead of it.
      await this.#model.upTo(ready)
      return { ready, rows: new LruMap(STATES_MAX) }
    } catch (error) {
      return errorOf(view, error)
    }
  }

  async #made(
    view: ViewDefinition,
    { request, ...ready }: ReadyView,
    overlays: readonly Overlay[],
  ): Promise<readonly JsonObject[] | RuleError> {
    try {
      const limited = { ...request, overlays, limit: ROWS_MAX + 1 }
      const { columns, rows } = await this.#model.rows({ ...ready, request: limited })
      return rows.length > ROWS_MAX ? tooMany(view) : rows.map(documentMaker(view, columns))
    } catch (error) {
      return errorOf(view, error)
    }
  }
}

/** Runs again what has missed rows of views, when they are here. */
export async function withViewRows<T>(run: () => Promise<T>): Promise<T> {
  for (let loads = 0; ; loads++) {
    try {
      return await run()
    } catch (error) {
      if (!(error instanceof MissingRows) || loads === LOADS_MAX) throw error
      await error.load()
    }
  }
}

/** Another text if anything is in another state, or was written otherwise. */
function stateOf(collections: ReadyView['collections'], reader: GuardReader): string {
  const states = collections.map(({ collection: name }) => {
    const { number = 0, sequence = 0 } = reader.lastWrite(name) ?? {}
    const [newest] = sequence === 0 ? [] : reader.writtenAfter(name, sequence - 1)
    return [number, sequence, newest?.document._id, newest?.document._rev]
  })
  return JSON.stringify(states)
}

function errorOf({ name }: ViewDefinition, error: unknown): RuleError {
  if (error instanceof SqlRefusal) return new RuleError('unknown', `The view "${name}": ${error.message}`, 0)
  throw error
}

function tooMany({ name }: ViewDefinition): RuleError {
  return new RuleError('limit', `Too many rows of the view "${name}" are read.`, 0)
}
