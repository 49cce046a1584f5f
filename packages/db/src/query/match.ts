/**
 * Compiles a condition into a test of rows. What a row is (an encoded body, an entry of an index) only the field readers
 * know: they read one field and nothing else.
 */
import { unreachable } from '../base/assert.ts'
import { isArrayLike } from '../codec/collation.ts'
import type { Condition, RegexCondition, WithinCondition } from './ast/normalise.ts'
import { compileSet } from './ast/value-set.ts'

export type ReadField<Row> = (row: Row) => unknown
export type Test<Row> = (row: Row) => boolean

/** `reader` gives the function that reads the field at a path. */
export function compileCondition<Row>(condition: Condition, reader: (path: string) => ReadField<Row>): Test<Row> {
  switch (condition.kind) {
    case 'within':
      return compileWithin(condition, reader(condition.path))
    case 'regex':
      return compileRegex(condition, reader(condition.path))
    case 'and':
    case 'or': {
      const all = condition.kind === 'and'
      const tests = condition.of.map((part) => compileCondition(part, reader))
      return (row) => {
        for (let at = 0; at < tests.length; at++) if (tests[at]!(row) !== all) return !all
        return all
      }
    }
    default:
      return unreachable(condition)
  }
}

/** Every path that the condition reads. */
export function pathsOf(condition: Condition): readonly string[] {
  if (condition.kind === 'and' || condition.kind === 'or') return condition.of.flatMap(pathsOf)
  return [condition.path]
}

function compileWithin<Row>({ values, every, whole }: WithinCondition, read: ReadField<Row>): Test<Row> {
  const contains = compileSet(values)
  return (row) => {
    const value = read(row)
    if (typeof value !== 'object' || value === null || !isArrayLike(value)) return contains(value)
    if (whole && contains(value) !== every) return !every
    for (let at = 0; at < value.length; at++) if (contains(value[at]) !== every) return !every
    return every
  }
}

function compileRegex<Row>({ source, flags, negated }: RegexCondition, read: ReadField<Row>): Test<Row> {
  const expression = new RegExp(source, flags)
  return (row) => {
    const value = read(row)
    if (typeof value === 'string') return expression.test(value) !== negated
    if (!isArrayLike(value)) return negated && value !== undefined
    for (let at = 0; at < value.length; at++) {
      const element = value[at]
      if (typeof element === 'string' && expression.test(element)) return !negated
    }
    return negated
  }
}
