/** Goal: `pannier/all`, as it is published, is one file that loads nothing later, and has all that the library has. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { expect, test } from 'vitest'
import type * as All from '../../packages/db/src/all.ts'
import { makeFolder } from '../processes.ts'
import { joinModules } from './join-modules.ts'

test('all parts of the library are in one file, and work', async () => {
  const files = await joinModules()
  const { code } = files.find(({ fileName }) => fileName === 'src/all.js')!
  expect(code).not.toMatch(/\bimport\(["'`]/)
  expect(code.match(/^import .*$/gm) ?? []).toEqual([])
  const path = join(makeFolder('all'), 'all.mjs')
  writeFileSync(path, code)
  const all = (await import(pathToFileURL(path).href)) as typeof All
  expect(Object.keys(all).sort()).toEqual(Object.keys(await import('../../packages/db/src/all.ts')).sort())
  const db = await all.open('x', { storage: all.memory(), encryption: { password: 'a password' } })
  await all.preload()
  const rows = db.collection<{ n: number }>('rows', { indexes: ['n'] })
  await rows.insert({ _id: 'a', n: 1 })
  await db.transaction((tx) => tx.collection<{ n: number }>('rows').update('a', { n: 2 }))
  const live = rows.find({ n: { $gt: 1 } }).live()
  await live.ready
  expect(live.value?.map(({ n }) => n)).toEqual([2])
  expect((await rows.changes().toArray()).length).toBe(1)
  await rows.putAttachment('a', 'f.txt', 'x')
  expect((await rows.mapReduce({ map: ({ n }, emit) => emit(n) })).rows.map(({ key }) => key)).toEqual([2])
  expect(await rows.find().aggregate({ most: { $max: 'n' } })).toEqual({ most: 2 })
  expect((await db.check()).ok).toBe(true)
  await rows.export().pipeTo(new WritableStream())
  const failed = await rows
    .replicate({ to: 'http://127.0.0.1:9/x', fetch: () => Promise.reject(new TypeError('down')) })
    .catch(String)
  expect(failed).toMatch('there is no connection')
  live.close()
  await db.close()
})
