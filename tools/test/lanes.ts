/**
 * The lanes of unit tests. The suffix of a file says its lane, by what the file touches: `NAME.wired.test.ts`, `NAME.real.test.ts`; a
 * file without one is pure. `setup/guard.ts` makes what a lane forbids fail.
 */

export type Lane = 'pure' | 'wired' | 'real'

/** The content of each lane, in words. */
export const LANES: Readonly<Record<Lane, string>> = {
  pure: 'memory only: no socket, process, thread, file or timer',
  wired: 'servers in the process, SQLite in a temporary folder, one PostgreSQL',
  real: 'kills, processes, failovers, other products, every storage',
}

/** The lanes that `npm test` runs. */
export const TESTED: readonly Lane[] = ['pure', 'wired']

/** Milliseconds that a case of a lane may take. */
export const CASE_MS_MAX: Readonly<Record<Lane, number>> = { pure: 60_000, wired: 60_000, real: 240_000 }

export function laneOf(path: string): Lane {
  if (path.endsWith('.real.test.ts')) return 'real'
  return path.endsWith('.wired.test.ts') ? 'wired' : 'pure'
}

/** Parameters that make vitest run these lanes alone. */
export function onlyLanes(lanes: readonly Lane[]): readonly string[] {
  if (lanes.includes('pure'))
    return (['wired', 'real'] as const)
      .filter((lane) => !lanes.includes(lane))
      .map((lane) => `--exclude=**/*.${lane}.test.ts`)
  return lanes.map((lane) => `.${lane}.test.ts`)
}
