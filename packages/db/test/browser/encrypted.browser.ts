/**
 * Encrypted databases in several tabs and workers at once, frozen, killed, without room: as database.browser.ts and
 * opfs.browser.ts, over sealed records. Sealing lies between the engine and any storage, so one browser runs them: Chromium, on files.
 * `npm run nightly` runs all.
 */
import type { BrowserSuiteContext } from '../../../../tools/browser/browser-suite.ts'
import { prefixed } from '../../testing/suite.ts'
import { frozenCases } from './database/frozen.ts'
import { killedCases } from './database/killed.ts'
import { quotaCases } from './database/quota.ts'
import type { DatabaseContext } from './database/remote-tab.ts'
import { writingCases } from './database/tabs.ts'
import { EVERYWHERE } from '../../../../tools/test/seeds.ts'

export function browserSuite(suite: BrowserSuiteContext): void {
  const { engine } = suite.browser
  const inIndexedDb: DatabaseContext = { ...suite, test: prefixed(suite.test, 'IndexedDB'), isEncrypted: true }
  const inFiles: DatabaseContext = { ...inIndexedDb, test: prefixed(suite.test, 'OPFS'), storage: 'opfs' }
  if (engine === 'chromium' || EVERYWHERE) quotaCases(inIndexedDb)
  if (EVERYWHERE) tabsOf(inIndexedDb)
  if (engine === 'chromium' || (engine === 'firefox' && EVERYWHERE)) tabsOf(inFiles)
}

function tabsOf(context: DatabaseContext): void {
  writingCases(context)
  frozenCases(context)
  killedCases(context)
}
