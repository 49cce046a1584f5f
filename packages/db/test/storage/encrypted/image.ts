/** Copies of all that a storage holds, and storages that serve them. */
import type { PageId } from '../../../src/base/brand.ts'
import type { PageStore, DatabaseStorage, StoreState } from '../../../src/storage/page-store.ts'

/** All that a storage holds. */
export interface Image {
  readonly state: StoreState
  readonly pages: ReadonlyMap<PageId, Uint8Array>
}

export async function imageOf(storage: DatabaseStorage, name: string = 'x'): Promise<Image> {
  const store = await storage.open(name)
  const ids = await store.listPages()
  const bytes = await store.readPages(ids)
  const image = { state: await store.read(), pages: new Map(ids.map((id, at) => [id, bytes[at]!])) }
  await store.close()
  return image
}

/** Serves an image; takes no writes. */
export function storageOf({ state, pages }: Image): DatabaseStorage {
  const refuse = (): never => {
    throw new Error('nothing is written here')
  }
  const store: PageStore = {
    read(known) {
      const generation = state.meta?.generation ?? 0
      const after = known?.generation === generation ? known.sequence : 0
      return {
        meta: state.meta && { ...state.meta, bytes: state.meta.bytes.slice() },
        log: state.log
          .filter(({ sequence }) => sequence > after)
          .map((record) => ({ ...record, bytes: record.bytes.slice() })),
        keyring: state.keyring?.slice(),
        logSeal: state.logSeal?.slice(),
      }
    },
    readPages: (ids) => ids.map((id) => pages.get(id)?.slice()),
    listPages: () => [...pages.keys()],
    usedBytes: () => undefined,
    append: refuse,
    claim: refuse,
    stage: refuse,
    commit: refuse,
    putKeyring: refuse,
    replacePages: refuse,
    close: () => {},
  }
  let opened = 0
  return {
    kind: 'image',
    scope: 'process',
    identify: () => `image ${opened}`,
    has: async () => true,
    open: async () => (opened++, store),
    destroy: async () => {},
  }
}
