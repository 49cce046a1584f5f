/**
 * Databases in files of an origin's private file system: `open(name, { storage: opfs() })`. A worker reads and writes
 * the files, one for each database of a page. In a dedicated worker the caller's own thread does it. Everything else is
 * as in any other storage.
 */
import { PannierError } from '../../base/errors.ts'
import { badArgument, checkOptions, type OptionNames } from '../../base/options.ts'
import type { Generation, PageId } from '../../base/brand.ts'
import type {
  Commit,
  Durability,
  GoneListener,
  KnownState,
  LogRecord,
  Page,
  PageArrived,
  PageStore,
  SharingScope,
  DatabaseStorage,
  StoreState,
} from '../page-store.ts'
import { hasFolder } from './folder.ts'
import {
  Link,
  noWorker,
  type FileThread,
  type Method,
  type PackedPages,
  type PostedCommit,
  type ToWorker,
} from './protocol.ts'

export interface OpfsOptions {
  /**
   * Starts the worker, whose script is `pannier/opfs-worker`. Give it if your bundler does not find the script, or it
   * comes from another place. A dedicated worker does not call it: it reads and writes the files itself.
   */
  readonly worker?: () => Worker
}

/** Pages of a commit are handed to the worker in parts of about this size. */
const PART_BYTES = 1024 * 1024

/** Pages of one answer. */
const PAGES_AT_ONCE = 32

/** Links of this page by name, as long as a handle is open. */
const links = new Map<string, { readonly link: Promise<Link>; handles: number }>()

const OPTIONS: OptionNames<OpfsOptions> = { worker: true }

/**
 * The files of a browser's private file system, as a storage.
 *
 * @throws PANNIER_UNAVAILABLE (`open`) where the browser has no private file system, lets the page keep no files, or can't start the worker.
 * @example
 * const db = await open('shop', { storage: firstOf(opfs(), indexedDb()) })
 */
export function opfs(options: OpfsOptions = {}): DatabaseStorage {
  checkOptions('opfs()', options, OPTIONS)
  const { worker = startWorker } = options
  return {
    kind: 'opfs',
    scope: 'origin' satisfies SharingScope,
    identify: (name) => `opfs:${name}`,
    has: async (name) => hasFileSystem() && hasFolder(name),
    open: (name) => openStore(name, worker),
    destroy: (name) => destroy(name, worker),
  }
}

/** Whether pages of this origin can have files; the browser may refuse all the same. Service workers see them, and can't open them. */
function hasFileSystem(): boolean {
  return 'getDirectory' in (globalThis.navigator?.storage ?? {})
}

function startWorker(): Worker {
  return new Worker(new URL('./opfs-worker.js', import.meta.url), { type: 'module', name: 'pannier-opfs' })
}

/** `first` is its first message. Only dedicated workers have access handles. */
async function connect(first: ToWorker, makeWorker: () => Worker): Promise<Link> {
  let thread: FileThread
  try {
    thread =
      'FileSystemSyncAccessHandle' in globalThis ? new (await import('./own-thread.ts')).OwnThread() : makeWorker()
  } catch (cause) {
    throw noWorker(cause)
  }
  // The caller's function gave a promise, or nothing.
  if (!thread?.postMessage) throw badArgument('opfs()', 'worker must return a Worker', thread)
  return new Link(first, thread)
}

async function openStore(name: string, makeWorker: () => Worker): Promise<PageStore> {
  let shared = links.get(name)
  const forget = (): void => {
    if (links.get(name) === shared) links.delete(name)
  }
  if (shared === undefined) links.set(name, (shared = { link: join(name, makeWorker, forget), handles: 0 }))
  const { link } = shared
  shared.handles++
  const leave = async (): Promise<void> => {
    if (--shared.handles > 0) return
    forget()
    await (await link).close()
  }
  try {
    return new OpfsPageStore(await link, leave)
  } catch (error) {
    forget()
    throw error
  }
}

async function join(name: string, makeWorker: () => Worker, gone: () => void): Promise<Link> {
  if (!hasFileSystem() || !('Worker' in globalThis || 'FileSystemSyncAccessHandle' in globalThis))
    throw new PannierError('PANNIER_UNAVAILABLE', 'Only pages and dedicated workers open files: use IndexedDB.')
  const link = await connect({ join: name }, makeWorker)
  link.onGone.push(gone)
  try {
    await link.ask('open', [])
    return link
  } catch (error) {
    link.terminate()
    throw error
  }
}

async function destroy(name: string, makeWorker: () => Worker): Promise<void> {
  const shared = links.get(name)
  links.delete(name)
  const link = await connect({ destroy: name }, makeWorker)
  try {
    await link.answer(0)
  } finally {
    link.terminate()
    const own = await shared?.link.catch(() => undefined)
    own?.lose()
    own?.terminate()
  }
}

class OpfsPageStore implements PageStore {
  readonly #link: Link
  readonly #leave: () => Promise<void>
  #closing: Promise<void> | undefined

  constructor(link: Link, leave: () => Promise<void>) {
    this.#link = link
    this.#leave = leave
  }

  read(known?: KnownState): Promise<StoreState> {
    return this.#ask<StoreState>('read', [known])
  }

  /** In parts, so that the caller works on one while the worker reads the next. */
  async readPages(ids: readonly PageId[], arrived?: PageArrived): Promise<readonly (Uint8Array | undefined)[]> {
    const parts: Promise<readonly (Uint8Array | undefined)[]>[] = []
    for (let from = 0; from < ids.length; from += PAGES_AT_ONCE) {
      const asked = this.#ask<(Uint8Array | undefined)[]>('readPages', [ids.slice(from, from + PAGES_AT_ONCE)])
      parts.push(
        asked.then((pages) => {
          pages.forEach((bytes, index) => bytes !== undefined && arrived?.(from + index, bytes))
          return pages
        }),
      )
    }
    return (await Promise.all(parts)).flat()
  }

  append({ sequence, bytes }: LogRecord, durability: Durability, logSeal?: Uint8Array): Promise<void> {
    return this.#ask('append', [{ sequence, bytes: exact(bytes) }, durability, logSeal && exact(logSeal)])
  }

  claim(token: string, expectedGeneration: Generation, _firstNewPageId: PageId): Promise<void> {
    return this.#ask('claim', [token, expectedGeneration])
  }

  stage(token: string, pages: readonly Page[]): Promise<void> {
    return this.#tellPages('stage', pages, (packed) => [token, packed])
  }

  async commit({ pages, meta, record, logSeal, ...commit }: Commit): Promise<void> {
    let put: { readonly name: string; count: number } | undefined
    let part: Page[] = []
    let bytes = 0
    const sending: Promise<void>[] = []
    try {
      for (const page of pages) {
        if (bytes >= PART_BYTES) {
          // One is written while the next is made.
          await sending.shift()
          put ??= { name: crypto.randomUUID(), count: 0 }
          put.count += part.length
          sending.push(this.#tellPages('put', part, (packed) => [put!.name, packed]))
          part = []
          bytes = 0
        }
        part.push(page)
        bytes += page.bytes.length
      }
      await Promise.all(sending)
    } catch (error) {
      await Promise.allSettled(sending)
      if (put !== undefined) await this.#ask('drop', [put.name]).catch(() => {})
      throw error
    }
    const rest = {
      ...commit,
      meta: { ...meta, bytes: exact(meta.bytes) },
      ...(record && { record: { ...record, bytes: exact(record.bytes) } }),
      ...(logSeal && { logSeal: exact(logSeal) }),
      ...(put !== undefined && { put }),
    }
    return this.#tellPages('commit', part, (packed) => [{ ...rest, pages: packed } satisfies PostedCommit])
  }

  putKeyring(expected: Uint8Array | undefined, keyring: Uint8Array, durability: Durability): Promise<void> {
    return this.#ask('putKeyring', [expected && exact(expected), exact(keyring), durability])
  }

  replacePages(keyring: Uint8Array, pages: readonly Page[]): Promise<void> {
    return this.#tellPages('replacePages', pages, (packed) => [exact(keyring), packed])
  }

  listPages(): Promise<PageId[]> {
    return this.#ask<PageId[]>('listPages', [])
  }

  usedBytes(): Promise<number> {
    return this.#ask<number>('usedBytes', [])
  }

  onGone(listener: GoneListener): void {
    this.#link.onGone.push(listener)
  }

  close(): Promise<void> {
    return (this.#closing ??= this.#leave())
  }

  #ask<T = void>(method: Method, parameters: readonly unknown[], transfer: Transferable[] = []): Promise<T> {
    if (this.#closing !== undefined) return Promise.reject(new PannierError('PANNIER_CLOSED', 'The handle is closed.'))
    return this.#link.ask(method, parameters, transfer) as Promise<T>
  }

  #tellPages(
    method: Method,
    pages: readonly Page[],
    parameters: (packed: PackedPages) => readonly unknown[],
  ): Promise<void> {
    const packed = pack(pages)
    return this.#ask(method, parameters(packed), [packed.bytes.buffer])
  }
}

function pack(pages: readonly Page[]): PackedPages {
  const lengths = pages.map(({ bytes }) => bytes.length)
  const bytes = new Uint8Array(lengths.reduce((sum, length) => sum + length, 0))
  let at = 0
  for (const page of pages) {
    bytes.set(page.bytes, at)
    at += page.bytes.length
  }
  return { ids: pages.map(({ id }) => id), lengths, bytes }
}

/** To post a view is to copy the whole buffer below it. */
function exact(bytes: Uint8Array): Uint8Array {
  return bytes.length === bytes.buffer.byteLength ? bytes : bytes.slice()
}
