/** Random forms with files, as browsers send them. */
import type { Random } from '../../../../db/testing/random.ts'
import type { Json } from './random-app.ts'

/** A value, or a file with its content. */
export type FormEntry = readonly [name: string, value: string, fileName?: string]

const FILE_FIELDS: Readonly<Record<string, string>> = { posts: 'documents', users: 'avatar' }
/** The base of a name says which stored file is meant later. */
const FILE_NAMES = [
  'one.txt',
  'Two Words.TXT',
  'data.json',
  'page.html',
  'no-extension',
  'x.tar.gz',
  '.hidden',
  'ü.txt',
]
const CONTENTS = ['', 'text', '{"a":1}', '<html></html>', 'more than a few bytes']
/** Stored names, by their bases: `World.ask` knows them. */
const STORED = ['{{one}}', '{{two_words}}', '{{data}}', 'nope.txt', '']

/** The values of a body, some as `@jsonPayload`, and files. */
export function randomForm(random: Random, name: string, body: Json): FormEntry[] {
  const entries = Object.entries(body).flatMap(([key, value]) => formEntries(key, value))
  const isPayload = random.chance(0.2)
  const form: FormEntry[] = isPayload ? [['@jsonPayload', JSON.stringify(body)]] : entries
  const field = FILE_FIELDS[name] ?? 'nope'
  for (let count = random.below(3); count > 0; count--) {
    const key = random.pick([field, field, `${field}+`, `+${field}`])
    form.push([key, random.pick(CONTENTS), random.pick(FILE_NAMES)])
  }
  if (random.chance(0.3)) form.push([random.pick([field, `${field}-`]), random.pick(STORED)])
  return form
}

/** A list is a name that comes several times. */
function formEntries(key: string, value: unknown): FormEntry[] {
  if (Array.isArray(value)) return value.flatMap((one) => formEntries(key, one))
  return [[key, typeof value === 'string' ? value : value === null ? '' : JSON.stringify(value)]]
}
