/** The rules of a collection that say what its replicas have, cut for each kind of account: docs/internals/rule-cuts.md. */
import { createHash } from 'node:crypto'
import { parse, RuleError, type Collection, type Schema } from '@pannier/rules'
import { cut, type Alternative, type Cut } from '@pannier/rules/cut'
import { ruleFor } from '../../access/access.ts'
import type { KnownDefinitions } from '../../access/rule-records.ts'
import type { Definition } from '../../definitions/definition.ts'
import type { Principal } from '../../gateway/principal.ts'
import { ServiceError } from '../../gateway/service-error.ts'
import { ruledFieldsOf, type FieldRule, type RuledFields } from './ruled-fields.ts'

/** The name of the index that accounts are shown records by. */
export const SIDES_VIEW = '$sides'
/** The name of that for superusers, who see every record. It is made when the first of them pulls. */
const ALL_VIEW = '$all'
/** The names of all indexes that a collection may have. */
export const VIEWS: readonly string[] = [SIDES_VIEW, ALL_VIEW]
/** A rule that every record meets. */
export const EVERYBODY = '1 = 1'
/** A rule that no record meets. */
const NOBODY = '1 = 2'

/** The list rule, as problems name it. */
export const LIST_RULE = 'list rule'

/** The side of a rule for which an index keeps entries of each record. */
interface Side {
  readonly rule: Cut
  readonly alternative: Alternative
}

/** A rule as it is cut for the accounts of one collection. */
export interface AccountRule {
  readonly rule: Cut
  /** The place of the side of each alternative. */
  readonly sides: readonly number[]
}

/** The rules of a collection as they are cut for the accounts of one collection. */
export interface AccountRules {
  /** Which records are shown. */
  readonly list: AccountRule
  /** Which fields of them are shown: one for each rule of `ruled`. */
  readonly fields: readonly AccountRule[]
  readonly ruled: RuledFields
  /** The alternatives of all rules, in this order. Holdings have it, too. */
  readonly alternatives: readonly Alternative[]
}

/** Why a collection can't be synced. */
interface SyncProblem {
  /** Which rule it is about, in words. */
  readonly of: string
  readonly error: RuleError
}

/** The rules of a collection for all who may ask. */
export interface SyncRules {
  /** The name of the index that has the sides. */
  readonly view: string
  /** Other rules, and other fields that they read, have another one. */
  readonly version: string
  /** How records are shown: with other fields, or other rules of fields, it is another one. */
  readonly shape: string
  /** The sides of all rules, those of the list rule first. */
  readonly sides: readonly Side[]
  /** How many sides are of the list rule. */
  readonly listSides: number
  /** The number of a commit since which the index has these sides; undefined: no pull has made it. */
  indexedAt: number | undefined
  /** `null`: guests. @throws ServiceError INVALID if the list rule can't be asked for accounts of this kind */
  of(accounts: string | null): AccountRules
  /** The problems of all rules, those of the list rule first. */
  readonly problems: readonly SyncProblem[]
}

/** A collection as it can be synced. */
export interface SyncedCollection {
  readonly definition: Definition
  readonly rules: SyncRules
}

/** Another definition is another object, and so is a schema. */
type KnownRules = WeakMap<Definition, { readonly schema: Schema; readonly rules: SyncRules }>

const [knownOfAccounts, knownOfSuperusers]: readonly [KnownRules, KnownRules] = [new WeakMap(), new WeakMap()]

/** The rules of a definition for those who may ask. @throws ServiceError FORBIDDEN: superusers only; INVALID: it can't be synced */
export function rulesToSync(
  definitions: KnownDefinitions,
  definition: Definition,
  { isAdmin }: Pick<Principal, 'isAdmin'>,
): SyncRules {
  const { schema } = definitions
  const known = isAdmin ? knownOfSuperusers : knownOfAccounts
  const found = known.get(definition)
  const rulesFor = isAdmin ? superuserRules : syncRules
  const rules = found?.schema === schema ? found.rules : rulesFor(definitions, definition)
  if (rules === undefined) throw new ServiceError('FORBIDDEN', 'Only superusers can sync this collection.')
  const [problem] = rules.problems
  if (problem !== undefined)
    throw new ServiceError('INVALID', `The ${problem.of} of "${definition.name}" can't be synced: ${problem.error}`)
  known.set(definition, { schema, rules })
  return rules
}

/** Superusers see every record, with every field that REST shows to them. */
function superuserRules({ schema }: KnownDefinitions, definition: Definition): SyncRules {
  const rule = cut({ schema, collection: definition.id, rule: parse(EVERYBODY), accounts: null })
  const { alternatives } = rule
  const list = { rule, sides: alternatives.map((_, place) => place) }
  const ruled = { rules: [], hidden: [], hasAddresses: false }
  const version = versionOf('superusers', schema.find(definition.id)!, [rule])
  return {
    view: ALL_VIEW,
    version,
    shape: version,
    sides: alternatives.map((alternative) => ({ rule, alternative })),
    listSides: alternatives.length,
    indexedAt: undefined,
    of: () => ({ list, fields: [], ruled, alternatives }),
    problems: [],
  }
}

/** Cuts the rules of a definition for accounts; undefined if only superusers may list its records. */
export function syncRules(definitions: KnownDefinitions, definition: Definition): SyncRules | undefined {
  const { listRule } = definition
  if (listRule === null) return undefined
  const { schema } = definitions
  const kinds = [null, ...definitions.all().flatMap(({ id, type }) => (type === 'auth' ? [id] : []))]
  const cutFor = (rule: string, accounts: string | null): Cut =>
    cut({ schema, collection: definition.id, rule: parse(rule), accounts })
  const ruled = ruledFieldsOf(definition)
  const errors = new Map(kinds.map((accounts) => [accounts, ruleError(definitions, definition, listRule, accounts)]))
  /** A rule that names what an account does not have shows it nothing, as by REST. */
  const cutForKinds = (rule: string): readonly Cut[] =>
    kinds.map((accounts) =>
      cutFor(ruleError(definitions, definition, rule, accounts) === undefined ? rule : NOBODY, accounts),
    )
  const lists = cutForKinds(listRule === '' ? EVERYBODY : listRule)
  const fields = ruled.rules.map(({ text }) => cutForKinds(text))
  const sides: Side[] = []
  const placed = (rule: Cut): AccountRule => ({
    rule,
    sides: rule.alternatives.map((alternative) => placeIn(sides, { rule, alternative })),
  })
  const list = lists.map(placed)
  const listSides = sides.length
  const shown = fields.map((cuts) => cuts.map(placed))
  const rulesOf = new Map(
    kinds.map((accounts, kind): [string | null, AccountRules] => {
      const rules = { list: list[kind]!, fields: shown.map((each) => each[kind]!) }
      const alternatives = [rules.list, ...rules.fields].flatMap(({ rule }) => rule.alternatives)
      return [accounts, { ...rules, ruled, alternatives }]
    }),
  )
  const own = schema.find(definition.id)!
  const ofFields = versionOf(ruled, own, fields.flat())
  return {
    view: SIDES_VIEW,
    version: digestOf([versionOf(listRule, own, lists), ofFields]),
    shape: ofFields,
    sides,
    listSides,
    indexedAt: undefined,
    of: (accounts) => {
      const error = errors.get(accounts)
      if (error !== undefined) throw new ServiceError('INVALID', wordsOf(definitions, definition, accounts, error))
      return rulesOf.get(accounts)!
    },
    problems: [
      ...problemsOf(definitions, LIST_RULE, lists),
      ...fields.flatMap((cuts, place) => problemsOf(definitions, wordsFor(ruled.rules[place]!), cuts)),
    ],
  }
}

/** Why a rule can't be asked for accounts of one kind; undefined if it can. `accounts`: `null` for guests. */
export function ruleError(
  { schema }: KnownDefinitions,
  { id }: Definition,
  rule: string,
  accounts: string | null,
): RuleError | undefined {
  if (rule === '') return undefined
  try {
    cut({ schema, collection: id, rule: parse(rule), accounts })
    return undefined
  } catch (error) {
    if (error instanceof RuleError) return error
    throw error
  }
}

function wordsOf(
  definitions: KnownDefinitions,
  { name }: Definition,
  accounts: string | null,
  error: RuleError,
): string {
  const kind = accounts === null ? 'guests' : `accounts of "${definitions.find(accounts)!.name}"`
  return `The list rule of "${name}" can't be asked for ${kind}: ${error.message}`
}

function placeIn(sides: Side[], side: Side): number {
  const known = sides.findIndex(({ alternative }) => alternative.key === side.alternative.key)
  return known < 0 ? sides.push(side) - 1 : known
}

function wordsFor({ names, isManage }: FieldRule): string {
  return isManage ? 'manage rule' : `view rule of the field ${names.map((name) => `"${name}"`).join(' and ')}`
}

function problemsOf(definitions: KnownDefinitions, of: string, cuts: readonly Cut[]): SyncProblem[] {
  const errors = cuts.flatMap((made) => [...made.problems, ...viewsRead(definitions, made)])
  return errors.map((error) => ({ of, error }))
}

/** Rows of a view are not stored, so nothing says that they have changed. */
function viewsRead(definitions: KnownDefinitions, { collections }: Cut): RuleError[] {
  return collections.flatMap(({ id, name }) =>
    definitions.find(id)?.type === 'view' ? [new RuleError('limit', `It reads the view "${name}".`, 0)] : [],
  )
}

/** Rules and what they read have it. A rule that names nothing has other keys as soon as it names something. */
function versionOf(rules: unknown, own: Collection, cuts: readonly Cut[]): string {
  const read = new Set([own, ...cuts.flatMap(({ collections }) => collections)])
  const keys = cuts.map(({ alternatives }) => alternatives.map(({ key }) => key))
  return digestOf([rules, keys, Array.from(read, partsOf)])
}

function partsOf({ id, name, fields }: Collection): readonly unknown[] {
  return [id, name, ...fields.values()]
}

function digestOf(value: unknown): string {
  return createHash('sha256').update(JSON.stringify(value)).digest('base64url').slice(0, 16)
}

/** A replica belongs to an account, or to all guests. @throws ServiceError FORBIDDEN: an admin without an account */
export function assertAccount({ isAdmin, account }: Principal): void {
  if (isAdmin && account === undefined)
    throw new ServiceError('FORBIDDEN', "Sign in as a superuser, or replicate with CouchDB's protocol.")
}

/**
 * Whether an account may sync a collection at all.
 *
 * @throws ServiceError FORBIDDEN: superusers only, or an admin without an account; INVALID: it can't be synced
 */
export function assertSyncable(principal: Principal, definition: Definition): void {
  assertAccount(principal)
  if (!principal.isAdmin && ruleFor(principal, definition, 'list') === null)
    throw new ServiceError('FORBIDDEN', 'Only superusers can perform this action.')
  const problem = syncProblem(definition)
  if (problem !== undefined) throw new ServiceError('INVALID', problem)
}

/** Why nobody can sync a collection, whatever its rules are. */
export function syncProblem({ type, name }: Definition): string | undefined {
  return type === 'view' ? `"${name}" is a view. Its rows can't be synced.` : undefined
}
