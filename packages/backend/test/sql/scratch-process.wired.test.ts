/** Goal: statements that take too long or too much memory are ended, with the reason. */
import { systemEnvironment } from 'pannier/internal'
import { expect, test } from 'vitest'
import { runScratch } from '../../src/sql/scratch-process.ts'

const environment = systemEnvironment()
const NEVER = new AbortController().signal
const ENDLESS = 'with recursive n(i) as (select 1 union all select i + 1 from n) select count(*) from n'

test('statements that never end are ended', async () => {
  const run = runScratch([], ENDLESS, { environment, signal: NEVER, timeMsMax: 2000 })
  await expect(run).rejects.toMatchObject({
    code: 'INVALID',
    message: 'Failed to execute query. Raw error:\nthe statements took more than 2000 ms, and were ended',
  })
})

test('statements that take too much memory are ended', async () => {
  const numbers = 'with recursive n(i) as (select 1 union all select i + 1 from n limit 100000)'
  const large = `create table t as ${numbers} select randomblob(100000) from n`
  const run = runScratch([], large, { environment, signal: NEVER, timeMsMax: 100_000, memoryBytesMax: 300 << 20 })
  await expect(run).rejects.toMatchObject({
    code: 'INVALID',
    message: expect.stringContaining(' bytes, and were ended') as string,
  })
})

test('statements are ended when the server closes', async () => {
  const closing = new AbortController()
  const run = runScratch([], ENDLESS, { environment, signal: closing.signal })
  const reason = new Error('closing')
  setImmediate(() => closing.abort(reason))
  await expect(run).rejects.toBe(reason)
})

test('what is not allowed leaves no file, and a large answer is refused', async () => {
  const run = (statements: string): Promise<unknown> => runScratch([], statements, { environment, signal: NEVER })
  await expect(run("vacuum into 'x.db'")).rejects.toThrow('VACUUM')
  const numbers = 'with recursive n(i) as (select 1 union all select i + 1 from n limit 10)'
  await expect(run(`${numbers} select hex(zeroblob(4000000)) from n`)).rejects.toThrow('select fewer rows or columns')
})
