/** Goal: words that a person types into the filter find records; a filter stays as it is. */
import { expect, test } from 'vitest'
import { filterOf } from '../src/views/field-types.ts'

const FIELDS = [
  { id: '1', name: 'title', type: 'text' },
  { id: '2', name: 'pages', type: 'number' },
  { id: '3', name: 'cover', type: 'file' },
  { id: '4', name: 'secret', type: 'text', hidden: true },
] as unknown as Parameters<typeof filterOf>[1]['fields']

test.each([
  ['Author 17', 'title ~ "Author 17" || pages ~ "Author 17"'],
  ['c:\\a', 'title ~ "c:\\\\a" || pages ~ "c:\\\\a"'],
  ['pages > 800', 'pages > 800'],
  ['title ~ "a"', 'title ~ "a"'],
  ['@request.auth.id', '@request.auth.id'],
  ['', ''],
])('%j is asked as %j', (text, filter) => expect(filterOf(text, { fields: FIELDS })).toBe(filter))
