/** Reports errors of a selector in CouchDB's words; the library has its own. */
import { isObject } from 'pannier/internal'
import { HttpError } from '../../http/http-error.ts'
import type { JsonObject } from '@pannier/backend/internal'

/** @throws HttpError 400 `invalid_operator` or `bad_arg` */
export function checkSelector(selector: JsonObject): void {
  for (const [name, operand] of Object.entries(selector)) {
    if (name.startsWith('$')) checkOperator(name, operand)
    else if (isObject(operand)) checkSelector(operand)
  }
}

function checkOperator(name: string, operand: unknown): void {
  const takes = OPERANDS.get(name)
  // CouchDB's name for it.
  if (takes === undefined || (name === '$beginsWith' && typeof operand !== 'string'))
    throw new HttpError(400, 'invalid_operator', `Invalid operator: ${name}`)
  if (!takes(operand))
    throw new HttpError(400, 'bad_arg', `Bad argument for operator ${name}: ${JSON.stringify(operand)}`)
  if (LISTS.has(name)) (operand as unknown[]).filter(isObject).forEach(checkSelector)
  else if (SELECTORS.has(name)) checkSelector(operand as JsonObject)
}

const LISTS: ReadonlySet<string> = new Set(['$and', '$or', '$nor'])
const SELECTORS: ReadonlySet<string> = new Set(['$not', '$elemMatch', '$allMatch', '$keyMapMatch'])

type Takes = (operand: unknown) => boolean

const anything: Takes = () => true
const text: Takes = (operand) => typeof operand === 'string'
const wholeNumbers: Takes = (operand) =>
  Array.isArray(operand) && operand.length === 2 && operand.every(Number.isInteger)

const OPERANDS: ReadonlyMap<string, Takes> = new Map<string, Takes>([
  ...['$eq', '$ne', '$gt', '$gte', '$lt', '$lte'].map((name) => [name, anything] as const),
  ...['$and', '$or', '$nor', '$in', '$nin', '$all'].map((name) => [name, Array.isArray] as const),
  ...[...SELECTORS].map((name) => [name, isObject] as const),
  ...['$type', '$regex', '$options', '$beginsWith'].map((name) => [name, text] as const),
  ['$exists', (operand) => typeof operand === 'boolean'],
  ['$size', (operand) => Number.isInteger(operand) && (operand as number) >= 0],
  ['$mod', wholeNumbers],
])
