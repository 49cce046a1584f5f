/** Binary content and functions of design documents in browsers. As in PouchDB, binary content is a Blob. */

/** The form in which the library gives content that is asked for as binary. */
export const BINARY_FORM = 'blob'

export function binaryOf(content: unknown, type: unknown): unknown {
  return content instanceof Blob ? content : new Blob([content as Uint8Array<ArrayBuffer>], { type: String(type) })
}

/** The function that an expression gives, with these globals. A page whose policy forbids `eval` can only use functions of its own. */
export function functionOf(expression: string, globals: Readonly<Record<string, unknown>>): unknown {
  // oxlint-disable-next-line typescript/no-implied-eval -- views of design documents are text
  const make = new Function(...Object.keys(globals), `"use strict"; return ${expression}`) as (
    ...given: unknown[]
  ) => unknown
  return make(...Object.values(globals))
}
