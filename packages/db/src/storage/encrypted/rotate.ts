/**
 * Rotates the data key: new writes are sealed with a new key. Then every existing page is sealed again, in slices,
 * while reads and writes continue. At the end the old key is dropped.
 *
 * Guarantees: at every moment the keyring holds the key of each page and record. If a rotation ends early (a crash, a
 * closed tab), the next call continues it. Relies on: `fence` makes every other handle read before it writes again, so
 * no handle uses the old key from then on. The store replaces pages only for a handle that knows its keyring, so a
 * handle that was asleep puts nothing back.
 */
import type { PageId } from '../../base/brand.ts'
import { retryWhenStale, RunningWork, type WorkOptions } from '../../base/long-work.ts'
import type { EncryptedPageStore } from './encrypted-page-store.ts'

interface RotationOptions extends Omit<WorkOptions, 'name'> {
  readonly fence: () => Promise<void>
}

/** The pages of a slice: some 500 KB. */
const SLICE_PAGES = 16

export async function rotateKey(store: EncryptedPageStore, options: RotationOptions): Promise<void> {
  const { vault } = store
  const { fence, ...work } = options
  const running = new RunningWork({ name: 'The key rotation', ...work })
  running.throwIfCancelled()
  await store.changeKeyring(async () => {
    // One that was begun is finished.
    if (vault.keyring.keys.length > 1) return undefined
    const ids = await store.listPages()
    return { keys: [...vault.keyring.keys, await vault.newKey(store.sequence, ids.at(-1) ?? 0)] }
  })
  const activeId = vault.active.id
  await fence()
  const ids = await store.listPages()
  for (let at = 0; at < ids.length; at += SLICE_PAGES) {
    // Again where another handle has changed the keyring meanwhile: it has let somebody in, say, or has finished the rotation.
    await retryWhenStale(
      () => resealPages(store, ids.slice(at, at + SLICE_PAGES)),
      async () => store.read(),
    )
    running.report(at + SLICE_PAGES, ids.length)
    await running.pause()
  }
  await store.changeKeyring(async () => {
    const active = vault.keyring.keys.at(-1)!
    // Another handle has finished it, or begins the next one.
    if (vault.keyring.keys.length === 1 || active.id !== activeId) return undefined
    return { keys: [active] }
  })
  await fence()
  running.complete()
}

/** Skips pages that were freed meanwhile, and pages that another handle has sealed already. */
async function resealPages(store: EncryptedPageStore, ids: readonly PageId[]): Promise<void> {
  const { vault, inner } = store
  const keyring = vault.keyringBytes
  const found = await inner.readPages(ids)
  const old = ids.flatMap((id, index) => {
    const bytes = found[index]
    return bytes === undefined || vault.isCurrent(bytes) ? [] : [{ id, bytes }]
  })
  if (old.length === 0) return
  const sealed = old.map(async ({ id, bytes }) =>
    store.sealPage({ id, bytes: await vault.open(store.placeOf(id), bytes) }),
  )
  await inner.replacePages(keyring, await Promise.all(sealed))
}
