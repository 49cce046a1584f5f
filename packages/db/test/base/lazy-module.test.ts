/** Goal: what is loaded on demand and cannot be is a typed error for those who need it, and a later try loads it. */
import { expect, test } from 'vitest'
import { lazyModule, loadedModule, moduleOnDemand } from '../../src/base/lazy-module.ts'
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
  const module = moduleOnDemand(loader(1))
  const [first, second] = [module(), module()]
  expect(first).toBe(second)
  await expect(first).rejects.toMatchObject({ code: 'PANNIER_MODULE_NOT_LOADED' })
  expect(await module()).toEqual({ answer: 42 })
  expect(module()).toEqual({ answer: 42 })
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
