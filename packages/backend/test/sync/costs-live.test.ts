/**
 * Goal: what a commit costs for signals depends on what it changes, and not on how many sessions there are. Method: the look-ups, the
 * accounts that are asked about a record, and those that are computed again are counted with 100 and with 10,000 sessions.
 */
import { afterEach, expect, test, vi } from 'vitest'
import { WatchedCollection } from '../../src/sync/signals/watched-collection.ts'
import { FeedWorld, type Fields } from './feed-world.ts'
import { LiveSessions } from './live-world.ts'

/** Members of the project that all is about. Each other account has a project of its own. */
const MEMBERS = Array.from({ length: 10 }, (_, n) => `u${n}`)
const SHARED = 'shared'

afterEach(() => vi.restoreAllMocks())

interface Work {
  readonly lookups: number
  readonly asked: number
  readonly computed: number
  readonly signals: number
}

async function workWith(sessionCount: number): Promise<Readonly<Record<string, Work>>> {
  const users = Array.from({ length: sessionCount }, (_, n) => ({ id: `u${n}`, team: '' }))
  const projects = [{ id: SHARED, members: MEMBERS }, ...users.map(({ id }) => ({ id: `p${id}`, members: [id] }))]
  const docs = projects.map(({ id }) => ({ id: `d${id}`, project: id, note: '' }))
  const world = await FeedWorld.make({ users, projects, docs }, { docs: 'project.members.id ?= @request.auth.id' })
  const sessions = new LiveSessions(world)
  const opened = users.map(({ id }) => sessions.open(id, 'docs'))
  const place = vi.spyOn(WatchedCollection.prototype, 'place')
  place.mockClear()
  await sessions.follow()
  expect(place).toHaveBeenCalledTimes(sessionCount)
  const { counts } = place.mock.contexts[0] as WatchedCollection
  const total = (): number => opened.reduce((sum, { signals }) => sum + signals, 0)
  const work = async (collection: string, id: string, fields: Fields): Promise<Work> => {
    const { id: _, ...before } = world.data[collection]!.get(id)!
    const [{ lookups, asked }, signals] = [{ ...counts }, total()]
    place.mockClear()
    await world.commit({ collection, id, fields: { ...before, ...fields } })
    await sessions.follow()
    const computed = place.mock.calls.length
    return { lookups: counts.lookups - lookups, asked: counts.asked - asked, computed, signals: total() - signals }
  }
  const done = {
    edited: await work('docs', 'dshared', { note: 'another' }),
    'edited by another': await work('docs', 'dpu20', { note: 'another' }),
    moved: await work('docs', 'dpu20', { project: SHARED }),
    'a member less': await work('projects', SHARED, { members: MEMBERS.slice(1) }),
    'a member more': await work('projects', SHARED, { members: MEMBERS }),
  }
  sessions.close()
  await world.close()
  return done
}

test('a commit costs the same with 100 and with 10,000 sessions', { timeout: 120_000 }, async () => {
  const few = await workWith(100)
  expect(few).toEqual({
    edited: { lookups: 2, asked: 20, computed: 0, signals: 10 },
    'edited by another': { lookups: 2, asked: 2, computed: 0, signals: 1 },
    moved: { lookups: 2, asked: 11, computed: 0, signals: 11 },
    'a member less': { lookups: 0, asked: 0, computed: 10, signals: 1 },
    'a member more': { lookups: 0, asked: 0, computed: 10, signals: 1 },
  })
  expect(await workWith(10_000)).toEqual(few)
})
