/** Goal: what a client is connected with is checked before anything is opened. */
import { memory } from 'pannier/memory'
import { virtualEnvironment } from 'pannier/testing'
import { expect, test } from 'vitest'
import { connect } from '../src/index.ts'

const connected = async (count: number): Promise<void> => {
  const collections = Array.from({ length: count }, (_, n) => `tasks${n}`)
  const options = { collections, storage: memory(), environment: virtualEnvironment(), live: false }
  await (await connect('https://app.test', options)).close()
}

test.each([1, 50])('a client may have %d collections', async (count) => {
  await connected(count)
})

test.each([0, 51])('a client may not have %d collections', async (count) => {
  await expect(connected(count)).rejects.toThrow(`collections must be 1 to 50, got ${count}`)
})
