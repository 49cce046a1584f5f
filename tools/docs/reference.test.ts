/**
 * Goal: the reference is complete and current. Method: it is made again and compared, and codes of errors are looked
 * for.
 */
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { root } from './code-blocks.ts'
import { referencePages } from './reference.ts'

const folder = join(root, 'docs/reference')
const read = (path: string): string => readFileSync(join(root, path), 'utf8')
const rows = read('docs/reference/errors.md')

test.each([...referencePages()])('%s is what npm run api writes', (file, text) => {
  expect(read(join('docs/reference', file))).toBe(text)
})

test('there is no other page', () => {
  expect(globSync('*', { cwd: folder }).toSorted()).toEqual(['errors.md', ...referencePages().keys()].toSorted())
})

test('each code of the library has a cause and a cure', () => {
  const codes = read('packages/db/src/base/errors.ts').match(/(?<=\| ')PANNIER_\w+(?=')/g)!
  expect(codes.length).toBeGreaterThan(30)
  for (const code of codes)
    expect(rows, code).toMatch(new RegExp(`^\\| \`${code}\` +\\| [^|]{5,} \\| [^|]{5,} \\|$`, 'm'))
})

test('each code of a ServiceError has a row, with its answer', () => {
  const source = read('packages/server/src/http/http-error.ts')
  const codes = [...source.matchAll(/^ {2}((?!PANNIER_)[A-Z_]+): \[(\d{3}), '(\w+)'\]/gm)]
  const type = read('packages/backend/src/gateway/service-error.ts')
  expect(new Set(codes.map(([, code]) => code))).toEqual(new Set(type.match(/(?<=^ {2}\| ')\w+(?=')/gm)))
  for (const [, code, status, word] of codes)
    expect(rows, code).toMatch(new RegExp(`^\\| \`${code}\` +\\| ${status} \`${word}\` +\\| [^|]{5,} \\|$`, 'm'))
})

test('a code names the thing first and the problem last', () => {
  const sources = [
    'db/src/base/errors.ts',
    'backend/src/gateway/service-error.ts',
    'db/src/database/check/check-database.ts',
  ]
  const words = sources.flatMap((path) => read(`packages/${path}`).match(/(?<=\| ')[A-Z_]+(?=')/g) ?? [])
  expect(words.length).toBeGreaterThan(60)
  const problem = /^(INVALID|WRONG|NEWER|OLDER|UNSAFE|DAMAGED|MISSING|UNKNOWN|BAD)_/
  expect(words.map((word) => word.replace(/^PANNIER_/, '')).filter((word) => problem.test(word))).toEqual([])
})

test('each error of the server has a row', () => {
  const sources = globSync('packages/server/src/**/*.ts', { cwd: root }).map(read).join('\n')
  const words = sources.matchAll(/(?:HttpError\(\s*|\[)([45]\d\d),\s*'([a-z_]+)'/g)
  const known = new Set([...words].map(([, status, word]) => `${status} ${word}`))
  expect(known.size).toBeGreaterThan(30)
  for (const one of known) {
    const [status, word] = one.split(' ')
    expect(rows, one).toMatch(new RegExp(`^\\| ${status} +\\|.*\`${word}\``, 'm'))
  }
})

test('each code of JSONStore has a row', () => {
  const codes = [...read('packages/jsonstore/src/codes.ts').matchAll(/^ {2}'(-?\d+)': '(\w+)'/gm)]
  expect(codes.length).toBe(64)
  for (const [, code, name] of codes)
    expect(rows, name).toMatch(new RegExp(`^\\| +${code} \\| \`${name}\` +\\| .{5,} \\|$`, 'm'))
})
