/**
 * Compares the processor time of `npm test` with `tools/test/times.json`. `npm test -- --times` writes that file. Its seconds are those
 * of one machine. A fixed piece of work after each test file, the yardstick, says how fast another machine is.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { laneOf, TESTED, type Lane } from './lanes.ts'
import type { Failure, Outcome } from './outcome.ts'
import type { FileCost } from './setup/costs.ts'

/** Browser tests have a budget of their own. */
export type Budgeted = Lane | 'browser'

interface Times {
  /** The yardstick of the machine that took these seconds. */
  readonly yardstickMs: number
  readonly lanes: Readonly<Record<string, number>>
  readonly folders: Readonly<Record<string, number>>
}

const FILE = join(import.meta.dirname, 'times.json')
const EXCESS_MAX = 1.1
const DEAREST_SHOWN = 20

/** The cost of these files, as notes, and as a failure where a lane has outgrown its budget. */
export function compareWithBudget(costs: readonly FileCost[], lanes: readonly Budgeted[]): Outcome {
  const budget = JSON.parse(readFileSync(FILE, 'utf8')) as Times
  const speed = yardstickOf(costs) / budget.yardstickMs
  const notes: string[] = []
  const failures: Failure[] = []
  for (const lane of lanes) {
    const allowed = budget.lanes[lane] ?? 0
    const own = costs.filter(({ file }) => budgetedAs(file) === lane)
    const seconds = secondsOf(own) / speed
    notes.push(`${lane}: ${seconds.toFixed(0)} s of processor time (budget ${allowed.toFixed(0)} s)`)
    if (seconds > allowed * EXCESS_MAX)
      failures.push({
        title: `The lane ${lane} has outgrown its budget of ${allowed} s. Its dearest files:`,
        text: dearest(own),
        replay: `npm test -- --times ${lane === 'browser' ? '--only=browser' : `--only=unit --lanes=${lane}`}`,
      })
  }
  return { passed: 0, failed: failures.length, notes, failures }
}

/** Makes what this run has cost the budget. */
export function writeBudget(costs: readonly FileCost[]): void {
  const folders = Map.groupBy(costs, ({ file }) => `${budgetedAs(file)} ${folderOf(file)}`)
  const ofLane = (lane: Budgeted): readonly FileCost[] => costs.filter(({ file }) => budgetedAs(file) === lane)
  const lanes = [...TESTED, 'browser' as const].map((lane) => [lane, rounded(ofLane(lane))] as const)
  const times: Times = {
    yardstickMs: Number(yardstickOf(costs).toFixed(2)),
    lanes: Object.fromEntries(lanes),
    folders: Object.fromEntries([...folders].map(([name, own]) => [name, rounded(own)] as const).toSorted(byName)),
  }
  writeFileSync(FILE, `${JSON.stringify(times, undefined, 2)}\n`)
}

function budgetedAs(file: string): Budgeted {
  return file.includes('/test/browser/') ? 'browser' : laneOf(file)
}

function dearest(costs: readonly FileCost[]): string {
  const sorted = costs.toSorted((a, b) => b.cpuMs - a.cpuMs).slice(0, DEAREST_SHOWN)
  return sorted.map(({ file, cpuMs }) => `${(cpuMs / 1000).toFixed(1).padStart(7)} s  ${file}`).join('\n')
}

function yardstickOf(costs: readonly FileCost[]): number {
  return costs.reduce((sum, { yardstickMs }) => sum + yardstickMs, 0) / Math.max(1, costs.length)
}

function secondsOf(costs: readonly FileCost[]): number {
  return costs.reduce((sum, { cpuMs }) => sum + cpuMs, 0) / 1000
}

function rounded(costs: readonly FileCost[]): number {
  return Number(secondsOf(costs).toFixed(1))
}

/** `packages/db/test/kv`, of any file below it. */
function folderOf(file: string): string {
  return file.split('/').slice(0, -1).slice(0, 4).join('/')
}

function byName(a: readonly [string, unknown], b: readonly [string, unknown]): number {
  return a[0] < b[0] ? -1 : 1
}
