/** The documents of a collection that have conflicts, and how one is settled. */
import { Choice } from './choice.ts'
import { Model } from './model.ts'
import type { JsonObject, Source } from './source.ts'

/** More conflicts are only counted. */
const CONFLICTS_MAX = 200

export class ConflictsModel extends Model {
  readonly collection: string
  ids: readonly string[] = []
  /** The total number of these documents. */
  total = 0
  id: string | undefined
  choice: Choice | undefined
  readonly #source: Source
  #revs = ''

  constructor(source: Source, collection: string) {
    super()
    this.#source = source
    this.collection = collection
  }

  async refresh(): Promise<void> {
    // The collections of a client have no conflicts: its server refuses a write that has one.
    if (this.#source.client !== undefined || this.#source.ended !== undefined) return
    const found = await this.attempt(() => this.#source.collection(this.collection).conflicts())
    if (found === undefined) return
    this.total = found.length
    this.ids = found.slice(0, CONFLICTS_MAX).map(({ id }) => id)
    this.changed()
  }

  async select(id: string): Promise<void> {
    const leaves = await this.attempt(() => this.#leaves(id))
    if (leaves === undefined) return
    this.id = id
    this.#revs = revsOf(leaves)
    const title = (at: number, rev: unknown): string => `${at === 0 ? 'Wins now' : `Other ${at}`} · ${String(rev)}`
    this.choice = new Choice(
      leaves.map((values, at) => ({ title: title(at, values['_rev']), values, isChoosable: true })),
    )
    this.changed()
  }

  choose(field: string, side: number): void {
    this.choice?.choose(field, side)
    this.changed()
  }

  chooseAll(side: number): void {
    this.choice?.chooseAll(side)
    this.changed()
  }

  /** Stores what was chosen, and ends the conflict. False: the document has changed meanwhile, and is shown as it is now. */
  async settle(): Promise<boolean> {
    const { id, choice } = this
    if (id === undefined || choice === undefined) return false
    let isSame = false
    const settled = await this.attempt(() =>
      this.#source.collection(this.collection).resolve(id, (leaves) => {
        isSame = revsOf(leaves) === this.#revs
        return isSame ? { ...choice.merged, _id: id } : undefined
      }),
    )
    if (settled === undefined) return false
    if (!isSame) {
      await this.select(id)
      this.error = 'The document has changed meanwhile. These are its versions now.'
      this.changed()
      return false
    }
    this.id = this.choice = undefined
    await this.refresh()
    return true
  }

  async #leaves(id: string): Promise<readonly JsonObject[]> {
    const found = await this.#source.collection(this.collection).getRevisions(id, 'all')
    return found.flatMap((result) => ('ok' in result && result.ok._deleted !== true ? [result.ok as JsonObject] : []))
  }
}

function revsOf(leaves: readonly object[]): string {
  return leaves.map((leaf) => (leaf as JsonObject)['_rev']).join()
}
