/** Finds the records of a selection from the other end: from known ids, back along relations. */
import type { Selection } from 'pannier/types'
import { kindOf } from './kinds.ts'
import type { RuleRecord, RuleRecords } from './records.ts'
import type { Collection, Schema } from './schema.ts'

interface Reading {
  readonly schema: Schema
  readonly records: RuleRecords
}

/**
 * Records among which are all of a selection, found by look-ups of ids. Undefined if all records of the collection would have to be
 * read.
 */
export function reach(
  selection: Selection,
  collection: Collection,
  reading: Reading,
): readonly RuleRecord[] | undefined {
  switch (selection.kind) {
    case 'or':
      return union(selection.of.map((part) => reach(part, collection, reading)))
    case 'and':
      return selection.of.reduce<readonly RuleRecord[] | undefined>(
        (found, part) => found ?? reach(part, collection, reading),
        undefined,
      )
    case 'compare':
      if (selection.operator !== '=' || selection.isLength || typeof selection.value !== 'string') return undefined
      return having(collection, selection.field, selection.value, reading)
    case 'element':
      return union(idsOf(selection.of)?.map((id) => having(collection, selection.field, id, reading)) ?? [undefined])
    case 'related':
      return related(selection, collection, reading)
    default:
      return undefined
  }
}

function union(parts: readonly (readonly RuleRecord[] | undefined)[]): readonly RuleRecord[] | undefined {
  if (parts.includes(undefined)) return undefined
  const byId = new Map((parts as readonly (readonly RuleRecord[])[]).flat().map((record) => [record['id'], record]))
  return [...byId.values()]
}

/** The records with a value in a field. Only ids can be looked up. */
function having(
  { name, fields }: Collection,
  field: string,
  value: string,
  { records }: Reading,
): readonly RuleRecord[] | undefined {
  if (field === 'id') {
    const record = value === '' ? null : records.get(name, value)
    return record === undefined ? undefined : record === null ? [] : [record]
  }
  return kindOf(fields.get(field)).isRelation && value !== '' ? records.via(name, field, value).records : undefined
}

/** The values that an element must have. */
function idsOf(selection: Selection): readonly string[] | undefined {
  if (selection.kind === 'compare')
    return selection.operator === '=' && typeof selection.value === 'string' ? [selection.value] : undefined
  if (selection.kind !== 'or') return undefined
  const parts = selection.of.map(idsOf)
  return parts.includes(undefined) ? undefined : parts.flatMap((ids) => ids ?? [])
}

function related(
  { step, collection: name, field, on, of }: Extract<Selection, { readonly kind: 'related' }>,
  collection: Collection,
  reading: Reading,
): readonly RuleRecord[] | undefined {
  const other = reading.schema.find(name)
  const found = other && reach(of, other, reading)
  if (found === undefined) return undefined
  if (step === 'to') return union(found.map((record) => having(collection, field, String(record['id']), reading)))
  const [theirs, own] = step === 'from' ? [field, 'id'] : (on[0] ?? ['', ''])
  const values = found
    .flatMap((record) => [record[theirs]].flat())
    .filter((value) => value !== undefined && value !== '')
  return union(values.map((value) => having(collection, own, String(value), reading)))
}
