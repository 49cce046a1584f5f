/**
 * Compares the processor time of `npm test` with `tools/test/times.json`, which `npm test -- --times` writes.
 *
 * Its seconds are those of one machine in one hour. On another machine all folders take longer by about the same factor, so the median of
 * the folders says how slow the machine was. A folder that grows does not move the median: the lane outgrows its budget.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { laneOf, TESTED, type Lane } from './lanes.ts'
import type { Failure, Outcome } from './outcome.ts'
import type { FileCost } from './setup/costs.ts'

/** Browser tests have a budget of their own. */
export type Budgeted = Lane | 'browser'

export interface Times {
  readonly lanes: Readonly<Record<string, number>>
  readonly folders: Readonly<Record<string, number>>
}

const FILE = join(import.meta.dirname, 'times.json')
/** Browser tests have few folders, so their median is rough. */
const EXCESS_MAX: Readonly<Record<Budgeted, number>> = { pure: 1.1, wired: 1.1, real: 1.1, browser: 1.5 }
const DEAREST_SHOWN = 20

/** The cost of these files, as notes, and as a failure where a lane has outgrown its budget. */
export function compareWithBudget(
  costs: readonly FileCost[],
  lanes: readonly Budgeted[],
  budget = JSON.parse(readFileSync(FILE, 'utf8')) as Times,
): Outcome {
  const notes: string[] = []
  const failures: Failure[] = []
  for (const lane of lanes) {
    const allowed = budget.lanes[lane] ?? 0
    const own = costs.filter(({ file }) => budgetedAs(file) === lane)
    const slowness = slownessOf(own, budget.folders)
    const seconds = secondsOf(own) / slowness
    notes.push(
      `${lane}: ${seconds.toFixed(0)} s of processor time (budget ${allowed.toFixed(0)} s), ` +
        `and ${slowness.toFixed(2)} times as long on this machine`,
    )
    if (seconds > allowed * EXCESS_MAX[lane])
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
  const ofLane = (lane: Budgeted): readonly FileCost[] => costs.filter(({ file }) => budgetedAs(file) === lane)
  const times: Times = {
    lanes: Object.fromEntries([...TESTED, 'browser' as const].map((lane) => [lane, rounded(secondsOf(ofLane(lane)))])),
    folders: Object.fromEntries(
      [...secondsByFolder(costs)].map(([name, seconds]) => [name, rounded(seconds)] as const).toSorted(byName),
    ),
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

/** How long these files took, as a multiple of what their folders have in the budget: the median, by weight. At least 1. */
function slownessOf(costs: readonly FileCost[], folders: Times['folders']): number {
  const ratios = [...secondsByFolder(costs)]
    .map(([name, seconds]) => ({ weight: folders[name] ?? 0, ratio: seconds / (folders[name] ?? 0) }))
    .filter(({ weight }) => weight > 0)
    .toSorted((a, b) => a.ratio - b.ratio)
  let left = ratios.reduce((sum, { weight }) => sum + weight, 0) / 2
  const median = ratios.find(({ weight }) => (left -= weight) <= 0)?.ratio ?? 1
  // A quick machine proves no growth.
  return Math.max(1, median)
}

function secondsByFolder(costs: readonly FileCost[]): ReadonlyMap<string, number> {
  const folders = Map.groupBy(costs, ({ file }) => `${budgetedAs(file)} ${folderOf(file)}`)
  return new Map([...folders].map(([name, own]) => [name, secondsOf(own)]))
}

function secondsOf(costs: readonly FileCost[]): number {
  return costs.reduce((sum, { cpuMs }) => sum + cpuMs, 0) / 1000
}

function rounded(seconds: number): number {
  return Number(seconds.toFixed(1))
}

/** `packages/db/test/kv`, of any file below it. */
function folderOf(file: string): string {
  return file.split('/').slice(0, -1).slice(0, 4).join('/')
}

function byName(a: readonly [string, unknown], b: readonly [string, unknown]): number {
  return a[0] < b[0] ? -1 : 1
}
