/** The relations of a query by a selection: it resolves the selection, tests what that can't say, and fills sort values. */
import { isPromise } from '../../base/async.ts'
import type { Snapshot } from '../../kv/key-value-store.ts'
import type { StoredDocument } from '../../document/document-reader.ts'
import { combine, conjuncts, leavesOf, type Condition, type WithinCondition } from '../../query/ast/normalise.ts'
import type { EmptyValues } from '../../query/aggregate/specification.ts'
import type { Cut } from '../../query/ast/value-set.ts'
import { CREATED } from '../../query/planner/access-path.ts'
import { hasNoEmpty } from '../../query/planner/no-empty.ts'
import type { QuerySpecification, SortField, ValuesById } from '../../query/planner/plan.ts'
import type { QuerySource } from '../../query/query-source.ts'
import { NumberSetBuilder } from '../../query/sets/number-set.ts'
import { CollectionRelations } from '../collection-relations.ts'
import { ALWAYS } from '../relate.ts'
import { numbersOf, type Run } from '../related-keys.ts'
import type { RelationGraph } from '../relation-graph.ts'

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

  get empty(): EmptyValues {
    return this.#meaning.empty
  }

  protected override isPlain(query: QuerySpecification): boolean {
    const { residual, empty } = this.#meaning
    if (leavesOf(query.condition).some(({ kind, path }) => kind === 'search' || path === CREATED)) return false
    return (
      residual === undefined && !query.sort.some(({ path }) => empty.get(path) !== undefined) && super.isPlain(query)
    )
  }

  protected override async conditionFor(run: Run, source: QuerySource, given: Condition): Promise<Condition> {
    const resolved = await super.conditionFor(run, source, given)
    const condition = combine('and', [resolved, ...(await numbersCreated(run, source, resolved))])
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
    const empty = this.#meaning.empty.get(path)
    const sorted = await super.sortFor(run, source, field, empty)
    if (empty === undefined || sorted.through !== undefined) return sorted
    const isFull = await run.source.attempt(() => hasNoEmpty(source, path))
    return isFull ? sorted : { ...sorted, through: { path, values: new OrEmpty(empty) } }
  }
}

/** Conditions on the order of creation as sets, for a walk in the order of creation. An index has that order within each value. */
async function numbersCreated(run: Run, source: QuerySource, condition: Condition): Promise<readonly Condition[]> {
  const parts = conjuncts(condition).filter(
    (part) => part.kind === 'within' && part.path === CREATED,
  ) as WithinCondition[]
  if (parts.length === 0) return []
  const all = await numbersOf(run, source, ALWAYS)
  return parts.map(({ values: [start, end] }) => {
    const numbers = all.above(lastBefore(start) ?? -1)
    const last = lastBefore(end)
    return { kind: 'numbers', numbers: last === undefined ? numbers : numbers.andNot(all.above(last)) }
  })
}

/** The last whole number before a cut. Undefined: the cut is between types. */
function lastBefore(cut: Cut | undefined): number | undefined {
  if (typeof cut?.value !== 'number') return undefined
  return cut.above ? cut.value : cut.value - 1
}

/** Gives each value itself, and another one for none. */
class OrEmpty implements ValuesById {
  /** The value for none. It is in the name of an order that is kept. */
  readonly empty: unknown

  constructor(empty: unknown) {
    this.empty = empty
  }

  get(value: unknown): unknown {
    return value ?? this.empty
  }
}
