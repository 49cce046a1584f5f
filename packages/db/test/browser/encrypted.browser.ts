/**
 * Encrypted databases in several tabs and workers at once, frozen, killed, without room: as database.browser.ts and
 * opfs.browser.ts, over sealed records.
 */
import type { BrowserSuiteContext } from '../../../../tools/browser/browser-suite.ts'
import { prefixed } from '../../testing/suite.ts'
import { frozenCases } from './database/frozen.ts'
import { killedCases } from './database/killed.ts'
import { quotaCases } from './database/quota.ts'
import type { DatabaseContext } from './database/remote-tab.ts'
import { atOnceCase, writingCases } from './database/tabs.ts'

export function browserSuite(suite: BrowserSuiteContext): void {
  const inIndexedDb: DatabaseContext = { ...suite, test: prefixed(suite.test, 'IndexedDB'), isEncrypted: true }
  const inFiles: DatabaseContext = { ...inIndexedDb, test: prefixed(suite.test, 'OPFS'), storage: 'opfs' }
  quotaCases(inIndexedDb)
  tabsOf(inIndexedDb)
  // It has no private file system.
  if (suite.browser.engine !== 'webkit') tabsOf(inFiles)
}

function tabsOf(context: DatabaseContext): void {
  atOnceCase(context)
  writingCases(context)
  frozenCases(context)
  killedCases(context)
}
