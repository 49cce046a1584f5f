/** Conditions for a group to get a message about a record: the rule of its collection, and the filter of the subscription. */
import { evaluate, RuleError, type BoundRule, type RuleRecord, type RuleRecords } from '@pannier/rules'
import { isPannierError } from 'pannier'
import { ruleFor, type Access } from '../access/access.ts'
import { ServiceError } from '../gateway/service-error.ts'
import { assertOpenToActor } from '../records/read/list-request.ts'
import type { RecordSnapshot } from '../records/read/record-snapshot.ts'
import type { BindGroup, SubscriptionGroup } from './subscription-groups.ts'
import { Slices } from './slices.ts'

/** Words that may read the clock: `@now` and the like, but not `@request.` and `@collection.`; and `strftime`, whose time may be `now`. */
const CLOCK = /@(?!request\.|collection\.)|strftime/

/** Binds groups by the rules of `access`. PocketBase asks the rule and the filter one after another, so no row is shared. */
export function groupBinder(access: Access): BindGroup {
  return ({ topic, actor }, definition, action) => {
    const { filter = '' } = topic.query
    if (access.isLocked(actor, definition, action)) return undefined
    const bind = (): readonly BoundRule[] => [
      access.bindList(actor, definition, { action }),
      ...(filter === '' ? [] : [access.bindList(actor, definition, { filter })]),
    ]
    try {
      assertOpenToActor(actor, filter)
      const bound = bind()
      const isTimed =
        CLOCK.test(filter) ||
        (!actor.principal.isAdmin && CLOCK.test(ruleFor(actor.principal, definition, action) ?? ''))
      return { rules: isTimed ? bind : () => bound, isTimed }
    } catch (error) {
      if (error instanceof RuleError || error instanceof ServiceError) return undefined
      throw error
    }
  }
}

/** The limit of `@pannier/rules` for one record. */
const ROWS_MAX = 100_000

/** The groups whose rules the record meets, in a state of the database. `spent`: how many rows the rules of one have tried. */
export async function admittedGroups(
  snapshot: RecordSnapshot,
  groups: readonly SubscriptionGroup[],
  record: RuleRecord,
  spent: (group: SubscriptionGroup, rows: number) => void,
): Promise<readonly SubscriptionGroup[]> {
  const asked: (readonly [SubscriptionGroup, readonly BoundRule[]])[] = []
  for (const group of groups) {
    const rules = group.rules()
    if (await isReady(snapshot, rules)) asked.push([group, rules])
  }
  const admitted: SubscriptionGroup[] = []
  const slices = new Slices(snapshot.environment)
  for (let at = 0; at < asked.length;) {
    const from = at
    // A read that misses a page runs again.
    const answers = await snapshot.read((records) => {
      const found = [answerOf(asked[from]![1], record, records)]
      for (let next = from + 1; next < asked.length && !slices.isOver; next++)
        found.push(answerOf(asked[next]![1], record, records))
      return found
    })
    for (const [index, { isMet, rows }] of answers.entries()) {
      const [group] = asked[from + index]!
      if (isMet) admitted.push(group)
      spent(group, rows)
    }
    at += answers.length
    await slices.next()
  }
  return admitted
}

/** Makes the views that rules read. */
async function isReady(snapshot: RecordSnapshot, rules: readonly BoundRule[]): Promise<boolean> {
  try {
    for (const rule of rules) if (rule.collections.length > 0) await snapshot.prepare(rule)
    return true
  } catch (error) {
    if (error instanceof ServiceError) return false
    throw error
  }
}

function answerOf(
  rules: readonly BoundRule[],
  record: RuleRecord,
  records: RuleRecords,
): { readonly isMet: boolean; readonly rows: number } {
  let rows = 0
  const meets = (rule: BoundRule): boolean => {
    const budget = { left: ROWS_MAX }
    try {
      return evaluate(rule, record, records, budget) === true
    } catch (error) {
      // A rule reads too many records at once, or tries too many rows.
      if (!(error instanceof RuleError) && !isPannierError(error, 'PANNIER_LIMIT_EXCEEDED')) throw error
      budget.left = 0
      return false
    } finally {
      rows += ROWS_MAX - budget.left
    }
  }
  return { isMet: rules.every(meets), rows }
}
