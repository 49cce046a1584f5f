/** One table of behaviours, which each binding has. */
import type { SuiteContext } from '../../db/testing/suite.ts'
import type { Binding } from './binding.ts'
import { clientCases } from './client-cases.ts'
import { draftCases } from './draft-cases.ts'
import { liveCases } from './live-cases.ts'
import { replicationCases } from './replication-cases.ts'
import { searchCases } from './search-cases.ts'
import { tabsCases } from './tabs-cases.ts'
import { valueCases } from './value-cases.ts'
import { waitingCases } from './waiting-cases.ts'

/** `mounts`: how many components one case mounts and unmounts. */
export function bindingSuite(context: SuiteContext<() => Binding>, mounts = 100): void {
  liveCases(context, mounts)
  valueCases(context)
  searchCases(context)
  draftCases(context)
  clientCases(context)
  replicationCases(context)
}

/** The suite in a page, where there is time: with more mounts, with tabs, whose leaders wait for timers, and with what waits. */
export function pageSuite(context: SuiteContext<() => Binding>): void {
  bindingSuite(context, 1000)
  tabsCases(context)
  waitingCases(context)
}
