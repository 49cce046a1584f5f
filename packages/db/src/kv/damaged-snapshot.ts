/**
 * A snapshot of a database whose log is damaged, so that it can't be written to. The part of the log that can be
 * replayed is written to pages in memory, over the stored pages, which do not change.
 *
 * Memory: the pages that the log has changed, a few MiB.
 */
import type { PageId } from '../base/brand.ts'
import { andThen } from '../base/async.ts'
import type { PageStore, StoreState } from '../storage/page-store.ts'
import { Checkpointer } from './checkpoint.ts'
import { ALONE } from '../storage/coordinator.ts'
import { Core } from './core.ts'
import { writeSnapshot, type SnapshotExport, type SnapshotOptions } from './write-snapshot.ts'

export async function snapshotOfDamaged(core: Core, work: SnapshotOptions): Promise<SnapshotExport> {
  const { generation, sequence } = core.state
  const release = core.hold(generation)
  try {
    const { meta, log } = await core.options.store.read()
    const store = storeInMemory(core.options.store, {
      meta,
      log: log.filter((record) => record.sequence <= sequence),
      keyring: undefined,
      logSeal: undefined,
    })
    const copy = new Core({ ...core.options, store, coordinator: ALONE })
    copy.adopt(await store.read())
    await new Checkpointer(copy).start()
    return { chunks: writeSnapshot(copy.state, copy.options, work), release }
  } catch (error) {
    release()
    throw error
  }
}

/** Reads go through to `below`; what is written is kept here. For one storage checkpoint. */
function storeInMemory(below: PageStore, start: StoreState): PageStore {
  let state = start
  const written = new Map<PageId, Uint8Array>()
  const refuse = (): never => {
    throw new Error('A copy in memory takes only one storage checkpoint.')
  }
  return {
    read: () => state,
    readPages(ids) {
      const others = ids.filter((id) => !written.has(id))
      if (others.length === 0) return ids.map((id) => written.get(id))
      return andThen(below.readPages(others), (found) => {
        const byId = new Map(others.map((id, at) => [id, found[at]]))
        return ids.map((id) => written.get(id) ?? byId.get(id))
      })
    },
    claim() {},
    stage(_, pages) {
      for (const { id, bytes } of pages) written.set(id, bytes.slice())
    },
    commit({ pages, meta }) {
      for (const { id, bytes } of pages) written.set(id, bytes.slice())
      state = { ...state, meta, log: [] }
    },
    append: refuse,
    putKeyring: refuse,
    replacePages: refuse,
    listPages: refuse,
    usedBytes: () => undefined,
    close() {},
  }
}
