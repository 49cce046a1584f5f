/** The page that runs all suites. */
import { runCases } from '../../../../tools/browser/page/run-cases.ts'
import { checkReplays } from '../../testing/replay-check.ts'
import { declareSuites } from './suites.ts'

checkReplays()
void runCases(declareSuites)
