/** Errors of a rule. */
import { check, type Schema } from '@pannier/rules'
import { fieldError } from '../fields/field-errors.ts'
import type { ErrorData, FieldError } from '../gateway/service-error.ts'
import type { Definition, Rule } from './definition.ts'

export type Errors = Readonly<Record<string, FieldError | ErrorData | undefined>>

/** Without what is right; undefined if all is. */
export function errorsOf(errors: Errors): ErrorData | undefined {
  const wrong = Object.entries(errors).filter(
    (entry): entry is [string, FieldError | ErrorData] => entry[1] !== undefined,
  )
  return wrong.length === 0 ? undefined : Object.fromEntries(wrong)
}

/** @param collection - its id in `schema`: its name may be that of another one */
export function checkRule(rule: Rule, schema: Schema, collection: string): FieldError | undefined {
  if (rule === null || rule === '') return undefined
  const [error] = schema.find(collection) === undefined ? [] : check(rule, schema, collection).errors
  return error && fieldError('validation_invalid_rule', `Invalid rule. Raw error: ${error.message}`)
}

export function checkSystemRule(
  rule: Rule,
  old: Definition | undefined,
  oldRule: Rule | undefined,
): FieldError | undefined {
  if (old?.system !== true || rule === oldRule) return undefined
  return fieldError('validation_collection_system_rule_change', 'System collection API rule cannot be changed.')
}
