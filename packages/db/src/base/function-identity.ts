/**
 * The identity of a function of the caller. Its source text does not say: two functions with one text may have captured different values, and all
 * bound ones have the same. So only the object counts, unless data of the
 * caller (`version`, `parameters`) says more.
 */
import type { Environment } from './environment.ts'

const tokens = new WeakMap<object, string>()

/** A token of an object: no other object has it, and it changes in another tab and in a later process. */
export function functionToken({ randomId }: Pick<Environment, 'randomId'>, one: object): string {
  let token = tokens.get(one)
  if (token === undefined) tokens.set(one, (token = randomId()))
  return token
}
