/**
 * Answers the parts of a condition that columns answer faster than the planned walk would: what is searched in texts, and
 * what is asked of all elements of an array.
 */
import { combine, type Condition } from '../ast/normalise.ts'
import { compileCondition } from '../match.ts'
import { planQuery, type QuerySpecification } from '../planner/plan.ts'
import { COLUMNS_USE, isForColumns } from './column-use.ts'
import type { QuerySource } from '../query-source.ts'
import { columnsOf, type ColumnStore } from './column-store.ts'
import { TextColumn } from './text-column.ts'

/** As `withColumns` (query-run.ts). */
export async function answerByColumns(
  source: QuerySource,
  query: QuerySpecification,
  asked: QuerySpecification,
  check: () => void,
): Promise<QuerySpecification> {
  const columns = columnsOf(source)
  if (columns === undefined) return query
  const { cost } = await source.attempt(() => planQuery(source, asked))
  if (cost < source.documents.count() * COLUMNS_USE.costShareMin) return query
  return { ...query, condition: await answered(columns, source, query.condition, check) }
}

async function answered(
  columns: ColumnStore,
  source: QuerySource,
  condition: Condition,
  check: () => void,
): Promise<Condition> {
  switch (condition.kind) {
    case 'and':
    case 'or': {
      const parts: Condition[] = []
      for (const part of condition.of) parts.push(await answered(columns, source, part, check))
      return combine(condition.kind, parts)
    }
    case 'complement':
      return { kind: 'complement', of: await answered(columns, source, condition.of, check) }
    case 'contains': {
      const { path, text } = condition
      if (!isForColumns(source, condition) || !TextColumn.canFind(text)) return condition
      const column = await columns.text(source, path, check)
      return column === undefined ? condition : { kind: 'numbers', numbers: column.containing(text), column: path }
    }
    case 'within':
    case 'elements': {
      if (!isForColumns(source, condition)) return condition
      const column = await columns.select(source, condition.path, check)
      const test = compileCondition<unknown>(condition, () => (value) => value)
      return column === undefined ? condition : { kind: 'numbers', numbers: column.where(test), column: condition.path }
    }
    default:
      return condition
  }
}
