/** Answers parts of a condition by columns: what is searched in texts, and what is asked of the values of a field. */
import {
  combine,
  isAlways,
  leavesOf,
  type Condition,
  type ContainsCondition,
  type FieldCondition,
  type LeafCondition,
} from '../ast/normalise.ts'
import { isOnePoint } from '../ast/value-set.ts'
import { compileCondition } from '../match.ts'
import type { Plan, Planned, QuerySpecification } from '../planner/plan.ts'
import { COLUMNS_USE, type QuerySource } from '../query-source.ts'
import { columnsOf, type ColumnStore } from './column-store.ts'
import type { NumberSet } from '../sets/number-set.ts'
import { TextColumn } from './text-column.ts'

/** The query of `withColumns`, as columns leave it. `plan`: for what is asked. */
export async function answerByColumns(
  source: QuerySource,
  query: QuerySpecification,
  asked: QuerySpecification,
  plan: Plan,
  check: () => void,
): Promise<Planned> {
  const columns = columnsOf(source)!
  // The values of related documents change without a write here.
  const isOwn = query.sort.every(({ path, through = { path } }) => through.path === path)
  if (isAlways(query.condition) && isOwn)
    return { query, plan, narrow: (of) => pageOfOrder(columns, source, of, check) }
  const ends = asked.sort.length === 0 && asked.limit < Infinity
  if (!leavesOf(query.condition).some((leaf) => isForColumns(source, leaf, ends))) return { query, plan }
  return { query: { ...query, condition: await new Answer(columns, source, ends, check).of(query.condition) } }
}

/** A query for the documents of a page alone, by an order of all that is kept; the query itself where no order is kept. */
async function pageOfOrder(
  columns: ColumnStore,
  source: QuerySource,
  query: QuerySpecification,
  check: () => void,
): Promise<QuerySpecification> {
  const { sort, skip, limit } = query
  const isPage = limit <= source.documents.count() * COLUMNS_USE.costShareMin
  const column = isPage ? await columns.order(source, query, check) : undefined
  if (column === undefined || !columns.isTrue(column, source)) return query
  return { ...query, condition: { kind: 'numbers', numbers: column.page(skip, limit), column: sort[0]!.path }, skip: 0 }
}

/**
 * Whether a column may answer it. Columns look for text, and for values of a field without an index. Where a field has a
 * multi index, they look for several values.
 *
 * @param ends Its query may end after a few documents: then what has no index is tested on these.
 */
function isForColumns({ indexes }: QuerySource, leaf: LeafCondition, ends: boolean): boolean {
  if (leaf.kind === 'contains') return !leaf.negated
  const serving = indexes.filter(({ fields }) => fields.some(({ path }) => path === leaf.path))
  const isAsked = serving.length === 0 ? !ends : serving.some(({ multi }) => multi)
  if (leaf.kind === 'elements') return isAsked && leaf.which !== 'keys'
  if (leaf.kind !== 'within' || leaf.whole || leaf.self) return false
  return isAsked && !(serving.length > 0 && isOnePoint(leaf.values))
}

class Answer {
  readonly #columns: ColumnStore
  readonly #source: QuerySource
  readonly #ends: boolean
  readonly #check: () => void

  constructor(columns: ColumnStore, source: QuerySource, ends: boolean, check: () => void) {
    this.#columns = columns
    this.#source = source
    this.#ends = ends
    this.#check = check
  }

  async of(condition: Condition): Promise<Condition> {
    switch (condition.kind) {
      case 'and':
      case 'or': {
        const parts: Condition[] = []
        for (const part of condition.of) parts.push(await this.of(part))
        return combine(condition.kind, parts)
      }
      case 'complement':
        return { kind: 'complement', of: await this.of(condition.of) }
      case 'contains':
      case 'within':
      case 'elements':
        return isForColumns(this.#source, condition, this.#ends) ? this.#ofLeaf(condition) : condition
      default:
        return condition
    }
  }

  async #ofLeaf(leaf: FieldCondition): Promise<Condition> {
    const { path } = leaf
    const numbers = leaf.kind === 'contains' ? await this.#containing(leaf) : await this.#meeting(leaf)
    return numbers === undefined ? leaf : { kind: 'numbers', numbers, column: path }
  }

  async #containing({ path, text, fold }: ContainsCondition): Promise<NumberSet | undefined> {
    if (!TextColumn.canFind(text)) return undefined
    const column = await this.#columns.text(this.#source, path, this.#check, fold)
    return column && this.#columns.isTrue(column, this.#source) ? column.containing(text) : undefined
  }

  async #meeting(leaf: FieldCondition): Promise<NumberSet | undefined> {
    const column = await this.#columns.select(this.#source, leaf.path, this.#check)
    const test = compileCondition<unknown>(leaf, () => (value) => value)
    return column && this.#columns.isTrue(column, this.#source) ? column.where(test) : undefined
  }
}
