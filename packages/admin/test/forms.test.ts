/** Goal: forms say in plain words what is wrong, and the page's examples and passwords are such as a server takes. */
import { virtualEnvironment } from 'pannier/testing'
import { beforeAll, expect, test, vi } from 'vitest'
import { SignIn } from '../../client/src/sign-in.ts'
import type { Collection, Field } from '../src/api/collections.ts'
import { newPassword } from '../src/state/new-password.ts'
import type * as Drafts from '../src/views/definition/drafts.ts'
import type * as Examples from '../src/views/api/examples.ts'
import type * as Kinds from '../src/views/kinds.ts'

let drafts: typeof Drafts
let kinds: typeof Kinds
let examples: typeof Examples

beforeAll(async () => {
  vi.stubGlobal('addEventListener', () => {})
  vi.stubGlobal('document', { baseURI: 'https://example.org/_/' })
  drafts = await import('../src/views/definition/drafts.ts')
  kinds = await import('../src/views/kinds.ts')
  examples = await import('../src/views/api/examples.ts')
})

function fieldOf(name: string, type: string): Field {
  return { id: name, name, type, system: false, hidden: false, presentable: false }
}

test.each([
  ['number', 'abc', '“abc” is not a number.'],
  ['number', '1,5', '“1,5” is not a number.'],
  ['number', ' ', 'A number is missing.'],
  ['geoPoint', { lon: '1', lat: '' }, 'A number is missing.'],
  ['geoPoint', { lon: 'east', lat: '1' }, '“east” is not a number.'],
  ['json', '{a', 'This is not JSON: '],
] as const)('a %s that is no value is named: %s', (type, value, message) => {
  const field = fieldOf('x', type)
  expect(() => kinds.kindOf(field).sent(field, value)).toThrow(message)
})

test('a name with other signs is refused with the signs that a name has', () => {
  const wrong = { code: 'validation_match_invalid', message: 'Must be in a valid format.' }
  const said = 'A name has letters, digits and underscores only'
  expect(drafts.errorAt({ name: wrong }, 'name')).toContain(said)
  expect(drafts.errorAt({ fields: { 0: { name: wrong } } }, 'fields', 0, 'name')).toContain(said)
  expect(drafts.errorAt({ pattern: wrong }, 'pattern')).toBe(wrong.message)
  expect(drafts.errorAt({ name: { code: 'x', message: 'Taken.' } }, 'name')).toBe('Taken.')
})

test('a new field comes above the dates that are set by themselves, wherever those are', () => {
  const [title, count] = [fieldOf('title', 'text'), fieldOf('count', 'number')]
  const [created, updated] = [fieldOf('created', 'autodate'), fieldOf('updated', 'autodate')]
  const names = (fields: readonly Field[]): string => fields.map(({ name }) => name).join(' ')
  expect(names(drafts.withField([title, created, updated], count))).toBe('title count created updated')
  expect(names(drafts.withField([created, title, updated], count))).toBe('created title count updated')
  expect(names(drafts.withField([created], count))).toBe('count created')
  expect(names(drafts.withField([], count))).toBe('count')
  expect(names(drafts.withField([title, created], updated))).toBe('title created updated')
})

test('a password that the page makes has 20 signs, and is another one each time', () => {
  const environment = virtualEnvironment()
  const made = Array.from({ length: 50 }, () => newPassword(environment))
  expect(new Set(made).size).toBe(50)
  for (const password of made) expect(password).toMatch(/^[a-km-np-z2-9]{20}$/)
})

const COLLECTION = {
  name: 'my-posts',
  type: 'auth',
  system: false,
  fields: [fieldOf('title', 'text'), fieldOf('rating', 'number'), fieldOf('cover', 'file')],
  otp: { enabled: true },
  oauth2: { enabled: true, providers: [] },
  passwordAuth: { enabled: true },
} as unknown as Collection

test('each operation has an example that is TypeScript, and names methods that there are', async () => {
  const { stripTypeScriptTypes } = await import('node:module')
  for (const operation of examples.operationsOf(COLLECTION))
    for (const code of [examples.sdkOf(COLLECTION, operation), examples.clientOf(COLLECTION, operation) ?? '']) {
      // A file of an example is not written out.
      expect(() => stripTypeScriptTypes(code.replaceAll('…', ''))).not.toThrow()
      for (const [, method] of code.matchAll(/signIn\.(\w+)/g)) expect(SignIn.prototype).toHaveProperty(method!)
    }
})

test('what the library does not hold has no example of it', () => {
  expect(examples.clientOf({ ...COLLECTION, type: 'view' }, 'list')).toBeUndefined()
  expect(examples.clientOf({ ...COLLECTION, system: true }, 'list')).toBeUndefined()
  expect(examples.clientOf({ ...COLLECTION, type: 'base' }, 'list')).toContain(
    `client.collection("my-posts").find({\n  rating: 1\n}).sort('_id').toArray()`,
  )
})
