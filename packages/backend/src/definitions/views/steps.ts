/** Work on the rows of a view in small steps, so that others have their turn between two of them. */
import type { Environment } from 'pannier/types'

/** Work that yields after each step. */
export type Steps<T> = Generator<undefined, T, void>

/** Rows of one step: about a millisecond. */
export const STEP_ROWS = 1000

/** As `rows.map`. */
export function* mapped<A, B>(rows: readonly A[], map: (row: A, place: number) => B): Steps<B[]> {
  const made: B[] = []
  for (const [place, row] of rows.entries()) {
    if ((place + 1) % STEP_ROWS === 0) yield
    made.push(map(row, place))
  }
  return made
}

/** Does all steps. Others have a turn between two. */
export async function inTurns<T>(environment: Pick<Environment, 'yield'>, steps: Steps<T>): Promise<T> {
  for (;;) {
    const step = steps.next()
    if (step.done === true) return step.value
    await environment.yield()
  }
}

/** Does all steps at once. Undefined if there are more than `max`. */
export function atOnce<T>(steps: Steps<T>, max: number): T | undefined {
  for (let count = 0; count <= max; count++) {
    const step = steps.next()
    if (step.done === true) return step.value
  }
  return undefined
}
