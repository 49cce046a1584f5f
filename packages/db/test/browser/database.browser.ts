/**
 * Databases in real browsers: in several tabs and workers at once, frozen, killed, without room, without storage. Each file of
 * database/ is about one of these; they share a browser, as starting one takes seconds.
 */
import type { BrowserSuiteContext } from '../../../../tools/browser/browser-suite.ts'
import { frozenCases } from './database/frozen.ts'
import { killedCases } from './database/killed.ts'
import { lostCases } from './database/lost.ts'
import { quotaCases } from './database/quota.ts'
import { tabsCases } from './database/tabs.ts'

export function browserSuite(context: BrowserSuiteContext): void {
  tabsCases(context)
  lostCases(context)
  quotaCases(context)
  frozenCases(context)
  killedCases(context)
}
