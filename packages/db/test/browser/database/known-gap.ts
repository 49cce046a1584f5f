/** What an engine can't do: listed with its reason, and the test of it fails once the engine can. */
import type { Test } from '../../../testing/suite.ts'

export interface KnownGap {
  readonly name: string
  readonly reason: string
  /** What can't be done: it fails, or does not end. */
  body(): Promise<void>
}

/** What still runs after that would be in the way of other cases. */
const ANSWER_MS_MAX = 60_000

/** With `works` the case is an ordinary one. */
export function knownGap(test: Test, works: boolean, { name, reason, body }: KnownGap): void {
  if (works) return test(name, body)
  test(`known gap: ${name} (${reason})`, async () => {
    let closed = false
    const silence = new Promise<void>((resolve) => setTimeout(resolve, ANSWER_MS_MAX))
    const outcome = body().then(
      () => (closed = true),
      () => {},
    )
    await Promise.race([outcome, silence])
    if (closed) throw new Error(`This works now: take it off the list of what does not (${reason}).`)
  })
}
