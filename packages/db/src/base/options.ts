/** Checks option objects of the public API: a misspelt option would be passed over in silence. */

/** The names of all options of `Options`; the compiler sees to it that none is forgotten. */
export type OptionNames<Options> = Readonly<Record<AllKeys<Options>, true>>

type AllKeys<Options> = Options extends unknown ? keyof Options : never

/** As many letters may be wrong in a name that is meant to be another. */
const EDITS_MAX = 2

/**
 * Throws a TypeError for what is no object and for an option that there is not, with the name that is nearest. For packages built on this one,
 * too. `call` names the function in the message; the keys of `names` are the options.
 *
 * @example
 * checkOptions('open()', options, { storage: true, collections: true })
 */
export function checkOptions(call: string, options: unknown, names: object): void {
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
  for (let edits = 0; edits <= EDITS_MAX && edits < name.length; edits++)
    for (const one of names) if (isWithin(lower, one.toLowerCase(), edits)) return one
  return names.find((one) => one.toLowerCase().startsWith(lower))
}

/** Whether one becomes the other by at most `edits` letters that are added, left out or replaced. */
function isWithin(left: string, right: string, edits: number): boolean {
  if (edits < 0) return false
  if (left === right) return true
  const [inner, other] = [left.slice(1), right.slice(1)]
  if (left[0] === right[0]) return isWithin(inner, other, edits)
  return isWithin(inner, other, edits - 1) || isWithin(inner, right, edits - 1) || isWithin(left, other, edits - 1)
}

function describe(value: unknown): string {
  return value === null ? 'null' : Array.isArray(value) ? 'an array' : typeof value
}
