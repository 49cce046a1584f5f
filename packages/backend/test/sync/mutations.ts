/** The repairs of the feed, each switched off in the source. */
import type { Mutation } from '../../../../tools/test/mutants.ts'

const inSync = (file: string, text: string, replacement: string): Mutation => ({
  file: `packages/backend/src/sync/${file}`,
  text,
  replacement,
})

/** A row has no own fields: it does not change with them. */
export const NO_OWN_FIELDS: Mutation = inSync(
  'feed/sides-view.ts',
  'emit([place, groundOf(ground), side!.range], side!.own)',
  'emit([place, groundOf(ground), side!.range], {})',
)
const TESTS_ALIKE =
  'JSON.stringify([one.sets, one.account ?? null]) === JSON.stringify([other.sets, other.account ?? null])'
/** What a test reads of the account does not count. */
export const NO_PARAMETERS: Mutation = inSync(
  'feed/meet.ts',
  TESTS_ALIKE,
  'JSON.stringify(one.sets) === JSON.stringify(other.sets)',
)
/** Sets that are tested do not count. */
export const NO_SETS: Mutation = inSync(
  'feed/meet.ts',
  TESTS_ALIKE,
  'JSON.stringify(one.account) === JSON.stringify(other.account)',
)
const LEFT_BEFORE = 'if (cameAt > sequence || !shows(list, may.list, key, value)) return'
/** What comes back has never left. */
export const FORGET_ON_RETURN: Mutation = inSync(
  'feed/feed-page.ts',
  LEFT_BEFORE,
  `${LEFT_BEFORE}
   const last = { gte: key.at(-1), lte: key.at(-1) }
   if (Array.from(rows.rows(key.slice(0, -1), last)).some((back) => back.id === id)) return`,
)
/** A record leaves, although it came after the replica's state. */
export const NO_CAME_AT: Mutation = inSync(
  'feed/feed-page.ts',
  LEFT_BEFORE,
  'if (!shows(list, may.list, key, value)) return',
)
/** Rows behind a lost ground leave untested. */
export const LOST_UNTESTED: Mutation = inSync(
  'feed/feed-page.ts',
  'cameAt <= sequence && may.list.viewer.admits(alternative, sideOf(key, value))',
  'cameAt <= sequence',
)
/** Rows that have left are not tested. */
export const LEFT_UNTESTED: Mutation = inSync(
  'feed/feed-page.ts',
  'grounds[index]?.has(ground) === true && viewer.admits(index, sideOf(key, value))',
  'grounds[index]?.has(ground) === true',
)
/** What one page has counts as a holding of all. */
export const MUST_IS_MAY: Mutation = inSync(
  'feed/feed.ts',
  'sweep.must === currentName ? current : meet(own, holdings.get(sweep.must)!, current)',
  'holdings.get(sweep.must)!',
)
/** All pages of a sweep are of the time of the first one. */
export const CLOCK_FORGOTTEN: Mutation = inSync('feed/feed.ts', '{ ...sweep, must, toMs: nowMs }', '{ ...sweep, must }')
/** One alternative at the first page and another one at the last are enough. */
export const ANY_ALTERNATIVE: Mutation = inSync(
  'feed/reached-state.ts',
  'return rule.alternatives.some(',
  `if (must.every(({ viewer }) => viewer.shows(record))) return true
   return rule.alternatives.some(`,
)
/** What a clock shows at both ends is shown between. */
export const CLOCKS_ARE_MONOTONE: Mutation = inSync(
  'feed/reached-state.ts',
  '(fromMs === toMs || !isClocked(alternative)) && ',
  '',
)
/** A page has what was visible when the sweep began. */
export const NO_PRESENT_CHECK: Mutation = inSync(
  'feed/feed-page.ts',
  'this.#told.has(known) || !(isSure || now.list.viewer.shows(record))',
  'this.#told.has(known)',
)
/** Rows of an older index say what its records were, and count for those that were written since. */
export const NEWER_TAKEN: Mutation = inSync(
  'feed/feed-page.ts',
  'if (written === undefined || written.sequence > sweep.sequence || !this.#isInPart(written)) return',
  'if (written === undefined || !this.#isInPart(written)) return',
)
/** A first sync has what its first page held. */
export const ROWS_OF_BEFORE: Mutation = inSync(
  'feed/first-walk.ts',
  'this.#now.grounds[alternative]?.has(group[1]) === true && this.#now.viewer.admits(alternative, side)',
  'group.length > 0',
)
/** A ground that is held shows all its records. */
export const ROWS_UNTESTED: Mutation = inSync(
  'feed/first-walk.ts',
  'found.isIn ||= this.#target.viewer.admits(alternative, side)',
  'found.isIn = true',
)
/** A first sync walks no ranges. */
export const NO_RANGES: Mutation = inSync('feed/feed-page.ts', '[() => undefined, this.#gained]', '[() => undefined]')
/** A token is of the state that its sweep leads to, not of that of its page. */
export const RESTORE_BY_TARGET: Mutation = inSync(
  'feed/feed.ts',
  'knows(token.boot, indexName(recordsName(definition), rules.view), token.builtTo, index.builtTo)',
  `knows(
    token.boot,
    indexName(recordsName(definition), rules.view),
    Math.max(token.reached?.sequence ?? 0, token.sweep?.sequence ?? 0),
    index.builtTo,
  )`,
)
/** Every token of a known start is of this history. */
export const NO_BOOT_LOG: Mutation = inSync(
  'feed/boots.ts',
  'return sequence <= (next === undefined ? builtTo : (next.builtTo[index] ?? 0))',
  'return next === undefined || sequence >= 0 || builtTo > 0 || index === ""',
)
/** A client stores rows, and ends before it has stored the token. */
export const CLIENT_NOT_ATOMIC: Mutation = {
  file: 'packages/backend/test/sync/replica.ts',
  text: 'lose(_page: PulledPage): void {}',
  replacement: 'lose(page: PulledPage): void { this.#store(page) }',
}
/** All rows that have left count, also those that the replica never had. */
export const LEFT_UNSHOWN: Mutation = inSync(
  'feed/feed-page.ts',
  LEFT_BEFORE,
  'if (list.sides.length === 0 || may.fields.length > 99) return',
)
const IS_IN = 'if (this.#isIn(target, sweep, this.#written(id))) return'
/** What is not there any more can't leave. */
export const NO_ID_OF_PURGED: Mutation = inSync(
  'feed/feed-page.ts',
  IS_IN,
  `if (this.#written(id) === undefined) return
   ${IS_IN}`,
)
/** Each record that is deleted leaves as one that is. */
export const DELETED_TO_ALL: Mutation = inSync(
  'feed/feed-page.ts',
  'deleted && shows(list, target.list, key, value)',
  'deleted',
)

const PARTS = '[this.#lost, this.#left, this.#gained, this.#changed, this.#shown]'
const withoutPart = (part: string): Mutation =>
  inSync('feed/feed-page.ts', PARTS, PARTS.replace(part, '() => undefined'))
export const NO_LOST: Mutation = withoutPart('this.#lost')
export const NO_LEFT: Mutation = withoutPart('this.#left')
export const NO_GAINED: Mutation = withoutPart('this.#gained')
/** Only records are lost and gained, and no fields of them. */
export const NO_SHOWN: Mutation = withoutPart('this.#shown')
const FIELD_SPANS = 'return [...lost, ...minus(rule, fields[place]!, must, this.#isAllOf(ms))]'
/** Fields of lost holdings are not looked for. */
export const NO_FIELDS_LOST: Mutation = inSync(
  'feed/reached-state.ts',
  FIELD_SPANS,
  'return minus(rule, fields[place]!, must, this.#isAllOf(ms))',
)
/** Fields of new holdings are not looked for. */
export const NO_FIELDS_GAINED: Mutation = inSync(
  'feed/reached-state.ts',
  FIELD_SPANS,
  'return must.length > 0 ? lost : []',
)
/** A field that the replica may have is one that it has. */
export const FIELDS_SURE: Mutation = inSync(
  'feed/reached-state.ts',
  'return !isAsMuch(shown, most) || !isAsMuch(shown, least)',
  'return !isAsMuch(shown, most) && least.size >= 0',
)
/** Bodies are not cut. */
export const BODIES_WHOLE: Mutation = inSync(
  'feed/feed-page.ts',
  'without: withheld(rules.ruled, account, record, isShown)',
  'without: new Set(isShown.name === "" ? rules.ruled.hidden : account ?? [])',
)
const IS_SHOWN = 'fields[place]!.viewer.shows(record) && now.fields[place]!.viewer.shows(record)'
/** A page has the fields that were visible when the sweep began. */
export const NO_PRESENT_FIELDS: Mutation = inSync('feed/feed-page.ts', IS_SHOWN, 'fields[place]!.viewer.shows(record)')
/** A page has fields that the state does not have that its sweep leads to. */
export const NO_TARGET_FIELDS: Mutation = inSync(
  'feed/feed-page.ts',
  IS_SHOWN,
  'fields.length > 0 && now.fields[place]!.viewer.shows(record)',
)
/** A revision that the replica has is shown as ever. */
export const NO_HELD_SHAPE: Mutation = inSync('feed/feed.ts', '[rules.shape, current.slice(first)]', '[rules.shape]')
/** A replica has all bodies as they are shown now. */
export const SHAPE_NEVER_MIXED: Mutation = inSync(
  'feed/feed.ts',
  'given.shape === shapeNow ? shapeNow : undefined',
  'given.rules !== "" ? shapeNow : undefined',
)
/** What is shown by the clock is shown as it was. */
export const CLOCKED_SHAPE: Mutation = inSync(
  'feed/feed.ts',
  '.slice(first).some(asksClock)',
  '.slice(first).some(() => false)',
)
/** Only the list rule asks the clock. */
export const NO_FIELD_CLOCK: Mutation = inSync(
  'feed/feed.ts',
  'own.alternatives.some(asksClock)',
  'own.list.rule.alternatives.some(asksClock)',
)
/** Tokens outlive the rules of fields. */
export const NO_FIELDS_VERSION: Mutation = inSync(
  'rules/sync-rules.ts',
  'digestOf([versionOf(listRule, own, lists), ofFields])',
  'versionOf(listRule, own, lists)',
)
/** The manage rule shows no addresses. */
export const NO_MANAGE: Mutation = inSync('rules/ruled-fields.ts', '!isOwn && !isManaged &&', '!isOwn &&')
/** A lost ground takes away what another one still shows. */
export const LOST_FOR_GOOD: Mutation = inSync(
  'feed/feed-page.ts',
  '!this.#isIn(target, sweep, written) && !this.#wasOutside(sequence, written)',
  'true',
)
/** A record that is not in the part any more stays. */
export const PART_KEPT: Mutation = inSync(
  'feed/feed-page.ts',
  "else this.#leave(String(recordOf(written)['id']), false)",
  '',
)
/** A record comes, although it is not in the part. */
export const PART_UNASKED: Mutation = inSync(
  'feed/feed-page.ts',
  'return this.#isShown(target, sweep, written) && this.#isInPart(written!)',
  'return this.#isShown(target, sweep, written)',
)
/** Each record behind a lost ground leaves, wanted or not. */
export const PART_LOST_WHOLE: Mutation = inSync('feed/feed-page.ts', ' && !this.#wasOutside(sequence, written)', '')
/** Tokens outlive their part. */
export const NO_PART_VERSION: Mutation = inSync('feed/feed.ts', 'token.part === part.version &&', '')
/** Tokens outlive their rules. */
export const NO_RULES_VERSION: Mutation = inSync('feed/feed.ts', 'token.rules === rules.version &&', '')
/** A replica is complete whatever its account holds. */
export const NO_HOLDINGS_AT_END: Mutation = inSync(
  'feed/feed.ts',
  'return reached.may === currentName && reached.must === currentName && isSameTime',
  'return isSameTime && currentName !== ""',
)
/** A replica is complete at all times. */
export const NO_TIME_AT_END: Mutation = inSync(
  'feed/feed.ts',
  'return reached.may === currentName && reached.must === currentName && isSameTime',
  'return reached.may === currentName && reached.must === currentName && (isSameTime || isTimed)',
)
/** What left is not forgotten. */
export const NO_HORIZON: Mutation = inSync('feed/feed.ts', 'if (state.sequence < index.forgottenTo) return false', '')
/** What leaves in the future is forgotten, too. */
export const NO_END_OF_FORGETTING: Mutation = inSync(
  'feed/sides-view.ts',
  'Math.min(upTo, builtTo)',
  'Math.max(upTo, builtTo)',
)
/** All records come, and no others go. */
export const NO_END: Mutation = inSync(
  'feed/feed-page.ts',
  'if (sweep.mark !== undefined) this.rows.push({ end: sweep.mark })',
  '',
)
/** Changes are always found by the sequence. */
export const NO_PLAN: Mutation = inSync(
  'feed/feed-page.ts',
  'byHeld: countIn(rows, all, changes) < changes',
  'byHeld: false',
)
/** Tokens are of use to every account. */
export const NO_ACCOUNT: Mutation = inSync(
  'feed/feed.ts',
  'token.collection === index.collection && JSON.stringify(token.account) === JSON.stringify(account)',
  'token.collection === index.collection && account !== undefined',
)
/** Conditions on own values alone do not count. */
export const NO_RECORD_SIDE: Mutation = {
  file: 'packages/rules/src/viewer.ts',
  text: 'if (!meetsAtoms(rule.stranger, alternative.record, record, NO_RECORDS)) return undefined',
  replacement: '',
}
/** An index that was made again remembers nothing of before, and tokens of before count. */
export const NOTHING_FORGOTTEN: Mutation = inSync(
  'feed/feed.ts',
  'if (state.sequence < index.forgottenTo) return false',
  '',
)

// Signals.
/** Those who see a record no more are not looked for. */
export const LIVE_NO_FORMER: Mutation = inSync(
  'signals/live-sync.ts',
  'if (change.old !== undefined) each.findFormer(change.records.at(-1)!, former, nowMs)',
  '',
)
/** Those who see a record are not looked for. */
export const LIVE_NO_SEEING: Mutation = inSync(
  'signals/live-sync.ts',
  'if (change.document !== undefined) each.findSeeing(change.records[0]!, seeing, nowMs)',
  '',
)
/** What an account holds is not computed again when what it was computed of changes. */
export const LIVE_NO_READS: Mutation = inSync(
  'signals/live-sync.ts',
  'for (const [watcher, of] of this.#byRead.get(read) ?? []) stale.set(watcher, of)',
  'void read',
)
/** Records that the index does not have yet do not count. */
export const LIVE_NOT_WRITTEN: Mutation = inSync(
  'signals/seen-difference.ts',
  'return this.someWritten(isFound)',
  'return false',
)
/** Another holding is signalled, whatever is behind it. */
export const LIVE_ALWAYS_OTHER: Mutation = inSync(
  'signals/seen-difference.ts',
  "if (document['_deleted'] === true) return false\n    const record",
  'if (sequence >= 0) return true\n    const record',
)
/** All who hold a ground of a record see it. */
export const LIVE_UNTESTED: Mutation = inSync(
  'signals/watched-collection.ts',
  'if (isSeen(viewer)) found.add(watcher)',
  'if (isSeen(viewer) || viewer !== undefined) found.add(watcher)',
)
/** A record that is written does not say when it runs out. */
export const LIVE_NO_TURN: Mutation = inSync(
  'signals/watched-collection.ts',
  'if (isClocked) this.#expect(watcher, changesAt(viewer, nowMs))',
  '',
)
/** Only whole records count. */
export const LIVE_NO_FIELDS: Mutation = inSync(
  'signals/seen-difference.ts',
  'return isSeen !== wasSeen || (isSeen && !isAsMuch(withheldBy(before, record), withheldBy(after, record)))',
  'return isSeen !== wasSeen',
)
