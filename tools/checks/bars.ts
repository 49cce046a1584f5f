/**
 * The bars of the house. `npm run bars` prints how each stands and what it is to become; `npm run bars -- TEXT` lists the offenders of
 * those whose name has the text. A count above its ratchet fails, here and as a step of `npm test` (`--counted`: without the
 * measurements, which take seconds). When a count falls, lower its ratchet.
 */
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { run } from '../processes.ts'
import { BUDGETS, sizeOf, unownedBudgets } from './budgets.ts'
import { importCycles } from './cycles.ts'
import * as documents from './documents.ts'
import { namedFieldTypes } from './field-types.ts'
import { languageFigures } from './language.ts'
import { BACKEND_LAYERS, LAYERS, layerOffences, SERVER_LAYERS, unlistedRooms } from './layers.ts'
import { readModules } from './module-graph.ts'
import { namesInPlainObjects } from './name-maps.ts'
import { root } from './packages.ts'
import { statementsOf, undocumentedMembers } from './statements.ts'
import { unusedExports } from './unused-exports.ts'

interface Bar {
  readonly name: string
  readonly count: number
  /** The ratchet: may only be lowered. */
  readonly max: number
  readonly goal: number
  readonly offenders: readonly string[]
}

/** The page draws these. */
const DRAWN_LAYERS = [LAYERS, BACKEND_LAYERS, SERVER_LAYERS]

/** Files and lines that a package is to come down to. */
const GOALS: Readonly<Record<string, readonly [files: number, lines: number]>> = { db: [320, 41_000] }

/** Measured by programs of their own, which print lines. */
const MEASUREMENTS = ['tools/checks/size.ts', 'tools/rooms.ts']

const { values, positionals } = parseArgs({ options: { counted: { type: 'boolean' } }, allowPositionals: true })
const bars = countBars()
if (positionals[0] === undefined) await report(values.counted !== true)
else list(positionals[0])
process.exit()

async function report(measured: boolean): Promise<void> {
  const line = (state: string, count: number, rest: string): void =>
    console.log(`= ${state.padEnd(8)} ${String(count).padStart(6)} ${rest}`)
  for (const { name, count, max, goal } of bars)
    line(count > max ? 'TOO MANY' : count > goal ? 'open' : 'met', count, `${name} (allowed ${max}, goal ${goal})`)
  for (const { name, count, max } of languageFigures())
    line(count > max ? 'open' : 'met', count, `${name} (goal ${max})`)
  if (measured) await printMeasurements()
  const above = bars.filter(({ count, max }) => count > max)
  for (const { name, offenders } of above) console.error(`\nMore ${name} than allowed:\n${offenders.join('\n')}`)
  process.exitCode = above.length > 0 ? 1 : 0
}

function list(text: string): void {
  for (const { name, offenders } of bars.filter((bar) => bar.name.includes(text)))
    console.log(`${name}:\n${offenders.join('\n')}\n`)
}

function countBars(): Bar[] {
  const modules = readModules()
  const unused = unusedExports(modules)
  const undocumented = undocumentedApi()
  const bar = (name: string, max: number, offenders: readonly string[], goal = 0): Bar => ({
    name,
    count: offenders.length,
    max,
    goal,
    offenders,
  })
  const sizes = Object.entries(BUDGETS).flatMap(([name, budget]): Bar[] => {
    const { paths, lines } = sizeOf(modules, name)
    const [files, all] = (Object.hasOwn(GOALS, name) ? GOALS[name] : undefined) ?? [budget.files, budget.lines]
    return [
      bar(`files in packages/${name}/src`, budget.files, paths, files),
      { name: `lines in packages/${name}/src`, count: lines, max: budget.lines, goal: all, offenders: [] },
    ]
  })
  return [
    ...sizes,
    bar('budgets that no decision has', 0, unownedBudgets()),
    bar('import cycles, dynamic imports and types included', 0, importCycles(modules)),
    bar('files of packages that are in no layer, and imports that point up', 0, layerOffences(modules)),
    bar('rooms of sync that no list has', 0, unlistedRooms(root)),
    bar('lists of layers that docs/internals/architecture.md has otherwise', 0, documents.undrawnLayers(DRAWN_LAYERS)),
    bar('exports of src that nobody imports', 0, unused.byNobody),
    bar('exports of src that only tests import', 45, unused.byTestsOnly),
    bar('unit tests that assert with testing/check.ts', 0, mixedDialects(modules)),
    bar('plain objects that names of users are looked up in', 0, namesInPlainObjects(modules)),
    bar('types of fields that are asked by their names', 0, namedFieldTypes(modules)),
    bar('public exports without a docstring', 0, undocumented.exports),
    bar('members of public exports without a docstring', 0, undocumented.members),
    bar('broken links in documents', 0, documents.brokenLinks()),
    bar('files that documents name and that are not there', 1, documents.missingFiles()),
    bar('issues that documents name', 0, documents.staleIssues()),
    bar('checkpoints of no kind: neither storage nor replication checkpoints', 0, documents.bareCheckpoints()),
    bar('packages that docs/contributing.md or README.md does not list', 0, documents.unlistedPackages()),
    bar('dependencies without a reason in ADR 1', 0, documents.unexplainedDependencies()),
  ]
}

/** docs/adr/0029-one-assertion-dialect.md */
function mixedDialects(modules: ReturnType<typeof readModules>): string[] {
  const check = 'packages/db/testing/check.ts'
  return [...modules.values()].flatMap(({ path, imports }) =>
    path.endsWith('.test.ts') && imports.some(({ target }) => target === check) ? [path] : [],
  )
}

/** Reads the snapshots of the public interface. */
function undocumentedApi(): { readonly exports: string[]; readonly members: string[] } {
  const found: { exports: string[]; members: string[] } = { exports: [], members: [] }
  for (const path of globSync('packages/*/api/*.d.ts', { cwd: root }).toSorted()) {
    const seen = new Set<string>()
    for (const statement of statementsOf(readFileSync(join(root, path), 'utf8'))) {
      const name = /^export (?:abstract )?\w+ ([\w$]+)/.exec(statement.text)?.[1]
      if (name === undefined) continue
      // An overload has the docstring of the one before it.
      if (statement.docs === '' && !seen.has(name)) found.exports.push(`${path} ${name}`)
      seen.add(name)
      found.members.push(...undocumentedMembers(statement).map((member) => `${path} ${name}.${member}`))
    }
  }
  return found
}

async function printMeasurements(): Promise<void> {
  for (const script of MEASUREMENTS) {
    const { output } = await run(process.execPath, ['--conditions=pannier-source', script], { cwd: root })
    const [first = ''] = output.split('\n= largest')
    for (const line of first.trimEnd().split('\n')) console.log(line.startsWith('= ') ? line : `= ${line}`)
  }
}
