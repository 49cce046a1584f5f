/** Goal: the registries of types of fields agree, so that a type that one of them lacks is found at once. */
import { createSchema } from '@pannier/rules'
import { describe, expect, test } from 'vitest'
import { FIELD_TYPES, kindOf as shownKindOf } from '../../../admin/src/views/kinds.ts'
import { isPlainValue } from '../../../client/src/plain-values.ts'
import { kindOf } from '../../../rules/src/kinds.ts'
import { cellOf, columnDeclaration } from '../../src/fields/columns.ts'
import { completeField } from '../../src/fields/complete-fields.ts'
import type { FieldDefinition } from '../../src/fields/field-definition.ts'
import { castValue, checkValue, emptyValue, FIELD_TYPE_NAMES, typeOfField } from '../../src/fields/field-types.ts'

test('the page offers the types of the backend', () => {
  expect([...FIELD_TYPES].toSorted()).toEqual([...FIELD_TYPE_NAMES].toSorted())
})

describe.each(FIELD_TYPE_NAMES)('type %s', (type) => {
  const fieldOf = (options: object): FieldDefinition => completeField({ name: 'f', type, ...options }, [])
  const {
    holds,
    isHashed,
    isAutomatic,
    isSearchable,
    options,
    column,
    modifiers = [],
    modify,
  } = typeOfField(fieldOf({}))
  const fields = 'maxSelect' in options ? [fieldOf({ maxSelect: 1 }), fieldOf({ maxSelect: 2 })] : [fieldOf({})]

  test('the empty value is read as itself, is right, and is there in SQLite and in rules', () => {
    for (const field of fields) {
      const empty = emptyValue(field)
      expect(castValue(field, empty)).toEqual(empty)
      expect(checkValue(field, empty, { old: undefined })).toBeUndefined()
      expect(columnDeclaration(field)).toContain(' DEFAULT ')
      expect(cellOf(field, undefined)).toEqual(cellOf(field, empty))
      const isMany = 'maxSelect' in field && field.maxSelect > 1
      if (!isMany) expect(kindOf(field).empty).toEqual(empty)
    }
  })

  test('rules know whether it is a list, a relation and JSON', () => {
    const { isListable = false, isRelation = false, json } = kindOf({ type })
    expect([isListable, isRelation]).toEqual(['maxSelect' in options, holds === 'records'])
    expect(json !== undefined).toBe(column === 'JSON')
  })

  test('a device takes the empty value for one that the server stores', () => {
    for (const field of fields) {
      const [collection] = createSchema([{ name: 'c', fields: [field] }]).collections
      expect(isPlainValue(collection!.fields.get('f')!, emptyValue(field))).toBe(true)
    }
  })

  test('the page knows what the values are, and has a control for the options', () => {
    const shown = shownKindOf({ type })
    expect([shown.holds, shown.isHashed, shown.isAutomatic]).toEqual([holds, isHashed, isAutomatic])
    expect(shown.flags?.includes('searchable') ?? false).toBe(isSearchable ?? false)
    const offered = [
      ...Object.keys(shown.options ?? {}),
      ...(shown.flags ?? []),
      'required',
      'searchable',
      'primaryKey',
    ]
    expect(Object.keys(options).filter((name) => !offered.includes(name))).toEqual([])
  })

  test('each modifier has what it makes of a value', () => {
    expect(modify !== undefined).toBe(modifiers.length > 0)
  })
})
