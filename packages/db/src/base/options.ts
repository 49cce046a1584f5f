/**
 * Errors of arguments, all in one form: `open(): durability must be 'relaxed' or 'strict', got 'fast'`. The function comes
 * first and the value last. Also checks option objects: a misspelt option would be ignored silently.
 */

import { isPromise } from './async.ts'

/** The names of all options of `Options`. The compiler ensures that the list is complete. */
export type OptionNames<Options> = Readonly<Record<AllKeys<Options>, true>>

type AllKeys<Options> = Options extends unknown ? keyof Options : never

/** A misspelt name differs from the right one by at most this number of letters. */
const EDITS_MAX = 2

const SHOWN_CHARS_MAX = 50

/**
 * For packages built on this one, too.
 *
 * @param call The function that the user called.
 * @param must What must be: `durability must be 'relaxed' or 'strict'`.
 * @param got The value that came. Never a secret.
 * @example
 * throw badArgument('open()', 'name must be a string', 5)
 */
export function badArgument(call: string, must: string, got: unknown): TypeError {
  return new TypeError(`${call}: ${must}, got ${show(got)}`)
}

/** Every `subscribe` checks its arguments so. */
export function checkListener(listener: unknown, options = {}): void {
  if (typeof listener !== 'function') throw badArgument('subscribe()', 'listener must be a function', listener)
  checkOptions('subscribe()', options, { onEnd: true })
}

/** Thrown by a check that several functions share; `calling` adds the function. */
export class ArgumentError extends TypeError {
  constructor(must: string, got: unknown) {
    super(`${must}, got ${show(got)}`)
  }
}

/** Runs `body`, and names the function that the user called in an `ArgumentError`. */
export function calling<T>(call: string, body: () => T): T {
  try {
    return body()
  } catch (error) {
    throw named(call, error)
  }
}

/** As `calling`, for a function that promises. Wrong arguments throw at once; everything else rejects. */
export function promised<T>(call: string, body: () => T | Promise<T>): Promise<T> {
  try {
    const result = body()
    return isPromise(result) ? result : Promise.resolve(result)
  } catch (error) {
    if (error instanceof TypeError) throw named(call, error)
    return Promise.reject(error as Error)
  }
}

/** The same error, but an `ArgumentError` with the function that the user called. */
export function named(call: string, error: unknown): unknown {
  return error instanceof ArgumentError ? new TypeError(`${call}: ${error.message}`) : error
}

/** A value in a message: short, and without its contents. */
function show(value: unknown): string {
  if (typeof value === 'string')
    return value.length > SHOWN_CHARS_MAX ? `'${value.slice(0, SHOWN_CHARS_MAX)}…'` : `'${value}'`
  if (typeof value === 'function') return 'a function'
  if (typeof value !== 'object' || value === null) return typeof value === 'bigint' ? `${value}n` : String(value)
  const name: unknown = value.constructor?.name
  return typeof name !== 'string' || name === 'Object' ? 'an object' : `${/^[AEIOU]/.test(name) ? 'an' : 'a'} ${name}`
}

/**
 * Throws a TypeError if `options` is not an object or has an unknown option; the message has the nearest known name.
 * For packages built on this one, too. `call` names the function in the message; the keys of `names` are the options.
 *
 * @example
 * checkOptions('open()', options, { storage: true, collections: true })
 */
export function checkOptions(call: string, options: unknown, names: object): void {
  if (!isObject(options)) throw badArgument(call, 'options must be an object', options)
  for (const name of Object.keys(options)) {
    if (Object.hasOwn(names, name)) continue
    const near = nearest(name, Object.keys(names))
    const known = near === undefined ? `among ${Object.keys(names).join(', ')}` : `known (did you mean '${near}'?)`
    throw badArgument(call, `options must be ${known}`, name)
  }
}

/** Whether a value is an object: null and arrays are not. `isPlainObject` refuses instances of classes, too. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Throws a TypeError if the option is given and none of the choices. */
export function checkChoice(call: string, name: string, choice: unknown, choices: readonly string[]): void {
  if (choice !== undefined && !choices.includes(choice as string))
    throw badArgument(call, `${name} must be one of ${choices.join(', ')}`, choice)
}

export function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0
}

export function checkCount(call: string, name: string, value: unknown): void {
  if (!isCount(value)) throw badArgument(call, `${name} must be a whole number from 0`, value)
}

/** Arguments that are numbers of rows. */
export function checkedCount(rows: number, what: string): number {
  checkCount(`${what}()`, 'rows', rows)
  return rows
}

/** The name that was probably meant. */
export function nearest(name: string, names: readonly string[]): string | undefined {
  const lower = name.toLowerCase()
  for (let edits = 0; edits <= EDITS_MAX && edits < name.length; edits++)
    for (const one of names) if (isWithin(lower, one.toLowerCase(), edits)) return one
  return names.find((one) => one.toLowerCase().startsWith(lower))
}

/** Whether at most `edits` added, removed or replaced letters turn one into the other. */
function isWithin(left: string, right: string, edits: number): boolean {
  if (edits < 0) return false
  if (left === right) return true
  const [inner, other] = [left.slice(1), right.slice(1)]
  if (left[0] === right[0]) return isWithin(inner, other, edits)
  return isWithin(inner, other, edits - 1) || isWithin(inner, right, edits - 1) || isWithin(left, other, edits - 1)
}
