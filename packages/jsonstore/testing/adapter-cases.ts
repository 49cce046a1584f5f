/** push, pushSelected, load and sync. */
import { assertEqual } from 'pannier/testing'
import { open } from 'pannier'
import type { ReplicationTarget } from 'pannier'
import { memory } from 'pannier/memory'
import type { AdapterCall, JsonObject } from '../src/index.ts'
import type { Case, Lab } from './rows.ts'

const ADAPTER = {
  name: 'people',
  add: 'addPerson',
  remove: 'removePerson',
  replace: 'replacePerson',
  load: { procedure: 'getPeople', params: ['all'], key: 'people.list' },
  accept: (response: { status: number }) => response.status === 200,
  timeout: 3000,
}

function config(adapter: object = ADAPTER): { people: { searchFields: { name: 'string' }; adapter: typeof ADAPTER } } {
  return { people: { searchFields: { name: 'string' }, adapter: adapter as typeof ADAPTER } }
}

/** Notes what an adapter is asked. */
function server(answer: (call: AdapterCall) => unknown): {
  readonly calls: unknown[]
  readonly invokeProcedure: (call: AdapterCall, options: { readonly timeout?: number }) => Promise<unknown>
} {
  const calls: unknown[] = []
  return {
    calls,
    invokeProcedure: async (call, { timeout }) => {
      calls.push([call.adapter, call.procedure, call.parameters, timeout])
      return await answer(call)
    },
  }
}

export const adapterCases: readonly Case[] = [
  {
    name: 'push hands each dirty document to the adapter, in turn',
    rows: ['push', 'init: adapter'],
    codes: [9, 12, 20, -10, -100],
    async run(lab) {
      const { calls, invokeProcedure } = server(({ parameters }) => {
        const { name } = JSON.parse(parameters[0] as string) as { name: string }
        if (name === 'Broken') throw new Error('no network')
        return { status: name === 'Refused' ? 500 : 200 }
      })
      const store = lab.store({ invokeProcedure })
      const { people } = await store.init(config())
      await people.add([{ name: 'Ann' }, { name: 'Bob' }])
      assertEqual(await people.push(), [])
      assertEqual(calls, [
        ['people', 'addPerson', ['{"name":"Ann"}'], 3000],
        ['people', 'addPerson', ['{"name":"Bob"}'], 3000],
      ])
      assertEqual(await people.push(), [])
      assertEqual(calls.splice(0).length, 2)
      await people.replace({ _id: 1, json: { name: 'Refused' } })
      await people.remove(2)
      await people.add({ name: 'Broken' })
      const errors = await people.push()
      assertEqual(
        errors.map(({ err, src, col, doc }) => [err, src, col, (doc as { _id: number })._id]),
        [
          [-10, 'push', 'people', 1],
          [12, 'push', 'people', 3],
        ],
      )
      for (const [at, code] of [-10, 12].entries()) lab.failed(errors[at], code)
      assertEqual(calls.splice(0)[1], ['people', 'removePerson', ['{"name":"Bob"}'], 3000])
      assertEqual(await people.countAllDirty(), 2)
      await store.closeAll()

      const { people: other } = await store.init(config({ name: 'people' }))
      lab.failed((await other.push())[0], 20)
      await store.closeAll()
      const accept = (): boolean => {
        throw new Error('a mistake of the app')
      }
      const { people: third } = await store.init(config({ ...ADAPTER, accept }))
      lab.failed((await third.push())[0], -100)
      await store.closeAll()
      const { people: fourth } = await store.init({ people: { searchFields: { name: 'string' } } })
      for (const work of [fourth.push(), fourth.load(), fourth.pushSelected([]), fourth.sync()])
        await lab.fails(work, 9)
    },
  },
  {
    name: 'push pushes documents and ids that it is given, and no others',
    rows: ['push', 'pushSelected'],
    codes: [7, 10],
    async run(lab) {
      const { calls, invokeProcedure } = server(() => ({ status: 200 }))
      const { people } = await lab.store({ invokeProcedure }).init(config())
      await people.add(['Ann', 'Bob', 'Cid', 'Dan', 'Eve', 'Fay'].map((name) => ({ name })))
      const pushed = (): unknown[] => calls.splice(0).map((call) => JSON.parse((call as [0, 0, [string]])[2][0]).name)
      const [first, second] = await people.findAll()
      await people.push([second!])
      assertEqual(pushed(), ['Bob'])
      await people.push(first!)
      assertEqual(pushed(), ['Ann'])
      await people.push(3)
      await people.push([4, 99])
      assertEqual(pushed(), ['Cid', 'Dan'])
      await people.push([])
      assertEqual([pushed(), await people.countAllDirty()], [[], 2], 'nothing was chosen')
      await lab.fails(people.push([{ name: 'Ann' }] as never), 7)
      await lab.fails(people.pushSelected('x' as never), 10)
      await people.push({ onSuccess: () => {} })
      assertEqual(pushed(), ['Eve', 'Fay'])
    },
  },
  {
    name: 'accept decides with any truthy value, and gets the JSON of the document',
    rows: ['push', 'init: adapter'],
    async run(lab) {
      const seen: unknown[] = []
      const accept = (response: unknown, json: { name: string }): unknown => {
        seen.push(response, json)
        return json.name === 'Ann' ? 'yes' : ''
      }
      const store = lab.store({ invokeProcedure: async () => await Promise.resolve('answer') })
      const { people } = await store.init(config({ ...ADAPTER, accept }))
      await people.add([{ name: 'Ann' }, { name: 'Bob' }])
      assertEqual(
        (await people.push()).map(({ err }) => err),
        [-10],
      )
      assertEqual(seen, ['answer', { name: 'Ann' }, 'answer', { name: 'Bob' }])
      await store.closeAll()
      // Without it, an adapter of Worklight says it in its answer.
      const refusing = lab.store({
        invokeProcedure: async () => await Promise.resolve({ status: 200, invocationResult: { isSuccessful: false } }),
      })
      const { people: again } = await refusing.init(config({ name: 'people', add: 'addPerson' }))
      assertEqual(
        (await again.push()).map(({ err }) => err),
        [-10],
      )
      assertEqual(await again.countAllDirty(), 1)
    },
  },
  {
    name: "push through Worklight's own function, which answers by callbacks",
    rows: ['push', 'load', 'callbacks: onSuccess, onFailure'],
    async run(lab) {
      const place = globalThis as { WL?: unknown }
      const before = place.WL
      const asked: unknown[] = []
      const invokeProcedure = (call: AdapterCall, options: Record<string, (answer: unknown) => void>): void => {
        asked.push([call.procedure, options['timeout']])
        const refused = String(call.parameters[0]).includes('Refused')
        const answer = options[refused ? 'onFailure' : 'onSuccess']!
        queueMicrotask(() => answer({ status: refused ? 500 : 200, list: [] }))
      }
      try {
        place.WL = { Client: { invokeProcedure } }
        const { people } = await lab.store().init(config({ ...ADAPTER, load: { procedure: 'get', key: 'list' } }))
        await people.add([{ name: 'Refused' }, { name: 'Ann' }])
        const told: unknown[] = []
        const callbacks = { onSuccess: (code: number) => told.push(code), onFailure: (code: number) => told.push(code) }
        const errors = await people.push(callbacks)
        assertEqual(
          errors.map(({ err, res }) => [err, (res as { status: number }).status]),
          [[12, 500]],
        )
        assertEqual(told, [12, 0])
        assertEqual(
          (await people.getAllDirty()).map(({ json }) => json),
          [{ name: 'Refused' }],
          'what failed stays dirty',
        )
        assertEqual(await people.load(), 0)
        assertEqual(asked, [
          ['addPerson', 3000],
          ['addPerson', 3000],
          ['get', 3000],
        ])
        await people.erase(1)
        await people.push(callbacks)
        assertEqual(told.splice(2), [0], 'nothing to push is a success')
      } finally {
        place.WL = before
      }
    },
  },
  {
    name: 'load looks into the answer of WLResourceRequest',
    rows: ['load'],
    async run(lab) {
      const responseJSON = { people: { list: [{ name: 'Ann' }] } }
      const store = lab.store({ invokeProcedure: async () => await Promise.resolve({ status: 200, responseJSON }) })
      assertEqual(await (await store.init(config())).people.load(), 1)
    },
  },
  {
    name: 'pushSelected pushes these alone',
    rows: ['pushSelected'],
    codes: [7, 10],
    async run(lab) {
      const { calls, invokeProcedure } = server(() => ({ status: 200 }))
      const { people } = await lab.store({ invokeProcedure }).init(config())
      await people.add([{ name: 'Ann' }, { name: 'Bob' }, { name: 'Cid' }])
      const [first, second, third] = await people.findAll()
      assertEqual(await people.pushSelected(second!), [])
      assertEqual(await people.pushSelected([first!, second!]), [])
      assertEqual(calls.length, 2)
      assertEqual(await people.isDirty(third!), true)
      await lab.fails(people.pushSelected('x' as never), 10)
      for (const wrong of [{}, [{ _id: 1 }]]) await lab.fails(people.pushSelected(wrong as never), 7)
    },
  },
  {
    name: 'load stores what the adapter has',
    rows: ['load'],
    codes: [17, 18, 19, -10],
    async run(lab) {
      let answer: () => unknown = () => ({
        status: 200,
        invocationResult: { people: { list: [{ name: 'Ann' }, { name: 'Bob' }] } },
      })
      const { calls, invokeProcedure } = server(() => answer())
      const store = lab.store({ invokeProcedure })
      const { people } = await store.init(config())
      assertEqual(await people.load(), 2)
      assertEqual(calls, [['people', 'getPeople', ['all'], 3000]])
      answer = () => ({ status: 200, people: { list: { name: 'Cid' } } })
      assertEqual(await people.load(), 1)
      assertEqual([await people.count(), await people.countAllDirty()], [3, 0])
      answer = () => ({ status: 200, people: {} })
      await lab.fails(people.load(), 19)
      answer = () => ({ status: 404 })
      await lab.fails(people.load(), -10)
      answer = () => {
        throw new Error('no network')
      }
      await lab.fails(people.load(), 17)
      await store.closeAll()
      const { people: other } = await store.init(config({ name: 'people', load: { params: [] } }))
      await lab.fails(other.load(), 18)
      await store.closeAll()
      const { people: third } = await store.init(config({ name: 'people', load: { procedure: 'x' } }))
      await lab.fails(third.load(), 19)
    },
  },
  {
    name: 'sync: one way, as its policy says',
    rows: ['sync', 'syncOptions', 'init: sync'],
    codes: [9, -41, 12],
    async run(lab) {
      const server = await open('jsonstore-server', { storage: memory() })
      try {
        await syncWith(lab, server.collection<JsonObject>('people'))
      } finally {
        await server.close()
      }
    },
  },
]

async function syncWith(lab: Lab, remote: ReplicationTarget): Promise<void> {
  const told: unknown[] = []
  const store = lab.store()
  const policies = store.syncOptions
  const hooks = {
    onSyncSuccess: (result: object) => told.push(result),
    onSyncFailure: (error: unknown) => told.push((error as { err: number }).err),
  }
  const init = async (
    syncPolicy: 0 | 1 | 2,
    name: string,
  ): Promise<Awaited<ReturnType<typeof store.init<string>>>[string]> => {
    const sync = { syncPolicy, syncAdapterPath: remote, ...hooks }
    return (await store.init({ [name]: { searchFields: { name: 'string' }, sync } }))[name]!
  }
  const up = await init(policies.SYNC_UPSTREAM, 'up')
  const down = await init(policies.SYNC_DOWNSTREAM, 'down')
  await up.add([{ name: 'Ann', _private: 1 }, { name: 'Bob' }])
  await up.store({ name: 'stays here' })
  assertEqual(await up.sync(), { received: 0, sent: 2 })
  assertEqual(await up.countAllDirty(), 0)
  assertEqual(await up.sync(), { received: 0, sent: 0 })
  const names = async (): Promise<unknown[]> =>
    (await down.findAll({ sort: [{ name: 'asc' }] })).map(({ json }) => json)
  assertEqual(await down.sync(), { received: 2, sent: 0 })
  assertEqual(await names(), [{ name: 'Ann' }, { name: 'Bob' }])
  await up.replace({ _id: 1, json: { name: 'Anna' } })
  await up.remove(2)
  assertEqual(await up.sync(), { received: 0, sent: 2 })
  assertEqual(await down.sync(), { received: 2, sent: 0 })
  assertEqual(await names(), [{ name: 'Anna' }])
  assertEqual(await down.find({ name: 'anna' }), await down.findAll())
  // What was changed here and never sent is not overwritten.
  await down.replace({ ...(await down.findAll())[0]!, json: { name: 'Mine' } })
  await up.replace({ _id: 1, json: { name: 'Theirs' } })
  await up.sync()
  assertEqual([await down.sync(), await names()], [{ received: 0, sent: 0 }, [{ name: 'Mine' }]])
  await down.clear()
  assertEqual([await down.sync(), await names()], [{ received: 1, sent: 0 }, [{ name: 'Theirs' }]])
  assertEqual(told.length, 8)
  const none = await init(policies.SYNC_NONE, 'none')
  await lab.fails(none.sync(), 9)
  await store.startTransaction()
  await lab.fails(down.sync(), -41)
  await store.rollbackTransaction()
  const lost = await store.init({
    lost: { sync: { syncPolicy: 0, syncAdapterPath: 'http://localhost:1/x', ...hooks } },
  })
  await lab.fails(lost.lost.sync(), 12)
  assertEqual(told.at(-1), 12)
}
