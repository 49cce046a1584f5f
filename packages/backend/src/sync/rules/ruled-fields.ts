/**
 * The rules that say which fields of a record are shown: view rules of fields, and the manage rule, which shows addresses of accounts.
 * What they come to is what REST shows (`records/read/field-rules.ts`). docs/internals/ruled-sync.md is the contract.
 */
import type { RuleRecord } from '@pannier/rules'
import type { Definition } from '../../definitions/definition.ts'
import { ACCOUNT_SECRETS } from '../../definitions/system-fields.ts'

/** The account of a replica: the definition of its collection, and its id. `null`: a guest. */
export type SyncedAccount = readonly [collection: string, id: string] | null

/** A rule that shows fields of those records that it admits. */
export interface FieldRule {
  readonly text: string
  /** The fields that have it as their view rule. The manage rule has none. */
  readonly names: readonly string[]
  /** True for the manage rule. */
  readonly isManage: boolean
}

/** The rules that decide which fields of a record are shown. */
export interface RuledFields {
  readonly rules: readonly FieldRule[]
  /** Fields that are hidden: only superusers see them. */
  readonly hidden: readonly string[]
  /** An address is shown as its record says, to the account itself, and to those whom the manage rule admits. */
  readonly hasAddresses: boolean
}

export function ruledFieldsOf(definition: Definition): RuledFields {
  // What nobody sees needs no rule.
  const fields = definition.fields.filter(
    ({ name, hidden }) => !hidden && !(definition.type === 'auth' && ACCOUNT_SECRETS.has(name)),
  )
  const names = new Map<string, string[]>()
  for (const { name, viewRule } of fields)
    if (viewRule !== undefined && viewRule !== null && viewRule !== '')
      names.set(viewRule, [...(names.get(viewRule) ?? []), name])
  const hasAddresses = definition.type === 'auth' && fields.some(({ name }) => name === 'email')
  // One that admits everybody shows no addresses.
  const manageRule = hasAddresses ? definition.manageRule : null
  return {
    rules: [
      ...Array.from(names, ([text, of]) => ({ text, names: of, isManage: false })),
      ...(manageRule === null || manageRule === '' ? [] : [{ text: manageRule, names: [], isManage: true }]),
    ],
    hidden: fields.filter(({ viewRule }) => viewRule === null).map(({ name }) => name),
    hasAddresses,
  }
}

const NOTHING: ReadonlySet<string> = new Set()

/** The fields of a record that an account does not see. `admits`: whether the rule at a place admits the record. */
export function withheld(
  { rules, hidden, hasAddresses }: RuledFields,
  account: SyncedAccount,
  record: RuleRecord,
  admits: (place: number) => boolean,
): ReadonlySet<string> {
  if (rules.length === 0 && hidden.length === 0 && !hasAddresses) return NOTHING
  const without = new Set(hidden)
  let isManaged = false
  for (const [place, { names, isManage }] of rules.entries()) {
    const isAdmitted = admits(place)
    if (isManage) isManaged = isAdmitted
    else if (!isAdmitted) for (const name of names) without.add(name)
  }
  const isOwn = account !== null && record['id'] === account[1]
  if (hasAddresses && !isOwn && !isManaged && record['emailVisibility'] !== true) without.add('email')
  return without
}

/** Whether two answers of `withheld` are one. */
export function isAsMuch(one: ReadonlySet<string>, other: ReadonlySet<string>): boolean {
  return one.size === other.size && [...one].every((name) => other.has(name))
}
