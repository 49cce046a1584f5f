import { expect, test } from 'vitest'
import { open } from '../../src/index.ts'
import { rehearse } from '../../src/database/lifecycle/rehearsal.ts'

test('the rehearsal reads its document by the index, and writes nothing', async () => {
  const found = await rehearse(async (storage, name, options) => {
    const database = await open(name, { storage, ...options })
    const { plan } = await database
      .collection('a')
      .find({ b: { $gte: 'd' } })
      .sort('b')
      .explain()
    expect(JSON.stringify(plan)).toContain('"index":"b"')
    return database
  })
  expect(found).toMatchObject([{ _id: 'c', b: 'd', e: 1, f: 0.5, g: ['h'] }])
})
