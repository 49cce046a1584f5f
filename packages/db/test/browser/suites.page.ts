/** The page that runs all suites. */
import { runCases } from '../../../../tools/browser/page/run-cases.ts'
import { declareSuites } from './suites.ts'

void runCases(declareSuites)
