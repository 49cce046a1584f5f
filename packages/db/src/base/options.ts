/** Checks option objects of the public API: a misspelt option would be passed over in silence. */

/** The names of all options of `Options`; the compiler sees to it that none is forgotten. */
export type OptionNames<Options> = Readonly<Record<AllKeys<Options>, true>>

type AllKeys<Options> = Options extends unknown ? keyof Options : never

/** As many letters may be wrong in a name that is meant to be another. */
const EDITS_MAX = 2

/**
 * Throws a TypeError for what is no object and for an option that there is not. `call` names the function in the message.
 *
 * @example
 * checkOptions('open()', options, { storage: true, collections: true })
 */
export function checkOptions(call: string, options: unknown, names: Readonly<Record<string, true>>): void {
  if (typeof options !== 'object' || options === null || Array.isArray(options))
    throw new TypeError(`${call}: options must be an object, got ${describe(options)}`)
  for (const name of Object.keys(options)) {
    if (Object.hasOwn(names, name)) continue
    const near = nearest(name, Object.keys(names))
    const hint = near === undefined ? `it takes ${Object.keys(names).join(', ')}` : `did you mean '${near}'?`
    throw new TypeError(`${call}: there is no option '${name}'; ${hint}`)
  }
}

/** The name that is meant, perhaps. */
export function nearest(name: string, names: readonly string[]): string | undefined {
  const lower = name.toLowerCase()
  const [best] = names
    .map((one) => ({ one, edits: one.toLowerCase().startsWith(lower) ? 0 : editsBetween(lower, one.toLowerCase()) }))
    .sort((left, right) => left.edits - right.edits)
  return best !== undefined && best.edits <= EDITS_MAX && best.edits < name.length ? best.one : undefined
}

/** Levenshtein's distance. */
function editsBetween(left: string, right: string): number {
  let row = Array.from({ length: right.length + 1 }, (_, at) => at)
  for (let at = 1; at <= left.length; at++) {
    const next = [at]
    for (let to = 1; to <= right.length; to++) {
      const changed = row[to - 1]! + (left[at - 1] === right[to - 1] ? 0 : 1)
      next.push(Math.min(changed, row[to]! + 1, next[to - 1]! + 1))
    }
    row = next
  }
  return row[right.length]!
}

function describe(value: unknown): string {
  return value === null ? 'null' : Array.isArray(value) ? 'an array' : typeof value
}
