/**
 * Compiles a condition into a test of rows. Only the field readers know what a row is (an encoded body, an entry of an
 * index). They read one field and nothing else.
 */
import { assert, unreachable } from '../base/errors.ts'
import { isArrayLike } from '../codec/collation.ts'
import { collate } from '../codec/registered-collation.ts'
import { compileFieldPath, getField } from '../codec/field-path.ts'
import { type Condition, type ElementsCondition, type TestCondition, type WithinCondition } from './ast/normalise.ts'
import { compileSet } from './ast/value-set.ts'
import { regexTest } from './regex/check-regex.ts'
import type { StoredDocument } from '../document/document-reader.ts'

export type ReadField<Row> = (row: Row) => unknown
export type Test<Row> = (row: Row) => boolean

/**
 * `reader` gives the function that reads the field at a path. Regular expressions have to be loaded (check-regex.ts).
 * `numberOf` tells the number of a row's document; only conditions on numbers need it.
 */
export function compileCondition<Row>(
  condition: Condition,
  reader: (path: string) => ReadField<Row>,
  numberOf?: (row: Row) => number,
): Test<Row> {
  switch (condition.kind) {
    case 'numbers': {
      assert(numberOf !== undefined, 'these rows have no numbers')
      const { numbers } = condition
      return (row) => numbers.has(numberOf(row))
    }
    case 'complement': {
      const test = compileCondition(condition.of, reader, numberOf)
      return (row) => !test(row)
    }
    case 'within':
      return compileWithin(condition, reader(condition.path))
    case 'and':
    case 'or': {
      const all = condition.kind === 'and'
      const tests = condition.of.map((part) => compileCondition(part, reader, numberOf))
      return (row) => {
        for (let at = 0; at < tests.length; at++) if (tests[at]!(row) !== all) return !all
        return all
      }
    }
    case 'holds':
      return condition.compile(reader)
    default:
      // One that is related was resolved before.
      return compileTest(condition as TestCondition, reader(condition.path!))
  }
}

function compileWithin<Row>(condition: WithinCondition, read: ReadField<Row>): Test<Row> {
  const { values, every, whole, self, collation } = condition
  const isIn = compileSet(values)
  const contains = collation === undefined ? isIn : (value: unknown): boolean => isIn(collate(value, collation))
  if (self) return (row) => contains(read(row))
  return (row) => {
    const value = read(row)
    if (typeof value !== 'object' || value === null || !isArrayLike(value)) return contains(value)
    if (whole && contains(value) !== every) return !every
    for (let at = 0; at < value.length; at++) if (contains(value[at]) !== every) return !every
    return every
  }
}

function compileTest<Row>(condition: TestCondition, read: ReadField<Row>): Test<Row> {
  const { kind, path, negated } = condition
  const holds = valueTest(condition)
  const isOfElements =
    path !== '' && (kind === 'contains' || ((kind === 'regex' || kind === 'mod') && condition.arrays !== 'whole'))
  return (row) => {
    const value = read(row)
    if (value === undefined) return false
    if (!isOfElements || typeof value !== 'object' || !isArrayLike(value)) return holds(value) !== negated
    for (let at = 0; at < value.length; at++) if (holds(value[at])) return !negated
    return negated
  }
}

function valueTest(condition: TestCondition): Test<unknown> {
  switch (condition.kind) {
    case 'regex': {
      const found = regexTest(condition)
      return (value) => typeof value === 'string' && found(value)
    }
    case 'contains': {
      const fold = condition.fold?.key ?? foldText
      const text = fold(condition.text)
      return (value) => typeof value === 'string' && fold(value).includes(text)
    }
    case 'mod': {
      const { divisor, remainder } = condition
      return (value) => Number.isInteger(value) && (value as number) % divisor === remainder
    }
    case 'size':
      return (value) => isArrayLike(value) && value.length === condition.size
    case 'elements':
      return elementsTest(condition)
    default:
      return unreachable(condition)
  }
}

/**
 * Text as `$contains` compares it: in lower case by Unicode, whatever the language; the two small sigmas of Greek are
 * one. Accents count. A part of a text folds as it does alone, so a text contains what it contained before.
 */
export function foldText(text: string): string {
  return text.toLowerCase().replaceAll('ς', 'σ')
}

function elementsTest({ of, which }: ElementsCondition): Test<unknown> {
  const holds = compileCondition<unknown>(of, elementReader)
  if (which === 'keys') {
    return (value) =>
      typeof value === 'object' &&
      value !== null &&
      !isArrayLike(value) &&
      Object.keys(value).some((name) => holds(name))
  }
  const every = which === 'every'
  return (value) => {
    if (!isArrayLike(value) || value.length === 0) return false
    for (let at = 0; at < value.length; at++) if (holds(value[at]) !== every) return !every
    return every
  }
}

/** '' is the element itself. */
function elementReader(path: string): ReadField<unknown> {
  if (path === '') return (element) => element
  const compiled = compileFieldPath(path)
  return (element) => getField(element, compiled)
}

/** Fields of documents that are not content. */
const OWN_FIELDS: ReadonlySet<string> = new Set(['_id', '_rev', '_attachments'])

export function documentFields(path: string): ReadField<StoredDocument> {
  if (OWN_FIELDS.has(path)) return (document) => document[path]
  const compiled = compileFieldPath(path)
  // Their inner fields are not content.
  if (OWN_FIELDS.has(compiled.names[0]!)) return () => undefined
  return (document) => getField(document, compiled)
}
