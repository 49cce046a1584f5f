/** Changes of sources while they are loaded. Nothing is written to disk. */

/** `start` to `end` is replaced. */
export interface Edit {
  readonly start: number
  readonly end: number
  readonly text: string
}

/** The variable of the environment that holds edits by absolute path, as JSON. */
const VARIABLE = 'MUTANT_EDITS'

export function editEnvironment(edits: ReadonlyMap<string, readonly Edit[]>): NodeJS.ProcessEnv {
  return { [VARIABLE]: JSON.stringify(Object.fromEntries(edits)) }
}

/** Gives the changed source of a file; undefined: it is as it is. */
export function editor(): (path: string, read: () => string) => string | undefined {
  const edits = JSON.parse(process.env[VARIABLE] ?? '{}') as Record<string, readonly Edit[]>
  return (path, read) => {
    const own = edits[path]
    if (own === undefined) return undefined
    // From the end, so that the places before stay.
    return own
      .toSorted((left, right) => right.start - left.start)
      .reduce((source, { start, end, text }) => source.slice(0, start) + text + source.slice(end), read())
  }
}
