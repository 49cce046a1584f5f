/**
 * Counts where our English is hard to read, by area, and compares with language.json, whose figures may only fall.
 * `--list AREA [TEXT]` prints the places (whose file contains TEXT); `--update` writes lower figures into language.json.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { AREAS, BARS, findOffences, type Area, type Findings, type Place } from './language/areas.ts'
import { root } from './packages.ts'

const RATCHET = join(root, 'tools/checks/language.json')
const WORST_SHOWN = 3

export interface LanguageFigure {
  readonly name: string
  readonly count: number
  readonly max: number
}

/** The bars of the language, for `npm run bars`. */
export function languageFigures(findings: Findings = findOffences()): readonly LanguageFigure[] {
  return BARS.map(({ name, areas, max }) => ({
    name,
    count: areas.reduce((sum, area) => sum + findings[area].length, 0),
    max,
  }))
}

/** The areas that have more offences than language.json allows, as lines to print. */
export function risenAreas(findings: Findings = findOffences()): readonly string[] {
  const allowed = ratchet()
  return AREAS.filter((area) => findings[area].length > (allowed[area] ?? 0)).map(
    (area) =>
      `${area}: ${findings[area].length} offences, ${allowed[area] ?? 0} allowed; see language.ts --list ${area}`,
  )
}

function ratchet(): Partial<Record<Area, number>> {
  return JSON.parse(readFileSync(RATCHET, 'utf8')) as Partial<Record<Area, number>>
}

if (import.meta.main) main()

function main(): void {
  const { values, positionals } = parseArgs({
    options: { list: { type: 'string' }, update: { type: 'boolean' } },
    allowPositionals: true,
  })
  const findings = findOffences()
  if (values.list !== undefined) list(findings[values.list as Area], positionals[0] ?? '')
  else if (values.update === true) update(findings)
  else report(findings)
}

function list(places: readonly Place[], text: string): void {
  for (const { file, line, rule, sentence } of places.filter((place) => place.file.includes(text)))
    console.log(`${file}:${line}: ${rule}\n    ${sentence}`)
}

function report(findings: Findings): void {
  const allowed = ratchet()
  for (const area of AREAS) {
    const counts = Map.groupBy(findings[area], ({ file }) => file)
    const worst = [...counts].toSorted((a, b) => b[1].length - a[1].length).slice(0, WORST_SHOWN)
    const places = worst.map(([file, { length }]) => `${file} ${length}`).join(', ')
    console.log(
      `${area.padEnd(12)}${String(findings[area].length).padStart(5)} of ${allowed[area] ?? 0} allowed   ${places}`,
    )
  }
  for (const { name, count, max } of languageFigures(findings))
    console.log(`${count <= max ? 'ok  ' : 'NOT '} ${name}: ${count}, bar ${max}`)
  const risen = risenAreas(findings)
  for (const line of risen) console.error(line)
  process.exitCode = risen.length > 0 ? 1 : 0
}

function update(findings: Findings): void {
  const allowed = ratchet()
  const lower = Object.fromEntries(
    AREAS.map((area) => [area, Math.min(findings[area].length, allowed[area] ?? Infinity)]),
  )
  writeFileSync(RATCHET, `${JSON.stringify(lower, null, 2)}\n`)
}
