/** Goal: a write says that it is stored if and only if it is and will be sent, at whatever moment the client closes. */
import { expect, test } from 'vitest'
import { memory } from 'pannier/memory'
import { connect, type Client, type UntypedCollections, type Write } from '../src/index.ts'

const TURNS = 90
const ID = 'abcdefghijklmno'

const CALLS: Readonly<Record<string, (client: Client<UntypedCollections>) => Write<unknown>>> = {
  transaction: (client) =>
    client.transaction(async (tx) => {
      await tx.collection('notes').create({ t: 1 })
      await tx.collection('notes').create({ t: 2 })
    }),
  create: (client) => client.collection('notes').create({ t: 1 }),
  update: (client) => client.collection('notes').update(ID, { t: 2 }),
  delete: (client) => client.collection('notes').delete(ID),
}

test.each(Object.keys(CALLS))('%s', async (name) => {
  const wrong: string[] = []
  for (let turns = 0; turns < TURNS; turns++) {
    const options = { name: 'x', storage: memory(), collections: { notes: {} }, live: false }
    const first = await connect('http://127.0.0.1:1', options)
    await first.collection('notes').create({ id: ID, t: 1 })
    const write = CALLS[name]!(first as never)
    write.server.catch(() => {})
    const call = write.then(
      () => 'stored',
      (error: unknown) => (error as { code?: string }).code ?? String(error),
    )
    for (let turn = 0; turn < turns; turn++) await Promise.resolve()
    await first.close()
    const said = await call
    const second = await connect('http://127.0.0.1:1', options)
    const isStored = (await second.unsent()).length === 2
    await second.close()
    if (isStored !== (said === 'stored')) wrong.push(`after ${turns}: ${said}, stored: ${isStored}`)
  }
  expect(wrong).toEqual([])
})

test('a write is a promise with catch and finally', async () => {
  const client = await connect('http://127.0.0.1:1', { storage: memory(), collections: { notes: {} }, live: false })
  const calls: string[] = []
  const note = await client
    .collection('notes')
    .create({ t: 1 })
    .finally(() => calls.push('finally'))
  expect(note).toMatchObject({ t: 1 })
  const bad = client.transaction(() => Promise.reject(new Error('no')))
  expect(await bad.catch((error: unknown) => (error as Error).message)).toBe('no')
  expect(calls).toEqual(['finally'])
  await client.close()
})
