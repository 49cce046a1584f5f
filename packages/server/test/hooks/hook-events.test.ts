/** Goal: docs/guide/hook-events.md names each event that there is, once, and none that is not. */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { HOOK_NAMES } from '@pannier/backend/internal'
import { expect, test } from 'vitest'
import { REQUEST_EVENT_NAMES } from '../../src/hooks/request-events.ts'

const PAGE = join(import.meta.dirname, '../../../../docs/guide/hook-events.md')
/** Those that the page says are not there. */
const NOT_THERE = ['onServe']

test('the page of events has all of PocketBase 0.39, and what it says of them is so', async () => {
  const rows = (await readFile(PAGE, 'utf8')).split('\n').filter((line) => line.startsWith('| `on'))
  const named = rows.flatMap((row) => Array.from(row.split('|')[1]!.matchAll(/`(on\w+)`/g), ([, name]) => name!))
  expect(named.toSorted()).toEqual([...HOOK_NAMES, ...REQUEST_EVENT_NAMES, ...NOT_THERE].toSorted())
  expect(rows.filter((row) => row.includes('not there:')).map((row) => /`(on\w+)`/.exec(row)![1])).toEqual(NOT_THERE)
  // As many as its core/base.go has.
  expect(named).toHaveLength(83)
})
