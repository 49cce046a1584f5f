/** The part of a collection that a replica wants: a filter over the own fields of a record. docs/internals/ruled-sync.md is the contract. */
import { createHash } from 'node:crypto'
import { bind, evaluate, parse, RuleError, type Expression, type Operand, type RuleRecord } from '@pannier/rules'
import type { KnownDefinitions } from '../../access/rule-records.ts'
import type { Definition } from '../../definitions/definition.ts'
import { ServiceError } from '../../gateway/service-error.ts'

/** The part that a replica has of the records that its account may list. */
export interface Part {
  /** Another filter has another one; undefined: all of the collection. */
  readonly version: string | undefined
  /** Whether a record is in it. It depends on the record alone, so only a write changes the answer. */
  has(record: RuleRecord): boolean
}

/** The whole collection. */
export const WHOLE: Part = { version: undefined, has: () => true }

const EXPECTED = 'It may read the fields of a record that everybody sees, and compare them with texts and numbers.'

/**
 * The part that a filter chooses. `''`: the whole collection.
 *
 * @throws ServiceError INVALID: it is no filter, or it reads the request, the time, other records or what is not shown to all
 */
export function partOf({ schema }: KnownDefinitions, { id, name }: Definition, filter: string): Part {
  if (filter === '') return WHOLE
  const fail = (reason: string, cause?: unknown): never => {
    throw new ServiceError('INVALID', `The filter of "${name}" can't be synced: ${reason}`, { cause })
  }
  try {
    const expression = parse(filter)
    if (operandsOf(expression).some(isOutside)) return fail(EXPECTED)
    const bound = bind({ schema, collection: id, filter: expression, request: {}, now: NO_TIME })
    if (bound.collections.length > 0) return fail(EXPECTED)
    const version = createHash('sha256').update(filter).digest('base64url').slice(0, 16)
    return { version, has: (record) => evaluate(bound, record, NO_RECORDS) === true }
  } catch (error) {
    if (!(error instanceof RuleError)) throw error
    // The names of hidden fields are not for all.
    return fail(error.kind === 'syntax' || error.kind === 'limit' ? error.message : EXPECTED, error)
  }
}

/** A filter that reads the time is refused. */
const NO_TIME = new Date(0)

/** No step leads to another record. */
const NO_RECORDS = {
  get: () => undefined,
  via: () => ({ records: [], isComplete: false }),
  all: () => ({ records: [], isComplete: false }),
}

function operandsOf(expression: Expression): readonly Operand[] {
  return expression.kind === 'comparison' ? [expression.left, expression.right] : expression.of.flatMap(operandsOf)
}

/** Whether an operand has another value for another request, or at another time. `search` reads an index. */
function isOutside(operand: Operand): boolean {
  if (operand.kind === 'call') return operand.name !== 'geoDistance' || operand.of.some(isOutside)
  return operand.kind === 'name' && operand.name.startsWith('@')
}
