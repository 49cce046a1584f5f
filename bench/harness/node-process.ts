/**
 * Runs a phase in a fresh Node process, as page.ts does in a browser: runs the phase of its argument and prints the
 * report.
 */
import { writeSync } from 'node:fs'
import { factsOf } from '../contenders/catalog.ts'
import { makeInNode } from '../contenders/in-node.ts'
import { runPhase } from './run-phase.ts'
import type { PhaseRequest } from './run-phase.ts'

const request = JSON.parse(process.argv[2]!) as PhaseRequest
const contender = await makeInNode(request.contender)
const report = await runPhase(contender, factsOf(request.contender), request)
writeSync(1, `\n${JSON.stringify(report)}`)
process.exit()
