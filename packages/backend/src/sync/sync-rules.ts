/** The list rule of a collection, cut for each kind of account: docs/internals/rule-cuts.md. */
import { createHash } from 'node:crypto'
import { parse, RuleError, type Collection, type Schema } from '@pannier/rules'
import { cut, type Alternative, type Cut } from '@pannier/rules/cut'
import { ruleFor } from '../access/access.ts'
import type { KnownDefinitions } from '../access/rule-records.ts'
import type { Definition, Rule } from '../definitions/definition.ts'
import type { Principal } from '../gateway/principal.ts'
import { ServiceError } from '../gateway/service-error.ts'

/** A rule that every record meets. */
export const EVERYBODY = '1 = 1'

/** What an index keeps of each record for alternatives with one key. */
interface Side {
  readonly rule: Cut
  readonly alternative: Alternative
}

/** The rule as it is cut for the accounts of one collection. */
export interface AccountRules {
  readonly rule: Cut
  /** The place of the side of each alternative. */
  readonly sides: readonly number[]
}

/** A rule for all who may ask. */
export interface SyncRules {
  /** Other rules, and other fields that they read, have another one. */
  readonly version: string
  /** How records are shown: with other fields it is another one. */
  readonly shape: string
  readonly sides: readonly Side[]
  /** The number of a commit since which the index has these sides; undefined: no pull has made it. */
  indexedAt: number | undefined
  /** `null`: guests. */
  of(accounts: string | null): AccountRules
  /** Why the collection can't be synced. */
  readonly problems: readonly RuleError[]
}

/** A collection as it can be synced. */
export interface SyncedCollection {
  readonly definition: Definition
  readonly rules: SyncRules
}

/** Another definition is another object, and so is a schema. */
const known = new WeakMap<Definition, { readonly schema: Schema; readonly rules: SyncRules }>()

/** The list rule of a definition. @throws ServiceError FORBIDDEN: superusers only; INVALID: it can't be synced */
export function rulesToSync(definitions: KnownDefinitions, definition: Definition): SyncRules {
  const { schema } = definitions
  const found = known.get(definition)
  const rules = found?.schema === schema ? found.rules : syncRules(definitions, definition)
  if (rules === undefined) throw new ServiceError('FORBIDDEN', 'Only superusers can sync this collection.')
  const [problem] = rules.problems
  if (problem !== undefined)
    throw new ServiceError('INVALID', `The list rule of "${definition.name}" can't be synced: ${problem}`)
  known.set(definition, { schema, rules })
  return rules
}

/** Cuts the list rule of a definition; undefined if only superusers may list its records. */
export function syncRules(definitions: KnownDefinitions, definition: Definition): SyncRules | undefined {
  const { listRule } = definition
  if (listRule === null) return undefined
  const { schema } = definitions
  const rule = parse(listRule === '' ? EVERYBODY : listRule)
  const kinds = [null, ...definitions.all().flatMap(({ id, type }) => (type === 'auth' ? [id] : []))]
  const cuts = kinds.map((accounts) => cut({ schema, collection: definition.id, rule, accounts }))
  const sides: Side[] = []
  const placeOf = (made: Cut, alternative: Alternative): number => {
    const known = sides.findIndex((side) => side.alternative.key === alternative.key)
    return known < 0 ? sides.push({ rule: made, alternative }) - 1 : known
  }
  const byAccounts = new Map<string | null, AccountRules>(
    cuts.map((made) => [
      made.accounts,
      { rule: made, sides: made.alternatives.map((alternative) => placeOf(made, alternative)) },
    ]),
  )
  const own = schema.find(definition.id)!
  return {
    version: versionOf(listRule, own, cuts),
    shape: digestOf(partsOf(own)),
    sides,
    indexedAt: undefined,
    of: (accounts) => byAccounts.get(accounts)!,
    problems: cuts.flatMap((made) => [...made.problems, ...viewsRead(definitions, made)]),
  }
}

/** Rows of a view are not stored, so nothing says that they have changed. */
function viewsRead(definitions: KnownDefinitions, { collections }: Cut): RuleError[] {
  return collections.flatMap(({ id, name }) =>
    definitions.find(id)?.type === 'view' ? [new RuleError('limit', `It reads the view "${name}".`, 0)] : [],
  )
}

function versionOf(rule: Rule, own: Collection, cuts: readonly Cut[]): string {
  const read = new Set([own, ...cuts.flatMap(({ collections }) => collections)])
  const collections = Array.from(read, partsOf)
  return digestOf([rule, collections.map(String), collections])
}

function partsOf({ id, name, fields }: Collection): readonly unknown[] {
  return [id, name, ...fields.values()]
}

function digestOf(value: unknown): string {
  return createHash('sha256').update(JSON.stringify(value)).digest('base64url').slice(0, 16)
}

/** Superusers have no replica. @throws ServiceError FORBIDDEN */
export function assertAccount({ isAdmin }: Principal): void {
  if (isAdmin)
    throw new ServiceError('FORBIDDEN', "Superusers see everything. Replicate with CouchDB's protocol instead.")
}

/** Whether an account may sync a collection at all. @throws ServiceError FORBIDDEN: superusers only, or a superuser; INVALID: it can't be synced */
export function assertSyncable(principal: Principal, definition: Definition): void {
  assertAccount(principal)
  if (ruleFor(principal, definition, 'list') === null)
    throw new ServiceError('FORBIDDEN', 'Only superusers can perform this action.')
  const problem = syncProblem(definition)
  if (problem !== undefined) throw new ServiceError('INVALID', problem)
}

/** Why nobody can sync a collection, whatever its list rule is. */
export function syncProblem(definition: Definition): string | undefined {
  const { name } = definition
  if (definition.type === 'view') return `"${name}" is a view. Its rows can't be synced.`
  const ruled = definition.fields.find(({ viewRule }) => viewRule !== undefined)
  if (ruled !== undefined) return `The field "${ruled.name}" of "${name}" has a view rule. It can't be synced.`
  // A replica would keep addresses of those whom its account may not manage any more.
  return definition.type === 'auth' && definition.manageRule !== null && definition.manageRule !== ''
    ? `"${name}" has a manage rule, which shows addresses. It can't be synced.`
    : undefined
}
