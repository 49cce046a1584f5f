/** Merges by field: a write on an older revision that touches nothing which others have changed since. docs/adr/0038 has the reasons. */
import { isDeepStrictEqual } from 'node:util'
import { meant } from '../../fields/apply-input.ts'
import type { FieldDefinition } from '../../fields/field-definition.ts'
import { valueIn } from '../../fields/field-types.ts'
import type { Draft } from './draft.ts'
import type { RecordOperation } from './operations.ts'

/**
 * Whether each field that a write sets has the value that the sender has seen or made, or gets the value that it has. Modifiers such as `count+`
 * work on any value. A field that the actor does not see is never as seen: the answer would tell what is in it.
 */
export function isAsSeen(
  { definition, old, asked, input }: Draft,
  { was, isOwn }: Pick<Extract<RecordOperation, { readonly action: 'update' }>, 'was' | 'isOwn'>,
  sees: (field: FieldDefinition) => boolean,
): boolean {
  if (was === undefined) return false
  return Object.keys(input).every((key) => {
    const [field, modifier] = meant(definition.fields, key) ?? []
    if (field === undefined || modifier !== undefined) return true
    if (!sees(field) || isWithheld(field, definition.type)) return false
    const stored = valueIn(old, field)
    const isSeen = Object.hasOwn(was, field.name) && isDeepStrictEqual(was[field.name], stored)
    return isSeen || isOwn?.(field.name, stored) === true || isDeepStrictEqual(asked[field.name], stored)
  })
}

/** Addresses and passwords of accounts are shown to few, whatever the rules of fields say. */
function isWithheld({ hidden, system }: FieldDefinition, type: string): boolean {
  return hidden || (type === 'auth' && system)
}
