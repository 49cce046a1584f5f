/** Goal: a delete happens when it can't be undone any more, and in the name of the account that has asked for it, or not at all. */
import { virtualEnvironment } from 'pannier/testing'
import { beforeAll, expect, test, vi } from 'vitest'
import type * as Deletes from '../src/state/pending-deletes.ts'
import { UNDO_MS } from '../src/state/undo.ts'
import type * as Sessions from '../src/state/session.ts'

let deletes: typeof Deletes
let sessions: typeof Sessions

beforeAll(async () => {
  vi.stubGlobal('addEventListener', () => {})
  vi.stubGlobal('localStorage', { getItem: () => null })
  deletes = await import('../src/state/pending-deletes.ts')
  sessions = await import('../src/state/session.ts')
})

const as = (id: string): void => sessions.session.set({ token: `token of ${id}`, record: { id } as never })

test.each([
  ['the same account', () => as('ann'), ['a', 'b']],
  ['another account', () => as('bob'), []],
  ['nobody', () => sessions.session.set(undefined), []],
])('%s is signed in when the time is over', async (_who, change, expected) => {
  const environment = virtualEnvironment()
  as('ann')
  const removed: string[] = []
  const { done } = deletes.deleteLater(environment, ['a', 'b'], async (id) => void removed.push(id))
  change()
  expect([...deletes.leaving.get()]).toEqual(['a', 'b'])
  await environment.advance(UNDO_MS)
  await done
  expect(removed).toEqual(expected)
  expect(deletes.leaving.get().size).toBe(0)
})

test('another account that signs in meanwhile deletes nothing more', async () => {
  const environment = virtualEnvironment()
  as('ann')
  const removed: string[] = []
  const ids = Array.from({ length: 20 }, (_, n) => `${n}`)
  const { done } = deletes.deleteLater(environment, ids, async (id) => {
    removed.push(id)
    as('bob')
  })
  await environment.advance(UNDO_MS)
  await done
  expect(removed.length).toBeLessThanOrEqual(6)
})
