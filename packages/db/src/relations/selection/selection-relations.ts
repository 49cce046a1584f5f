/** What a query by a selection knows of relations: it resolves the selection, tests what that can't say, and fills sort values. */
import { isPromise } from '../../base/async.ts'
import type { Snapshot } from '../../kv/key-value-store.ts'
import type { StoredDocument } from '../../document/document-reader.ts'
import type { Condition } from '../../query/ast/normalise.ts'
import { MISSING, pointAt, intervalsOf } from '../../query/ast/value-set.ts'
import { entryRange } from '../../query/planner/key-ranges.ts'
import type { QuerySpecification, SortField, ValuesById } from '../../query/planner/plan.ts'
import type { QuerySource } from '../../query/query-source.ts'
import { NumberSetBuilder } from '../../query/sets/number-set.ts'
import { CollectionRelations } from '../collection-relations.ts'
import { numbersOf, type Run } from '../related-keys.ts'
import type { RelationGraph } from '../relation-graph.ts'

/** What a field of a sort counts as where it has no value. */
export type EmptyValues = Readonly<Record<string, '' | 0 | false>>

/** Documents whose bodies are read at a time. */
const BATCH_DOCUMENTS = 256

interface SelectionMeaning {
  /** Tells which documents are meant; undefined: all that meet the condition. May miss. */
  readonly residual: ((document: StoredDocument, snapshot: Snapshot) => boolean) | undefined
  readonly empty: EmptyValues
}

export class SelectionRelations extends CollectionRelations {
  readonly #meaning: SelectionMeaning

  constructor(graph: RelationGraph, collection: string, meaning: SelectionMeaning) {
    super(graph, collection)
    this.#meaning = meaning
  }

  protected override isPlain(query: QuerySpecification): boolean {
    const { residual, empty } = this.#meaning
    return residual === undefined && !query.sort.some(({ path }) => empty[path] !== undefined) && super.isPlain(query)
  }

  protected override async conditionFor(run: Run, source: QuerySource, given: Condition): Promise<Condition> {
    const condition = await super.conditionFor(run, source, given)
    const { residual } = this.#meaning
    if (residual === undefined) return condition
    const candidates = await numbersOf(run, source, condition)
    const { documents } = source
    const meant = new NumberSetBuilder()
    for (let at = 0; at < candidates.count;) {
      run.check()
      const numbers = candidates.page(at, BATCH_DOCUMENTS)
      const bodies = await run.source.attempt(() => documents.someBodiesOf(numbers))
      for (const [place, body] of bodies.entries()) {
        const document = documents.decode(body)
        if (await run.source.attempt(() => residual(document, documents.snapshot))) meant.add(numbers[place]!)
        const paused = run.source.pause()
        if (isPromise(paused)) await paused
      }
      at += bodies.length
    }
    return { kind: 'numbers', numbers: meant.build() }
  }

  protected override async sortFor(run: Run, source: QuerySource, field: SortField): Promise<SortField> {
    const { path } = field
    const { [path]: empty } = this.#meaning.empty
    const sorted = await super.sortFor(run, source, field, empty)
    if (empty === undefined || sorted.through !== undefined) return sorted
    const isFull = await run.source.attempt(() => hasNoEmpty(source, path))
    return isFull ? sorted : { ...sorted, through: { path, values: new OrEmpty(empty) } }
  }
}

/** Whether an index tells that every document has a value. */
function hasNoEmpty({ indexes, index }: QuerySource, path: string): boolean {
  const known = indexes.find(
    ({ fields, multi, where, collation, text, builtTo }) =>
      fields[0]!.path === path && !multi && (where ?? collation ?? text ?? builtTo) === undefined,
  )
  if (known === undefined) return false
  const tree = index(known)
  const { descending } = known.fields[0]!
  return [MISSING, pointAt(null)].every(
    (values) => tree.count(entryRange('', intervalsOf(values)[0]!, descending)) === 0,
  )
}

/** Gives each value itself, and another one for none. */
class OrEmpty implements ValuesById {
  readonly #empty: unknown

  constructor(empty: unknown) {
    this.#empty = empty
  }

  get(value: unknown): unknown {
    return value ?? this.#empty
  }
}
