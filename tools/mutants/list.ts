/** The list of mutants: `generate.ts` has proposed them, and a person has read and named each. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { placeOf, type Mutation } from '../test/mutants.ts'
import type { Edit } from './edits.ts'
import { visit, type Node } from './syntax.ts'

export interface Mutant extends Mutation {
  readonly group: string
  /** The broken behaviour in words. No other mutant has this name. */
  readonly name: string
}

export function readMutants(): readonly Mutant[] {
  const groups = JSON.parse(readFileSync(join(import.meta.dirname, 'mutants.json'), 'utf8')) as Record<
    string,
    readonly Omit<Mutant, 'group'>[]
  >
  return Object.entries(groups).flatMap(([group, mutants]) => mutants.map((one) => ({ ...one, group })))
}

/** The edit that the mutant makes in a checkout of the repository. @throws Error: the text is not there once */
export function editOf(mutant: Mutant, suite: string): Edit {
  const start = placeOf(mutant, readFileSync(join(suite, mutant.file), 'utf8'))
  return { start, end: start + mutant.text.length, text: mutant.replacement }
}

export function lineOf(mutant: Mutant, suite: string): number {
  const source = readFileSync(join(suite, mutant.file), 'utf8')
  return source.slice(0, changedAt(mutant, source)).split('\n').length
}

/** Calls `globalThis.mutantReached` before the mutant's statement; undefined: the statement runs when the module is loaded. */
export function probeOf(mutant: Mutant, number: number, suite: string): Edit | undefined {
  const source = readFileSync(join(suite, mutant.file), 'utf8')
  const at = changedAt(mutant, source)
  let found: Node | undefined
  visit(mutant.file, source, (node, around) => {
    const isAround = node.start <= at && at < node.end
    const isListed = ['BlockStatement', 'SwitchCase'].includes(around.at(-1)?.type ?? '')
    if (isAround && isListed && around.some(({ type }) => /Function/.test(type))) found = node
  })
  return found && { start: found.start, end: found.start, text: `globalThis.mutantReached?.(${number});` }
}

/** The first character that the mutant changes. */
function changedAt(mutant: Mutant, source: string): number {
  const { text, replacement } = mutant
  let same = 0
  while (same < text.length && text[same] === replacement[same]) same++
  return placeOf(mutant, source) + Math.min(same, text.length - 1)
}
