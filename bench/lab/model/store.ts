/**
 * Keeps results in this browser between visits, in Pannier. Where nothing can be stored, they last until the page is
 * closed.
 */
import { open } from 'pannier'
import type { Collection, Database } from 'pannier'
import type { ResultFile } from '../../harness/results.ts'
import { checkResultFile } from './result-file.ts'

export interface KeptResult {
  readonly id: string
  /** 'stored': came with the page. */
  readonly origin: 'stored' | 'here' | 'imported'
  readonly file: ResultFile
  /** True while the plan is running: more is to come. */
  readonly running?: true
}

interface KeptDocument {
  readonly _id: string
  readonly origin: 'here' | 'imported'
  readonly file: ResultFile
}

export class ResultStore {
  readonly #results: Collection<KeptDocument> | undefined
  /** The problem that keeps results from being kept, if any. */
  readonly problem: string | undefined

  private constructor(database: Database | undefined, problem?: string) {
    this.#results = database?.collection<KeptDocument>('results')
    this.problem = problem
  }

  static async open(): Promise<ResultStore> {
    try {
      return new ResultStore(await open('pannier-lab'))
    } catch (error) {
      return new ResultStore(undefined, error instanceof Error ? error.message : String(error))
    }
  }

  /** Lists the kept results, newest first; unreadable ones are left out. */
  async list(): Promise<KeptResult[]> {
    const found = (await this.#results?.find().toArray()) ?? []
    return found
      .flatMap(({ _id, origin, file }) => {
        try {
          return [{ id: _id, origin, file: checkResultFile(file) }]
        } catch {
          return []
        }
      })
      .sort((a, b) => b.file.startedAt.localeCompare(a.file.startedAt))
  }

  async put({ id, origin, file }: KeptResult): Promise<void> {
    if (origin === 'stored') throw new TypeError('what comes with the page is not kept a second time')
    await this.#results?.upsert({ _id: id, origin, file })
  }

  async delete(id: string): Promise<void> {
    await this.#results?.delete(id)
  }
}
