/** Goal: `e.records` reads the records of a page at once, and once. */
import { expect, test } from 'vitest'
import { eventMethods, named, type ServerEvent } from '../src/host/event-methods.ts'

function listOf(
  items: readonly object[],
  stored: readonly string[],
): { readonly records: () => unknown; readonly asked: unknown[] } {
  const asked: unknown[] = []
  const findRecordsByIds = async (collection: string, ids: readonly string[]): Promise<object[]> => {
    asked.push([collection, ids])
    return ids.filter((id) => stored.includes(id)).map((id) => ({ id }))
  }
  const event = { app: { findRecordsByIds }, collection: { id: 'posts' }, result: { items } } as unknown as ServerEvent
  return { records: () => named(eventMethods({ name: 'onRecordsListRequest', event }), 'records')(), asked }
}

test('the records of a page are one read, however often they are asked for', async () => {
  const { records, asked } = listOf([{ id: 'a' }, { id: 'b' }], ['a', 'b'])
  expect(await records()).toEqual([{ id: 'a' }, { id: 'b' }])
  await records()
  expect(asked).toEqual([['posts', ['a', 'b']]])
})

test('a page without ids, and a record that is gone, are refused', async () => {
  await expect(listOf([{ title: 'a' }], []).records()).rejects.toThrow('the request must ask for `id`')
  await expect(listOf([{ id: 'a' }], []).records()).rejects.toMatchObject({ code: 'NOT_FOUND' })
})
