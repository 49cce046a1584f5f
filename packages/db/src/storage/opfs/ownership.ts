/**
 * The ownership of the files of a database: of all its workers, in all tabs, the one that holds a Web Lock has it. The others queue for
 * the lock, so one of them gets it as soon as the owner's tab closes or dies. If a frozen owner gives no sign of life, the lock is
 * stolen.
 *
 * Where two workers can open the files (`readwrite-unsafe`), the first block of the file of pages names the last owner.
 * An owner that was frozen reads it before it does anything else with the files (`check`). A tab can freeze between two
 * tasks of a worker, but not within one.
 */
import { isPannierError, PannierError } from '../../base/errors.ts'
import { sameBytes } from '../../codec/bytes.ts'
import { deleteFiles, openFiles, type OpenFiles, readRange } from './access-files.ts'
import { FileDatabase } from './file-database.ts'

const TOKEN_BYTES = 16
/** So long files are waited for that were found to be kept, or that are empty. */
const SHORT_MS = 500

/** The files are another worker's by now. */
export class Moved extends Error {}

export class Ownership {
  database: FileDatabase | undefined
  /** True while the worker that got the lock opens the files: which takes long where a frozen owner keeps them. */
  isTaking = false
  readonly #name: string
  readonly #lockName: string
  readonly #token: Uint8Array = crypto.getRandomValues(new Uint8Array(TOKEN_BYTES))
  #files: OpenFiles | undefined
  #letGo: () => void = () => {}
  /** The patience after a wait for the worker that keeps the files: the next call need not wait as long again. */
  #patienceMs: number | undefined

  constructor(name: string) {
    this.#name = name
    this.#lockName = `pannier-opfs:${name}`
  }

  /**
   * Waits for the lock, takes the files and calls `owning`. From then on `database` is set, until the files are lost or
   * released. Resolves or fails then. `create` says whether to create a missing database; else `database` stays
   * undefined.
   */
  async own(options: LockOptions, create: () => boolean, owning: () => void): Promise<void> {
    let holds = false
    const hold = async (): Promise<void> => {
      holds = true
      const released = new Promise<void>((resolve) => (this.#letGo = resolve))
      this.isTaking = true
      await this.#take(create()).finally(() => (this.isTaking = false))
      owning()
      await released
    }
    try {
      await navigator.locks.request(this.#lockName, options, hold)
    } finally {
      if (holds) this.release()
    }
  }

  /** Throws Moved if the files are not this worker's any more. */
  check = (): void => {
    const files = this.#files
    if (files === undefined) throw new Moved()
    if (files.isShared && !sameBytes(readRange(files.pages, 0, TOKEN_BYTES), this.#token)) throw new Moved()
  }

  release(): void {
    this.database = undefined
    try {
      this.#files?.close()
    } finally {
      this.#files = undefined
      this.#letGo()
    }
  }

  /** Deletes the database. The lock is waited for so long, then stolen. */
  async destroy(patienceMs: number): Promise<void> {
    const waiting = AbortSignal.timeout(patienceMs)
    const remove = (): Promise<void> => this.#remove()
    try {
      await navigator.locks.request(this.#lockName, { signal: waiting }, remove)
    } catch (error) {
      if (!waiting.aborted || error instanceof PannierError) throw error
      await navigator.locks.request(this.#lockName, { steal: true }, remove)
    }
  }

  async #take(create: boolean): Promise<void> {
    const opening = openFiles(this.#name, create, this.check, this.#patienceMs)
    // Until it has succeeded.
    this.#patienceMs = SHORT_MS
    const files = await opening
    this.#patienceMs = undefined
    if (files === undefined) return
    this.#files = files
    try {
      if (files.isShared) files.takeOver(this.#token)
      this.database = new FileDatabase(files, crypto.getRandomValues(new Uint8Array(TOKEN_BYTES)))
    } catch (error) {
      this.release()
      throw error
    }
  }

  /** Empties the files first, so that a frozen tab that has them open keeps nothing of them. */
  async #remove(): Promise<void> {
    const files = await openFiles(this.#name, false, () => {})
    if (files === undefined) return
    if (files.isShared) files.takeOver(this.#token)
    for (const file of [...files.journals, files.pages]) file.truncate(file === files.pages ? TOKEN_BYTES : 0)
    files.close()
    if (!files.isShared) return deleteFiles(this.#name)
    // A frozen tab may have them open still: empty ones are no database.
    await deleteFiles(this.#name, SHORT_MS).catch((error: unknown) => {
      if (!isPannierError(error, 'PANNIER_BLOCKED')) throw error
    })
  }
}
