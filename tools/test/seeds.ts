/**
 * How much work random tests do. Only this file reads it from the environment:
 *
 * - `SEED=7 SEEDS=1` replays seed 7; `SEEDS=100` runs 100 seeds.
 * - `EFFORT=20` does 20 times the work of `npm test`.
 */

export type SeededLane = 'model' | 'crash' | 'race' | 'diff'

/** Seeds of one test in `npm test`. */
const SEEDS_USUAL: Readonly<Record<SeededLane, number>> = { model: 1, crash: 2, race: 2, diff: 1 }

const EFFORT = Number(process.env['EFFORT'] ?? 1)

export const FIRST_SEED: number = Number(process.env['SEED'] ?? 1)

/** Runs a file again with the same inputs. */
export function replayCommand(file: string): string {
  return `SEED=${FIRST_SEED} ${EFFORT === 1 ? '' : `EFFORT=${EFFORT} `}npx vitest run ${file}`
}

/** The distance between what is broken in turn: calls of a simulation, pages. More EFFORT makes it shorter. */
export function strideOf(usual: number): number {
  return Math.max(1, Math.round(usual / EFFORT))
}

/** Where the turn of the fault begins: elsewhere for each, and with each SEED. */
export function firstOf(fault: number, stride: number): number {
  return 1 + ((fault + FIRST_SEED - 1) % stride)
}

/** The seeds of one test. `share`: below 1 where a seed takes a second, above 1 where it takes milliseconds. */
export function seedsOf(lane: SeededLane, share = 1): readonly number[] {
  const usual = Math.max(1, Math.round(SEEDS_USUAL[lane] * share * EFFORT))
  return Array.from({ length: Number(process.env['SEEDS'] ?? usual) }, (_, at) => FIRST_SEED + at)
}

/** How often something is repeated: runs of a property, processes that are killed. */
export function times(usual: number): number {
  return Math.ceil(usual * EFFORT)
}

/** Milliseconds that a test may take: more for more seeds. */
export function timeoutOf(usualMs: number): number {
  return usualMs * Math.max(1, EFFORT)
}

/** Every suite runs in every browser, on every storage, with every seed, and not only where it can break. `npm run nightly` sets it. */
export const EVERYWHERE: boolean = process.env['EVERYWHERE'] !== undefined
