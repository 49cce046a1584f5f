/** Goal: what is loaded on demand and cannot be is a typed error for those who need it, and a later try loads it. */
import { expect, test } from 'vitest'
import { lazyModule, loadedModule } from '../../src/base/lazy-module.ts'
import { attempt } from '../../src/base/miss.ts'

/** Fails so many times first. */
function loader(failures: number): () => Promise<{ answer: number }> {
  return async () => {
    if (failures-- > 0) throw new TypeError('offline')
    return { answer: 42 }
  }
}

test('a failure has a code and its cause', async () => {
  const failed = loadedModule(loader(1)())
  await expect(failed).rejects.toMatchObject({ code: 'PANNIER_MODULE_NOT_LOADED', cause: new TypeError('offline') })
})

test('a module is loaded once, and again after a failure', async () => {
  let loads = 0
  const module = lazyModule(async () => {
    if (++loads === 1) throw new TypeError('offline')
    return { answer: 42 }
  })
  const read = async (): Promise<number> => attempt(() => module().answer)
  const [first, second] = await Promise.allSettled([read(), read()])
  expect([first.status, second.status]).toContain('rejected')
  expect(await Promise.all([read(), read()])).toEqual([42, 42])
  expect(loads).toBe(2)
})

test('of those that share an attempt only those fail that need it; a later attempt loads it', async () => {
  const module = lazyModule(loader(1))
  const step = (): unknown[] => {
    const outcomes: unknown[] = ['other']
    outcomes.push(module().answer)
    return outcomes
  }
  await expect((async () => attempt(step))()).rejects.toMatchObject({ code: 'PANNIER_MODULE_NOT_LOADED' })
  expect(await attempt(step)).toEqual(['other', 42])
})
