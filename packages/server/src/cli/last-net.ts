/**
 * The last handler of errors that nobody has caught: in a callback, or in a promise that nobody waits for. Commits are
 * whole or not there, and a request that fails so has no answer or an error. So the server logs it, writes to the
 * superusers, and serves all others.
 */
import { errorFacts } from '@pannier/backend/internal'
import { LOG_LEVELS } from '@pannier/backend'
import type { PannierServer } from '../server.ts'

const UNCAUGHT = ['uncaughtException', 'unhandledRejection'] as const
/** Mails about such errors. */
const MAIL_MS_MIN = 3_600_000
const SUBJECT = 'The server has caught an error at the last moment'

/** Until the function that it gives is called. `print` shows it to the operator, too. */
export function catchUncaught(
  { backend, http }: Pick<PannierServer, 'backend' | 'http'>,
  process: Pick<NodeJS.Process, 'on' | 'off'>,
): () => void {
  const { environment } = http
  let mailedMs = -Infinity
  const caught = (error: unknown): void => {
    // A hook has begun it: then the log names the hook.
    if (backend.hooks.noteStray(error)) return
    const message = 'An error that nobody has caught: the server stays up. Report it.'
    const facts = errorFacts(error)
    backend.logs.write({ level: LOG_LEVELS.error, message, data: facts })
    const nowMs = environment.now()
    if (nowMs - mailedMs < MAIL_MS_MIN) return
    mailedMs = nowMs
    backend.alert(SUBJECT, `${facts.error}\n\nThe log of the application has more.`).catch((failure: unknown) =>
      backend.logs.write({
        level: LOG_LEVELS.error,
        message: 'No mail about an error could be stored.',
        data: errorFacts(failure),
      }),
    )
  }
  for (const name of UNCAUGHT) process.on(name, caught)
  return () => {
    for (const name of UNCAUGHT) process.off(name, caught)
  }
}
