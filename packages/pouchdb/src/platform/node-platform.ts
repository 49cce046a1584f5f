/** Binary content and functions of design documents in Node. As in PouchDB, binary content is a Buffer with a `type`. */
import { createContext, runInContext } from 'node:vm'

/** The form in which the library gives content that is asked for as binary. */
export const BINARY_FORM = 'bytes'

export function binaryOf(content: unknown, type: unknown): unknown {
  const { buffer, byteOffset, byteLength } = content as Uint8Array<ArrayBuffer>
  return Object.assign(Buffer.from(buffer, byteOffset, byteLength), { type })
}

/**
 * The function that an expression gives, with these globals. Each has a context of its own, so that functions of design documents don't see
 * or change the globals of the process. That is no sandbox.
 */
export function functionOf(expression: string, globals: Readonly<Record<string, unknown>>): unknown {
  return runInContext(expression, createContext({ ...globals }))
}
