/** Methods that a thread calls by their names. */

type Method = (...parameters: never[]) => unknown

export type Methods = Readonly<Record<string, Method>>

/** The method of a name. @throws Error for an unknown name: of an event without such a method */
export function named(methods: Methods, name: string): Method {
  const method = Object.hasOwn(methods, name) ? methods[name] : undefined
  if (method === undefined)
    throw new Error(`e.${name}() is not there in this event on Pannier: docs/guide/pocketbase-code.md.`)
  return method
}
