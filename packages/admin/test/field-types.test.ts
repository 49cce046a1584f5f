/** Goal: a search finds an account by its address, whatever its title is, and never looks into its secrets. */
import { expect, test } from 'vitest'
import type { Collection } from '../src/api/collections.ts'
import { searchFilter } from '../src/views/field-types.ts'

const field = (name: string, type: string, system = false): unknown => ({ name, type, system })

test('a search looks into texts and addresses', () => {
  const fields = [field('id', 'text', true), field('tokenKey', 'text', true), field('email', 'email', true)]
  const users = { fields: [...fields, field('name', 'text')] } as unknown as Collection
  expect(searchFilter(users, 'a"b')).toBe(String.raw`id ~ "a\"b" || name ~ "a\"b" || email ~ "a\"b"`)
  expect(searchFilter(users, '')).toBe('')
})
