/** Finds every mistake in a rule before it is saved. */
import type { Expression, Operand } from './ast.ts'
import { sideOf } from './bind.ts'
import { nearestHint, RuleError } from './errors.ts'
import { parse } from './parse.ts'
import { PLAIN_AUTH_FIELDS, scopeOf } from './path.ts'
import type { RuleRequest } from './request.ts'
import type { Collection, Schema } from './schema.ts'

/** The result of `check`. */
export interface RuleCheck {
  /** Mistakes: the rule can't be saved. One for each operand at most. */
  readonly errors: readonly RuleError[]
  /** Problems that are allowed and probably wrong: a name of the request that is nearly a field, or a modifier that will fail. */
  readonly warnings: readonly RuleError[]
}

/**
 * Checks a rule against a schema, with positions and the nearest names.
 *
 * @example
 * const { errors } = check("titel = 'a' && author.nam != ''", schema, 'posts')
 * errors.map(({ position, hint }) => [position, hint]) // [[0, 'Write "title".'], [22, 'Write "name".']]
 */
export function check(rule: string | Expression, schema: Schema, collection: string): RuleCheck {
  const errors: RuleError[] = []
  const warnings: RuleError[] = []
  attempt(errors, () => {
    const scope = scopeOf({ schema, collection, request: NOTHING_SENT, now: new Date(0) })
    const checks = (operand: Operand): boolean => {
      // A call repeats the mistakes of its arguments.
      if (operand.kind === 'call' && !operand.of.map(checks).every(Boolean)) return false
      if (!attempt(errors, () => sideOf(operand, scope))) return false
      attempt(warnings, () => warn(operand, schema, scope.collection))
      return true
    }
    operandsOf(typeof rule === 'string' ? parse(rule) : rule).forEach(checks)
  })
  return { errors, warnings }
}

/** Whether `body` throws no mistake. */
function attempt(found: RuleError[], body: () => void): boolean {
  try {
    body()
    return true
  } catch (error) {
    if (!(error instanceof RuleError)) throw error
    found.push(error)
    return false
  }
}

function operandsOf(expression: Expression): readonly Operand[] {
  return expression.kind === 'comparison' ? [expression.left, expression.right] : expression.of.flatMap(operandsOf)
}

/** As PocketBase checks a rule: a guest who sends nothing. */
const NOTHING_SENT: RuleRequest = { auth: null, body: {}, query: {}, headers: {}, method: '', context: '' }

function warn(operand: Operand, schema: Schema, collection: Collection): void {
  const [, part, first = ''] = operand.kind === 'name' ? (/^@request\.(body|auth)\.(\w+)/.exec(operand.name) ?? []) : []
  if (operand.kind !== 'name' || part === undefined) return
  const accounts = schema.collections.filter(({ isAuth }) => isAuth)
  const of = part === 'body' ? [collection] : accounts
  const names = [...(part === 'body' ? [] : PLAIN_AUTH_FIELDS), ...of.flatMap(({ fields }) => [...fields.keys()])]
  const hint = names.includes(first) ? '' : nearestHint(first, names)
  const position = operand.at + `@request.${part}.`.length
  if (hint !== '') throw new RuleError('unknown', `No field is named "${first}".`, position, hint)
  for (const { name } of part === 'auth' ? accounts : []) {
    const request = { ...NOTHING_SENT, auth: { collection: name, record: {} } }
    sideOf(operand, scopeOf({ schema, collection: collection.name, request, now: new Date(0) }))
  }
}
