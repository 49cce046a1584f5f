/** Which collections are related, and how. `open` makes the graph of its declarations; queries and writes follow it. */

/** The fate of documents that refer to a deleted one. */
export type OnDelete = 'keep' | 'unset' | 'restrict' | 'cascade'

/** The long form of a relation. */
export interface RelationOptions {
  /** The name of the related collection. */
  readonly to: string
  /** The field holds an array of ids. False: it holds one id. */
  readonly many?: boolean
  /** A write fails if a document that it refers to does not exist. False by default: it may come later. */
  readonly check?: boolean
  /**
   * When a related document is deleted: 'keep' (default) leaves its id and 'unset' removes it. The delete is refused with
   * 'restrict'. It takes the documents that refer to it along with 'cascade'.
   */
  readonly onDelete?: OnDelete
}

/** `'users'`: one related document, its id in the field. `['permissions']`: many, an array of ids. */
export type RelationInput = string | readonly [to: string] | RelationOptions

/** Inputs for relations, by the field that holds the ids. */
export type RelationInputs = Readonly<Record<string, RelationInput>>

/** A declared relation, in full. */
export interface Relation extends Required<RelationOptions> {
  /** The collection whose documents hold the ids. */
  readonly from: string
  /** The field that holds them. */
  readonly field: string
  /**
   * 'cascade' and 'restrict' act only where no other id is left in the field; other documents lose the id. A single field becomes
   * the empty text.
   */
  readonly ofRecords?: true
  /** Is called with a document that loses an id. */
  readonly touch?: ((document: Record<string, unknown>) => void) | undefined
}

/** One step of a path: from a document to its related documents. */
export interface RelationStep {
  /** As paths name it: `author`, or for a back-relation `posts_via_author`. */
  readonly name: string
  readonly relation: Relation
  /** From `relation.to` to `relation.from`. */
  readonly back: boolean
  /** The collection to which the step leads. */
  readonly to: string
  /** True if the relation may lead to several documents. */
  readonly many: boolean
}

export class RelationGraph {
  readonly relations: readonly Relation[]
  readonly #steps = new Map<string, Map<string, RelationStep>>()

  /** The names of steps from one collection must differ. */
  constructor(relations: readonly Relation[]) {
    this.relations = relations
    for (const relation of relations) {
      const { from, field, to, many } = relation
      this.#add(from, { name: field, relation, back: false, to, many })
      this.#add(to, { name: backName(relation), relation, back: true, to: from, many: true })
    }
  }

  /** Collections that have relations, or to which one leads. */
  get collections(): readonly string[] {
    return [...this.#steps.keys()]
  }

  /** Relations whose ids documents of the collection hold. */
  relationsOf(collection: string): readonly Relation[] {
    return this.relations.filter(({ from }) => from === collection)
  }

  /** Relations that lead to documents of the collection. */
  relationsTo(collection: string): readonly Relation[] {
    return this.relations.filter(({ to }) => to === collection)
  }

  /** The steps from documents of the collection, forward and back, by name. */
  stepsOf(collection: string): ReadonlyMap<string, RelationStep> {
    return this.#steps.get(collection) ?? NO_STEPS
  }

  #add(collection: string, step: RelationStep): void {
    const steps = this.#steps.get(collection)
    if (steps === undefined) this.#steps.set(collection, new Map([[step.name, step]]))
    else steps.set(step.name, step)
  }
}

const NO_STEPS: ReadonlyMap<string, RelationStep> = new Map()

/** `posts_via_author`: how paths name the way back. */
export function backName({ from, field }: Pick<Relation, 'from' | 'field'>): string {
  return `${from}_via_${field}`
}
