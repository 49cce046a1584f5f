/** How hooks say what went wrong, and where. */

/** A function of the operator, and where it stands. */
export interface PlacedHandler {
  /** The subject of the handler, in logs: `onRecordCreate`, `GET /hello`. */
  readonly name: string
  /** A `HookHandler`. */
  readonly handler: (event: never) => unknown
  /** For logs: `hooks/posts.ts:12`. */
  readonly source: string
}

/** Tells the operator what went wrong. */
export type HookLog = (
  message: string,
  details: { readonly hook: string; readonly source: string; readonly error: unknown },
) => void

const FRAME = /(?:\(|at )(?:async )?(?:file:\/\/)?(\/[^\s()]+?)(?:\?[^\s():]*)?:(\d+):\d+\)?$/gm
const SEGMENTS = 2

/** The line of code of an operator where an error was made: `hooks/posts.ts:12`. Undefined: no line is known. */
export function lineIn(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined
  for (const [, path = '', line = ''] of (error.stack ?? '').matchAll(FRAME))
    if (!path.includes('/node_modules/')) return `${path.split('/').slice(-SEGMENTS).join('/')}:${line}`
  return undefined
}
