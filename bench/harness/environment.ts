/** Describes where figures come from: without this they mean nothing. */
import { readFileSync } from 'node:fs'
import { cpus, platform, release, totalmem } from 'node:os'
import { dirname, join } from 'node:path'
import { createRequire } from 'node:module'
import type { ContenderFacts, Place } from '../contenders/catalog.ts'
import { makePerson } from '../documents.ts'

export interface Environment {
  readonly place: Place
  /** As the engine names itself. */
  readonly agent: string
  readonly engineVersion: string
  /** Features of Chromium that were enabled although they are off by default. */
  readonly features: readonly string[]
  readonly processor: string
  readonly cores: number
  readonly memoryBytes: number
  readonly system: string
  /** A sample of the documents, and its size as JSON. */
  readonly document: { readonly bytes: number; readonly sample: unknown }
  readonly seed: number
  /** Version of each contender, by package. */
  readonly versions: Readonly<Record<string, string>>
  /** Measured in the lab page: what others call cold was closed and opened again there, in a fresh frame of the same browser. */
  readonly reopened?: true
}

const require = createRequire(import.meta.url)

export function recordEnvironment(
  place: Place,
  agent: string,
  contenders: readonly ContenderFacts[],
  { seed, features }: { readonly seed: number; readonly features: readonly string[] },
): Environment {
  const sample = makePerson({ documents: 1, seed, ids: 'random' }, 0)
  return {
    place,
    agent,
    engineVersion: versionIn(agent),
    features,
    processor: cpus()[0]?.model.trim() ?? 'unknown',
    cores: cpus().length,
    memoryBytes: totalmem(),
    system: `${platform()} ${release()}`,
    document: { bytes: JSON.stringify(sample).length, sample },
    seed,
    versions: packageVersions(contenders),
  }
}

export function packageVersions(contenders: readonly ContenderFacts[]): Record<string, string> {
  const packages = new Set(['pannier', ...contenders.flatMap((facts) => facts.packages)])
  return Object.fromEntries([...packages].map((name) => [name, packageVersion(name)]))
}

export function versionIn(agent: string): string {
  return /(?:Node\.js|Chrome|Firefox|Version)\/([\d.]+)/.exec(agent)?.[1] ?? 'unknown'
}

/** Some packages don't export their package.json: it is looked for upwards from the file that is imported. */
function packageVersion(name: string): string {
  for (let folder = dirname(entryOf(name)); folder !== dirname(folder); folder = dirname(folder)) {
    try {
      const found = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as {
        name?: string
        version?: string
      }
      if (found.name === name && found.version !== undefined) return found.version
    } catch {
      // Not in this folder: it is further up.
    }
  }
  return 'unknown'
}

function entryOf(name: string): string {
  try {
    return require.resolve(`${name}/package.json`)
  } catch {
    return require.resolve(name)
  }
}
