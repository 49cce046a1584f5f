/** Which mutants the test files of a checkout reach, and what the files cost: one run of all files with probes in the sources. */
import { createHash } from 'node:crypto'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Module } from '../checks/module-graph.ts'
import { makeFolder } from '../processes.ts'
import type { Edit } from './edits.ts'
import { cacheFile, readJson, writeJson } from './kept.ts'
import { probeOf, type Mutant } from './list.ts'
import { runFiles } from './run-files.ts'

export interface Reached {
  readonly seconds: number
  /** A file that fails without a mutant can kill none. */
  readonly passed: boolean
  /** Names. */
  readonly mutants: readonly string[]
}

/** By test file, from the checkout's folder. */
export type Reach = Readonly<Record<string, Reached>>

/** The files that import a module, each with the number of steps. */
export type Distances = (module: string) => ReadonlyMap<string, number>

export interface ReachWork {
  readonly suite: string
  /** Which test files. */
  readonly isWanted: (file: string) => boolean
  readonly mutants: readonly Mutant[]
  readonly distances: Distances
  /** The number of files that run at the same time. */
  readonly jobs: number
}

/** Knowledge from earlier runs. */
interface Known {
  /** Digests of mutants, by name. */
  readonly mutants: Record<string, string>
  readonly files: Record<string, KnownFile>
}

interface KnownFile extends Reached {
  /** The digest of the test file. */
  readonly digest: string
}

/** A file that fails without a mutant is tried so often. */
const TRIES_MAX = 3

const TESTS = ['packages/*/test/**/*.test.ts', '{tools,bench,demo}/**/*.test.ts']

/** Runs the files that are new or have changed. What nothing is known of is reached by all that import it. */
export async function reachOf(work: ReachWork): Promise<Reach> {
  const { suite, mutants, distances } = work
  const path = cacheFile(suite, 'reach.json')
  const known = readJson<Known>(path, { mutants: digestsOf(mutants), files: {} })
  const exclude = (file: string): boolean => /node_modules|dist\/|test\/browser\//.test(file)
  const files = globSync(TESTS, { cwd: suite, exclude }).filter(work.isWanted).sort()
  const digests = new Map(files.map((file) => [file, digestOf(readFileSync(join(suite, file), 'utf8'))]))
  for (let tries = 0; tries < TRIES_MAX; tries++) {
    const isLeft = (file: string): boolean =>
      known.files[file]?.digest !== digests.get(file) || (tries > 0 && !known.files[file]!.passed)
    const left = files.filter(isLeft)
    if (left.length === 0) break
    console.log(`${left.length} test files run once without mutants: what do they reach?`)
    await probe(work, left, (file, reached) => {
      known.files[file] = { ...reached, digest: digests.get(file)! }
      writeJson(path, known)
    })
  }
  for (const file of files) if (known.files[file]?.passed !== true) console.log(`fails without a mutant: ${file}`)
  const digestsNow = digestsOf(mutants)
  const unknown = mutants.filter(({ name }) => known.mutants[name] !== digestsNow[name])
  const reachedBy = (file: string): readonly string[] => [
    ...known.files[file]!.mutants.filter((name) => known.mutants[name] === digestsNow[name]),
    ...unknown.filter((mutant) => distances(mutant.file).has(file)).map(({ name }) => name),
  ]
  const done = files.filter((file) => known.files[file] !== undefined)
  return Object.fromEntries(done.map((file) => [file, { ...known.files[file]!, mutants: reachedBy(file) }]))
}

function digestsOf(mutants: readonly Mutant[]): Record<string, string> {
  return Object.fromEntries(mutants.map((mutant) => [mutant.name, digestOf(JSON.stringify(mutant))]))
}

function digestOf(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 16)
}

async function probe(
  { suite, mutants, distances, jobs }: ReachWork,
  files: readonly string[],
  onReached: (file: string, reached: Reached) => void,
): Promise<void> {
  const edits = new Map<string, Edit[]>()
  const others: Mutant[] = []
  mutants.forEach((mutant, number) => {
    const path = join(suite, mutant.file)
    const edit = probeOf(mutant, number, suite)
    if (edit === undefined) others.push(mutant)
    else edits.set(path, [...(edits.get(path) ?? []), edit])
  })
  const reachedFolder = makeFolder('reached')
  await runFiles({
    suite,
    files,
    edits,
    workers: jobs,
    isBail: false,
    limitOf: () => Infinity,
    reachedFolder,
    onEnd: (file, seconds, passed) => {
      const numbers = readText(join(reachedFolder, encodeURIComponent(join(suite, file))))
        .split('\n')
        .filter(Boolean)
      const imported = others.filter((mutant) => distances(mutant.file).has(file))
      const names = [...numbers.map((number) => mutants[Number(number)]!), ...imported].map(({ name }) => name)
      onReached(file, { seconds, passed, mutants: [...new Set(names)].sort() })
    },
  })
}

export async function distancesIn(suite: string): Promise<Distances> {
  const { readModules } = (await import(pathToFileURL(join(suite, 'tools/checks/module-graph.ts')).href)) as {
    readModules(): ReadonlyMap<string, Module>
  }
  const importers = new Map<string, string[]>()
  for (const { path, imports } of readModules().values())
    for (const { target } of imports) importers.set(target, [...(importers.get(target) ?? []), path])
  const known = new Map<string, ReadonlyMap<string, number>>()
  return (module) => {
    const found = known.get(module) ?? distancesFrom(module, importers)
    known.set(module, found)
    return found
  }
}

function distancesFrom(module: string, importers: ReadonlyMap<string, readonly string[]>): ReadonlyMap<string, number> {
  const distances = new Map([[module, 0]])
  // The map grows while it is walked.
  for (const [path, distance] of distances)
    for (const importer of importers.get(path) ?? [])
      if (!distances.has(importer)) distances.set(importer, distance + 1)
  return distances
}

function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}
