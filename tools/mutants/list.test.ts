/** Goal: the list of mutants stays true. Each can be made, and is code that parses. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { root } from '../checks/packages.ts'
import { filesOf, GROUPS } from './groups.ts'
import { editOf, readMutants } from './list.ts'
import { visit } from './syntax.ts'

const MUTANTS_MIN = 150

const mutants = readMutants()

test('each group has mutants, and all together are enough', () => {
  expect([...new Set(mutants.map(({ group }) => group))]).toEqual(Object.keys(GROUPS))
  expect(mutants.length).toBeGreaterThanOrEqual(MUTANTS_MIN)
})

test('each mutant has a name of its own', () => {
  const names = mutants.map(({ name }) => name)
  expect(names.filter((name, at) => names.indexOf(name) < at)).toEqual([])
})

test.for(mutants.map((mutant) => [mutant.name, mutant] as const))('%s', ([, mutant]) => {
  expect(filesOf(mutant.group, root)).toContain(mutant.file)
  const source = readFileSync(join(root, mutant.file), 'utf8')
  const { start, end, text } = editOf(mutant, root)
  expect(source.slice(start, end)).not.toBe(text)
  expect(() => visit(mutant.file, source.slice(0, start) + text + source.slice(end), () => {})).not.toThrow()
})
