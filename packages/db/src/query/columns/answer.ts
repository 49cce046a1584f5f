/** Answers parts of a condition by columns: what is searched in texts, and what is asked of the values of a field. */
import { combine, type Condition, type ContainsCondition, type FieldCondition } from '../ast/normalise.ts'
import { compileCondition } from '../match.ts'
import type { Planned, QuerySpecification } from '../planner/plan.ts'
import { isForColumns } from './column-use.ts'
import type { QuerySource } from '../query-source.ts'
import { columnsOf, type ColumnStore } from './column-store.ts'
import type { NumberSet } from '../sets/number-set.ts'
import { TextColumn } from './text-column.ts'

/** The same query, with sets of documents in place of what columns tell. `ends`: as of `isForColumns`. */
export async function answerByColumns(
  source: QuerySource,
  query: QuerySpecification,
  ends: boolean,
  check: () => void,
): Promise<Planned> {
  const columns = columnsOf(source)
  if (columns === undefined) return { query }
  return { query: { ...query, condition: await new Answer(columns, source, ends, check).of(query.condition) } }
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
