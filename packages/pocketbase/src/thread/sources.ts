/** The text of a function, and where it stands in its file: handlers run apart from what is around them, as in PocketBase. */
import { readFileSync } from 'node:fs'
import { registerHooks } from 'node:module'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { Script } from 'node:vm'
import type { FunctionSource } from '../protocol/messages.ts'

const FRAME = /(?:\(|at )(?:file:\/\/)?(\/[^\s()]+?):(\d+):\d+\)?$/gm

/** The source of a function that a file gives. `isOurs`: whether a path is a file of the user. */
export function sourceOf(handler: () => unknown, isOurs: (path: string) => boolean): FunctionSource {
  const code = handler.toString()
  const { file, line } = placeIn(new Error().stack ?? '', isOurs)
  const text = file === '' ? '' : readFileSync(file, 'utf8')
  const lineStart = text
    .split('\n')
    .slice(0, line - 1)
    .join('\n').length
  const near = text.indexOf(code, lineStart)
  const at = near >= 0 ? near : text.indexOf(code)
  if (at < 0) return { code, file, line, column: 1 }
  const before = text.slice(0, at).split('\n')
  return { code, file, line: before.length, column: before.at(-1)!.length + 1 }
}

function placeIn(stack: string, isOurs: (path: string) => boolean): { readonly file: string; readonly line: number } {
  for (const [, file = '', line = ''] of stack.matchAll(FRAME)) if (isOurs(file)) return { file, line: Number(line) }
  return { file: '', line: 1 }
}

const compiled = new Map<string, (...parameters: unknown[]) => unknown>()
const OPENING = "'use strict';("

/** The function of a source. Each thread compiles it once. */
export function functionOf({ code, file, line, column }: FunctionSource): (...parameters: unknown[]) => unknown {
  const key = `${file}:${line}:${column}:${code}`
  let made = compiled.get(key)
  if (made === undefined) {
    const options = { filename: file, lineOffset: line - 1, columnOffset: column - 1 - OPENING.length }
    made = new Script(`${OPENING}${code})`, options).runInThisContext() as (...parameters: unknown[]) => unknown
    compiled.set(key, made)
  }
  return made
}

/** Files of this folder are CommonJS, as there, also where the package around them says that its files are ES modules. */
export function requireAsCommonJs(folder: string): void {
  const start = pathToFileURL(`${folder}/`).href
  registerHooks({
    load: (url, context, next) =>
      url.startsWith(start) && url.endsWith('.js') && !url.includes('/node_modules/')
        ? { format: 'commonjs', source: readFileSync(fileURLToPath(url), 'utf8'), shortCircuit: true }
        : next(url, context),
  })
}

/** Runs a file. Its functions are for all files of the thread, as in PocketBase. */
export function runFile(file: string): void {
  new Script(readFileSync(file, 'utf8'), { filename: file }).runInThisContext()
}
