/**
 * A page store that refuses to be written to while something is wrong with the database: what is stored then is all that there is to save it
 * from. Whatever the layers above may try, nothing of it is changed.
 */
import type { PannierError } from '../base/errors.ts'
import type { MaybePromise } from '../base/maybe-promise.ts'
import type { PageStore } from '../storage/page-store.ts'

/** `damage`: why it can't be written to at this time; undefined if it can. */
export function guardedStore(store: PageStore, damage: () => PannierError | undefined): PageStore {
  const unlessDamaged = <T>(write: () => MaybePromise<T>): MaybePromise<T> => {
    const error = damage()
    if (error !== undefined) throw error
    return write()
  }
  return {
    read: (known) => store.read(known),
    readPages: (ids, arrived) => store.readPages(ids, arrived),
    append: (record, durability, head) => unlessDamaged(() => store.append(record, durability, head)),
    claim: (token, generation, first) => unlessDamaged(() => store.claim(token, generation, first)),
    stage: (token, pages) => unlessDamaged(() => store.stage(token, pages)),
    commit: (commit) => unlessDamaged(() => store.commit(commit)),
    putHeader: (expected, header, durability) => unlessDamaged(() => store.putHeader(expected, header, durability)),
    replacePages: (header, pages) => unlessDamaged(() => store.replacePages(header, pages)),
    listPages: () => store.listPages(),
    usedBytes: () => store.usedBytes(),
    close: () => store.close(),
  }
}
