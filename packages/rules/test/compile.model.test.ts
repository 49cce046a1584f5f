import fc from 'fast-check'
import { expect, test } from 'vitest'
import { times } from '../../../tools/test/seeds.ts'
import type { Selection } from 'pannier/types'
import { compile } from '../src/compile.ts'
import { bind, evaluate, parse, RuleError } from '../src/index.ts'
import type { BoundRule, RuleRecord, RuleRecords } from '../src/index.ts'
import { boundOf, finds, recordsOf, RECORDS_OF_WORLD, SCHEMA } from './answer.ts'
import { CASES, lineOf } from './cases.ts'
import { rule, world } from './random-world.ts'
import { RECORDS } from './world.ts'

/** Reads a selection as `selection.ts` defines it. An element of a list is a record with the field ''. */
function has(selection: Selection, collection: string, record: RuleRecord, records: RuleRecords): boolean {
  const also = (of: Selection, other: RuleRecord, to = collection): boolean => has(of, to, other, records)
  switch (selection.kind) {
    case 'and':
      return selection.of.every((part) => also(part, record))
    case 'or':
      return selection.of.some((part) => also(part, record))
    case 'not':
      return !also(selection.of, record)
    case 'compare':
      return compares(selection, collection, record)
    case 'search':
      return finds(collection, record, selection.text)
    case 'test':
      return selection.holds(record)
    case 'element':
      return ((record[selection.field] ?? []) as readonly string[]).some((value) => also(selection.of, { '': value }))
    case 'created':
      throw new Error('compile() makes no such selection')
    case 'related': {
      const { step, collection: to, field, on, of } = selection
      const ids = [(record[field] ?? []) as string | readonly string[]].flat()
      const found =
        step === 'to'
          ? ids.map((id) => records.get(to, id)).filter((other) => other !== null && other !== undefined)
          : step === 'from'
            ? records.via(to, field, record['id'] as string).records
            : records.all(to).records
      const paired = (other: RuleRecord): boolean =>
        on.every(([theirs, own]) => (other[theirs] ?? '') === (record[own] ?? ''))
      return found.some((other) => paired(other) && also(of, other, to))
    }
  }
}

const EMPTY: Readonly<Record<string, unknown>> = { number: 0, bool: false }

function compares(
  { field, isLength, operator, value }: Extract<Selection, { readonly kind: 'compare' }>,
  collection: string,
  record: RuleRecord,
): boolean {
  const type = SCHEMA.find(collection)!.fields.get(field)?.type ?? ''
  const stored = isLength ? ((record[field] ?? []) as readonly string[]).length : (record[field] ?? EMPTY[type] ?? '')
  expect(typeof stored).toBe(typeof value)
  const [one, other] = [stored as string, value as string]
  if (operator === 'contains') return fold(one).includes(fold(other))
  const order = one < other ? -1 : one > other ? 1 : 0
  return { '=': order === 0, '<': order < 0, '<=': order <= 0, '>': order > 0, '>=': order >= 0 }[operator]
}

function fold(text: string): string {
  return text.replaceAll(/[A-Z]/g, (letter) => letter.toLowerCase())
}

/** The selection has all records that the rule admits, and no others if it is exact. */
function isRight(what: string, bound: BoundRule, all: readonly RuleRecord[], records: RuleRecords): boolean {
  const { selection, isExact } = compile(bound, records)
  for (const record of all) {
    const admitted = evaluate(bound, record, records) === true
    const selected = has(selection, bound.collection.name, record, records)
    const said = isExact ? selected : selected || !admitted
    expect([what, record['id'], JSON.stringify(selection), said]).toEqual([
      what,
      record['id'],
      JSON.stringify(selection),
      isExact ? admitted : true,
    ])
  }
  return isExact
}

test('a compiled case selects what the evaluator admits', () => {
  let [exact, all] = [0, 0]
  for (const each of CASES.filter(({ write }) => write === undefined)) {
    let bound: BoundRule
    try {
      bound = boundOf(each)
    } catch (error) {
      if (error instanceof RuleError) continue
      throw error
    }
    all++
    if (isRight(lineOf(each), bound, RECORDS[each.on]!, RECORDS_OF_WORLD)) exact++
  }
  expect(exact / all).toBeGreaterThan(0.75)
})

test('a random rule selects what the evaluator admits', () => {
  fc.assert(
    fc.property(world, rule, (data, written) => {
      const bound = bind({ now: new Date(0), schema: SCHEMA, collection: 'posts', rule: parse(written), request: {} })
      isRight(written, bound, data['posts']!, recordsOf(data))
    }),
    { numRuns: times(700) },
  )
})
