/** The adapter: gives a database of PouchDB the methods that it asks for, on a database of the library. */
import { answer } from './failures.ts'
import { replaceBulkReads } from './bulk-reads.ts'
import { feedMethods } from './changes.ts'
import { FindIndexes } from './query/find-indexes.ts'
import { findMethod } from './query/find-method.ts'
import { replaceFronts } from './fronts.ts'
import { listMethods } from './lists.ts'
import { localMethods } from './local-documents.ts'
import type { AdapterMethods, Callback, Pouch, PouchOptions } from './pouch.ts'
import { queryMethods } from './query/query-methods.ts'
import { readMethods } from './reads.ts'
import { shareOf, type Share } from './shared-place.ts'
import { upkeepMethods } from './upkeep.ts'
import { wrappingOf } from './wrapping.ts'
import { writeMethods } from './writes.ts'

const NAME = 'pannier'

/** PouchDB calls it with the new database as `this`. */
function adapt(this: Pouch, options: PouchOptions, ready: Callback<Pouch>): void {
  const ending = new AbortController()
  const opening = shareOf(options)
  const methods: AdapterMethods = {
    _remote: false,
    type: () => NAME,
    ...readMethods(opening),
    ...listMethods(opening),
    ...feedMethods(opening, ending.signal),
    ...writeMethods(opening, options.deterministic_revs !== false),
    ...localMethods(opening),
    ...upkeepMethods(opening),
    ...endMethods(opening, ending),
  }
  Object.assign(this, methods)
  replaceFronts(this)
  const isWrapped = wrappingOf(this)
  replaceBulkReads(this, opening, isWrapped)
  const indexed = opening.then((place) => ({ ...place, indexes: new FindIndexes(place) }))
  // A database that does not open says so to each call of PouchDB's.
  indexed.catch(() => undefined)
  Object.defineProperties(this, {
    ...queryMethods(this, indexed, isWrapped),
    ...findMethod(this, indexed, isWrapped),
  })
  answer(ready, async () => {
    const { db } = await opening
    loseWith(db.closed, this, ending)
    return this
  })
}

/** An adapter as PouchDB takes it. */
interface Adapter {
  (this: Pouch, options: PouchOptions, ready: Callback<Pouch>): void
  /** Whether it works here. */
  valid(): boolean
  /** Whether PouchDB puts its prefix before names: in Node they are paths of files. */
  readonly use_prefix: boolean
}

export const adapter: Adapter = Object.assign(adapt, { valid: () => true, use_prefix: false })

function endMethods(opening: Promise<Share>, ending: AbortController): Pick<AdapterMethods, '_close' | '_destroy'> {
  return {
    _close: (callback) =>
      answer(callback, async () => {
        ending.abort()
        await (await opening).close()
      }),
    _destroy: (_options, callback) =>
      answer(callback, async () => {
        ending.abort()
        await (await opening).destroy()
        return { ok: true }
      }),
  }
}

/** Another tab, or another owner of the database, has destroyed it. All instances of the name hear of that, as when one of them does it. */
function loseWith(closed: Promise<unknown>, api: Pouch, ending: AbortController): void {
  let isKnown = false
  api.once('destroyed', () => (isKnown = true))
  void closed.then((reason) => {
    if (reason === undefined || api._closed || api._destroyed) return
    ending.abort()
    api._destroyed = true
    if (!isKnown) api.constructor.emit('destroyed', api.name)
  })
}
