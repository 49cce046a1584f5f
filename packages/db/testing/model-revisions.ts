/**
 * A naive model of a document with its revisions: a table of them, walked whenever something is asked. What the library does
 * is compared with it.
 */

export type ModelContent = Readonly<Record<string, unknown>>

interface ModelRevision {
  parent: string | undefined
  readonly deleted: boolean
  /** Undefined: not kept. */
  content: ModelContent | undefined
}

export class ModelDocument {
  readonly revisions: Map<string, ModelRevision> = new Map()

  /** The winner first. */
  leaves(): string[] {
    const parents = new Set([...this.revisions.values()].map(({ parent }) => parent))
    return [...this.revisions.keys()].filter((rev) => !parents.has(rev)).sort((a, b) => (this.#beats(a, b) ? -1 : 1))
  }

  liveLeaves(): string[] {
    return this.leaves().filter((rev) => !this.deleted(rev))
  }

  /** The revision that wins, if it is live. */
  get live(): string | undefined {
    const [first] = this.leaves()
    return first === undefined || this.deleted(first) ? undefined : first
  }

  deleted(rev: string): boolean {
    return this.revisions.get(rev)!.deleted
  }

  content(rev: string): ModelContent | undefined {
    return this.revisions.get(rev)?.content
  }

  /** The revision and its ancestors, newest first. */
  path(rev: string): string[] {
    const path: string[] = []
    for (let at: string | undefined = rev; at !== undefined; at = this.revisions.get(at)!.parent) path.push(at)
    return path
  }

  /** Takes up a revision with its ancestors, newest first. */
  add(path: readonly string[], deleted: boolean, content: ModelContent, limit: number, history: boolean): void {
    const known = this.revisions.has(path[0]!)
    if (!known) this.revisions.set(path[0]!, { parent: undefined, deleted, content })
    for (let at = 0; at + 1 < path.length; at++) {
      const revision = this.revisions.get(path[at]!)!
      const parent = path[at + 1]!
      if (revision.parent !== undefined && revision.parent !== parent) break
      revision.parent = parent
      if (!this.revisions.has(parent))
        this.revisions.set(parent, { parent: undefined, deleted: false, content: undefined })
      // Only what was a leaf loses its content by this.
      if (!history) this.revisions.get(parent)!.content = undefined
    }
    this.stem(limit)
  }

  purge(leaf: string, limit: number): void {
    let rev: string | undefined = leaf
    while (rev !== undefined && this.leaves().includes(rev)) {
      const { parent }: ModelRevision = this.revisions.get(rev)!
      this.revisions.delete(rev)
      rev = parent
    }
    this.stem(limit)
  }

  compact(): void {
    const leaves = new Set(this.leaves())
    for (const [rev, revision] of this.revisions) if (!leaves.has(rev)) revision.content = undefined
  }

  /** Forgets what no leaf has among its newest `limit` revisions. */
  stem(limit: number): void {
    const kept = new Set(this.leaves().flatMap((leaf) => this.path(leaf).slice(0, limit)))
    for (const rev of this.revisions.keys()) if (!kept.has(rev)) this.revisions.delete(rev)
    for (const revision of this.revisions.values()) {
      if (revision.parent !== undefined && !kept.has(revision.parent)) revision.parent = undefined
    }
  }

  #beats(a: string, b: string): boolean {
    if (this.deleted(a) !== this.deleted(b)) return this.deleted(b)
    const [generationA, generationB] = [Number.parseInt(a, 10), Number.parseInt(b, 10)]
    if (generationA !== generationB) return generationA > generationB
    return a.slice(a.indexOf('-')) > b.slice(b.indexOf('-'))
  }
}
