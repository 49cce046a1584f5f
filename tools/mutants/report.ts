/** Prints what became of mutants. */
import type { Mutant } from './list.ts'
import type { Failure } from './run-files.ts'

export interface Result {
  /** Path and line in the checkout. */
  readonly place: string
  /** Test files that have run. */
  readonly files: number
  readonly seconds: number
  /** Undefined: it has survived. */
  readonly killedBy?: Failure
}

/** By name of the mutant. */
export type Results = Readonly<Record<string, Result>>

/** Prints results; of two suites, also how many mutants that the first tests kill the second ones kill. */
export function report(mutants: readonly Mutant[], first: Results, second: Results | undefined): void {
  const results = second ?? first
  for (const { group, name } of mutants)
    if (results[name] !== undefined) console.log(resultLine(group, name, results[name]))
  console.log('\ngroup           mutants  killed' + (second === undefined ? '' : '  of these by the second'))
  for (const group of new Set(mutants.map((mutant) => mutant.group)))
    printLine(
      group,
      mutants.filter((mutant) => mutant.group === group),
      first,
      second,
    )
  printLine('all', mutants, first, second)
  for (const { name, group } of mutants) {
    const result = results[name]
    if (result === undefined && first[name] !== undefined) console.log(`not run: ${group}: ${name}`)
    if (result !== undefined && result.killedBy === undefined)
      console.log(`survives: ${group}: ${name} (${result.place})${lostText(first[name], second)}`)
  }
}

function printLine(title: string, mutants: readonly Mutant[], first: Results, second: Results | undefined): void {
  const done = mutants.filter(({ name }) => first[name] !== undefined)
  const killed = done.filter(({ name }) => first[name]!.killedBy !== undefined)
  const both = killed.filter(({ name }) => second?.[name]?.killedBy !== undefined)
  const share = `  ${both.length} (${((100 * both.length) / (killed.length || 1)).toFixed(1)}%)`
  const [all, dead] = [done.length, killed.length].map((count) => String(count).padStart(7))
  console.log(`${title.padEnd(15)} ${all} ${dead}${second === undefined ? '' : share}`)
}

function lostText(before: Result | undefined, second: Results | undefined): string {
  if (second === undefined) return ''
  return before?.killedBy === undefined
    ? ', as before'
    : `, was killed by ${before.killedBy.file}: ${before.killedBy.test}`
}

export function resultLine(group: string, name: string, { killedBy, files, seconds }: Result): string {
  const survives = files === 0 ? 'SURVIVES: no test reaches it' : `SURVIVES ${files} test files`
  const what = killedBy === undefined ? survives : `killed by ${killedBy.file}: ${killedBy.test}`
  return `${seconds.toFixed(1).padStart(7)} s  ${group}: ${name}: ${what}`
}
