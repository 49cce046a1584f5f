/**
 * Goal: devices that change one record offline lose nothing, and come to one result.
 * Method: three devices add words to a text that a function merges, and count. Requests and answers get lost. Then all sync.
 */
import { expect, test } from 'vitest'
import { seedsOf } from '../../../tools/test/seeds.ts'
import { seededRandom } from '../../db/testing/random.ts'
import { ClientError, type Merge } from '../src/index.ts'
import { AppServer } from './app-server.ts'
import { Device, seen } from './device.ts'

const STEPS = 40
const WORDS = 15

/** What is there, and the words that this device has added. */
const merge: Merge = ({ base, mine, theirs }) => {
  if (mine['title'] === undefined) return mine
  const words = (record: Readonly<Record<string, unknown>>): string[] => String(record['title']).split(' ')
  const added = words(mine).filter((word) => !words(base).includes(word))
  return { ...mine, title: [...new Set([...words(theirs), ...added])].join(' ') }
}

test.each(seedsOf('model'))('three devices add words to one record, and no word is lost: seed %i', async (seed) => {
  const random = seededRandom(seed)
  await using app = await AppServer.start()
  const ann = await app.addUser('ann')
  const project = await app.add('projects', { name: 'house', members: [ann.id] })
  const id = await app.add('tasks', { title: 'a', project })
  const collections = { projects: {}, tasks: { merge } }
  const clients = await Promise.all([0, 1, 2].map(() => new Device(app).openAs(ann, { collections })))
  const syncAll = async (): Promise<void> => {
    for (const client of clients) await client.sync()
  }
  await syncAll()
  const added: string[] = []
  let count = 0
  const network = random.fork()
  app.lose = () => (network.chance(0.2) ? network.pick(['request', 'answer'] as const) : undefined)
  for (let step = 0; step < STEPS; step++) {
    const client = random.pick(clients)
    const tasks = client.collection('tasks')
    const dice = random.below(10)
    if (dice < 3 && added.length < WORDS) {
      const word = `w${added.length}`
      added.push(word)
      await tasks.update(id, { title: `${String((await tasks.get(id))!['title'])} ${word}` })
    } else if (dice < 6) {
      count++
      await tasks.update(id, { 'count+': 1 })
    } else
      await client.sync().catch((error: unknown) => {
        if (!(error instanceof ClientError) || error.code !== 'PANNIER_PEER_UNREACHABLE') throw error
      })
  }
  app.lose = () => undefined
  await syncAll()
  await syncAll()
  const listed = await app.listed('tasks', ann)
  expect(String(listed.get(id)!['title']).split(' ').toSorted()).toEqual(['a', ...added].toSorted())
  expect(listed.get(id)!['count']).toBe(count)
  for (const client of clients) {
    expect([client.state.unsent, await client.rejected()]).toEqual([0, []])
    expect(await seen(client, 'tasks')).toEqual(listed)
    await client.close()
  }
})
