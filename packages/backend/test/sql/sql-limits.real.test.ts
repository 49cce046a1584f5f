/** Goal: SQL reads collections of any size and changes 10,000 records; more is refused, and changes nothing. */
import { open } from 'pannier'
import { memory } from 'pannier/memory'
import { expect, test } from 'vitest'
import { recordsName } from '../../src/definitions/definition.ts'
import { openBackend, SYSTEM } from '../../src/index.ts'

const TIMEOUT_MS = 120_000

test('what exceeds the limits is refused', { timeout: TIMEOUT_MS }, async () => {
  const database = await open('app', { storage: memory() })
  const { definitions, sql, close } = await openBackend(database)
  await definitions.create(SYSTEM, { name: 'many', type: 'base', fields: [{ name: 'number', type: 'number' }] })
  const records = database.collection<{ _id: string; number: number }>(recordsName(definitions.find('many')!))
  const ids = Array.from({ length: 100_000 }, (_, at) => `r${String(at).padStart(14, '0')}`)
  for (let at = 0; at < ids.length; at += 1000)
    await records.insert(ids.slice(at, at + 1000).map((_id) => ({ _id, number: 1 })))
  const numbers = async (): Promise<unknown> =>
    (await sql.run(SYSTEM, 'SELECT number, count(*) FROM many GROUP BY 1 ORDER BY 1')).rows
  await expect(sql.run(SYSTEM, 'UPDATE many SET number = 2')).rejects.toThrow('change 100000 records, and 10000')
  expect(await numbers()).toEqual([['1', '100000']])
  await sql.run(SYSTEM, `UPDATE many SET number = 2 WHERE id < '${ids[10_000]!}'`)
  expect(await numbers()).toEqual([
    ['1', '90000'],
    ['2', '10000'],
  ])
  await records.insert({ _id: 'one', number: 1 })
  expect(await numbers()).toEqual([
    ['1', '90001'],
    ['2', '10000'],
  ])
  await close()
  await database.close()
})
