/** Functions of the store: opening, closing, users, transactions. */
import { assertEqual, assertThrows, assertTrue } from 'pannier/testing'
import { CODES, JSONStore, QueryPart, WL } from '../src/index.ts'
import { NEVER_GIVEN } from './rows.ts'
import type { Case } from './rows.ts'
import type { JSONStoreCollection } from '../src/index.ts'

const PEOPLE = { people: { searchFields: { name: 'string', age: 'integer' } } } as const

export const storeCases: readonly Case[] = [
  {
    name: 'init gives accessors by name, and again for more collections; documents stay',
    rows: ['init', 'get', 'init: pbkdf2Iterations', 'init: analytics', 'init: fipsEnabled'],
    async run(lab) {
      const store = lab.store()
      assertEqual(await store.init({}), {})
      const options = { pbkdf2Iterations: 20_000, analytics: true, fipsEnabled: true }
      const { people } = await store.init(PEOPLE, options)
      await people.add({ name: 'Ann' })
      const adapter = { name: 'orders', add: 'addOrder' }
      const more: Record<string, JSONStoreCollection> = await store.init({ orders: { adapter } })
      assertEqual(Object.keys(more), ['people', 'orders'], 'all that are open')
      assertTrue(more['people'] === people && store.get('people') === people, 'accessors stay')
      assertEqual([more['orders']!.adapter, people.adapter, people.username], [adapter, undefined, 'jsonstore'])
      assertEqual([await people.promise, await more['orders']!.promise], [0, 0])
      assertEqual(await people.count(), 1)
      assertEqual(store.get('nothing'), undefined)
      assertEqual([people.name, people.searchFields], ['people', { age: 'integer', name: 'string' }])
      assertEqual(people.additionalSearchFields, {})
      await store.closeAll()
      const again = await lab.store().init(PEOPLE)
      assertEqual(await again.people.find({ name: 'ann' }), [{ _id: 1, json: { name: 'Ann' } }])
      assertEqual(await again.people.promise, 1)
    },
  },
  {
    name: 'what init is given is checked',
    rows: ['init: collection name', 'init: searchFields', 'init: additionalSearchFields'],
    codes: [4, 5, -12, 6, 22],
    async run(lab) {
      const store = lab.store()
      for (const name of ['1people', 'people-1', 'p p', '']) await lab.fails(store.init({ [name]: {} }), 4)
      for (const collections of [5, null, [], [1], 'people', true])
        assertEqual(await store.init(collections as never), {}, 'no collections')
      await lab.fails(store.init({ people: 5 as never }), 5)
      for (const searchFields of [5, { name: { first: 'string' } }, { name: null }]) {
        await lab.fails(store.init({ people: { searchFields: searchFields as never } }), 6)
        await lab.fails(store.init({ people: { additionalSearchFields: searchFields as never } }), 6)
      }
      await lab.fails(store.init({ people: { searchFields: { name: 'text' as 'string' } } }), -12)
      await lab.fails(store.init({ people: { searchFields: { name: 'string', Name: 'string' } } }), 6)
      for (const name of ['_id', 'json', '_operation', '_deleted', '_dirty'])
        await lab.fails(store.init({ people: { searchFields: { [name]: 'string' } } }), -12)
      const both = { searchFields: { name: 'string' }, additionalSearchFields: { NAME: 'string' } } as const
      await lab.fails(store.init({ people: both }), 22)
      // Names lose their case, and all types are taken.
      const { people } = await store.init({
        people: { searchFields: { Name: 'string', Age: 'integer', Size: 'number', Paid: 'boolean' } },
      })
      assertEqual(Object.keys(people.searchFields), ['age', 'name', 'paid', 'size'])
      await people.add({ Name: 'Ann', Age: 3 })
      assertEqual(await people.count({ NAME: 'ann', age: 3 }), 1)
    },
  },
  {
    name: 'other search fields are refused, unless the collection is dropped',
    rows: ['init: changed searchFields', 'init: dropCollection'],
    codes: [-2],
    async run(lab) {
      const { people } = await lab.store().init(PEOPLE)
      await people.add({ name: 'Ann' })
      const store = lab.store()
      await lab.fails(store.init({ people: { searchFields: { name: 'string' } } }), -2)
      await lab.fails(store.init({ people: { ...PEOPLE.people, additionalSearchFields: { x: 'string' } } }), -2)
      const sameInAnotherOrder = { searchFields: { age: 'integer', name: 'string' } } as const
      assertEqual(await (await store.init({ people: sameInAnotherOrder })).people.count(), 1)
      const { people: other } = await store.init({ people: { searchFields: { city: 'string' }, dropCollection: true } })
      assertEqual(await other.count(), 0)
      await other.add({ city: 'Oslo' })
      const { people: third } = await store.init(PEOPLE, { dropCollection: true })
      assertEqual(await third.findAll(), [])
    },
  },
  {
    name: 'clear forgets accessors and no document',
    rows: ['init: clear'],
    async run(lab) {
      const store = lab.store()
      const { people } = await store.init({ ...PEOPLE, orders: {} })
      await people.add({ name: 'Ann' })
      const { people: anew } = await store.init(PEOPLE, { clear: true })
      assertTrue(anew !== people, 'another accessor')
      assertEqual(store.get('orders'), undefined)
      assertEqual([await anew.count(), await people.count()], [1, 1])
    },
  },
  {
    name: 'each user has a store',
    rows: ['init: username', 'destroy', 'fileInfo', 'closeAll'],
    codes: [-7, -6, -50, 0],
    async run(lab) {
      const store = lab.store()
      for (const username of ['ann-1', '', 'jsonstore', 'jsonstorex', 'JSONStoreKey', 'dpk', 'DPKann', 5])
        await lab.fails(store.init(PEOPLE, { username: username as string }), -7)
      assertEqual(await store.fileInfo(), [])
      const { people } = await store.init(PEOPLE, { username: 'ann' })
      await people.add({ name: 'Of Ann' })
      await lab.fails(store.init(PEOPLE, { username: 'bob' }), -6)
      await lab.fails(store.init(PEOPLE), -6)
      lab.gives(await store.closeAll(), 0)
      assertEqual(await store.closeAll(), 0, 'closing what is closed')
      await lab.fails(people.findAll(), -50)
      const { people: ofBob } = await store.init(PEOPLE, { username: 'bob' })
      assertEqual([await ofBob.count(), people.username, ofBob.username], [0, 'ann', 'bob'])
      await ofBob.add({ name: 'Of Bob' })
      // Accessors go by the names of their collections, in the store that is open.
      assertEqual(await people.findAll(), await ofBob.findAll())
      assertEqual(
        (await store.fileInfo()).map(({ name, isEncrypted, size }) => [name, isEncrypted, size > 200]),
        [
          ['ann', false, true],
          ['bob', false, true],
        ],
      )
      // Also of another user: the store that is open is closed.
      assertEqual(await store.destroy('ann'), 0)
      await lab.fails(ofBob.count(), -50)
      assertEqual(await (await store.init(PEOPLE, { username: 'bob' })).people.count(), 1)
      await store.closeAll()
      assertEqual(await (await store.init(PEOPLE, { username: 'ann' })).people.count(), 0)
      await store.closeAll()
      await store.init(PEOPLE)
      assertEqual(await store.destroy(), 0)
      assertEqual(store.get('people'), undefined)
      assertEqual(await (await store.init(PEOPLE, { username: 'bob' })).people.count(), 0)
    },
  },
  {
    name: 'a transaction is committed or rolled back as a whole',
    rows: ['startTransaction', 'commitTransaction', 'rollbackTransaction'],
    codes: [-41, -42],
    async run(lab) {
      const store = lab.store()
      await lab.fails(store.startTransaction(), -50)
      const { people } = await store.init(PEOPLE)
      await lab.fails(store.commitTransaction(), -42)
      await lab.fails(store.rollbackTransaction(), -42)
      await people.add({ name: 'Ann' })
      assertEqual(await store.startTransaction(), 0)
      await lab.fails(store.startTransaction(), -41)
      await Promise.all([
        people.add({ name: 'Bob' }),
        people.remove(1),
        people.replace([]),
        people.add({ name: 'Cid' }),
      ])
      assertEqual((await people.findAll({ filter: ['name'] })) as object[], [{ name: 'Bob' }, { name: 'Cid' }])
      assertEqual(await store.rollbackTransaction(), 0)
      assertEqual(await people.findAll(), [{ _id: 1, json: { name: 'Ann' } }])

      await store.startTransaction()
      await people.add({ name: 'Dan' })
      await lab.fails(people.replace({ _id: 77, json: {} }), -11)
      await people.clear()
      await people.add({ name: 'Eve' })
      assertEqual(await store.commitTransaction(), 0)
      assertEqual(
        (await people.findAll()).map(({ json }) => json),
        [{ name: 'Eve' }],
      )
      await lab.fails(store.commitTransaction(), -42)
    },
  },
  {
    name: 'what opens, closes and drops is refused in a transaction',
    rows: ['init', 'closeAll', 'destroy', 'removeCollection'],
    codes: [-44, -45, -46, -47],
    async run(lab) {
      const store = lab.store()
      const { people } = await store.init(PEOPLE)
      await store.startTransaction()
      assertEqual((await lab.fails(store.init({ orders: {} }), -44)).col, 'orders')
      await lab.fails(store.closeAll(), -45)
      await lab.fails(store.destroy(), -46)
      await lab.fails(people.removeCollection(), -47)
      await people.add({ name: 'Ann' })
      await store.commitTransaction()
      assertEqual(await people.count(), 1)
    },
  },
  {
    name: 'names of codes',
    rows: ['getErrorMessage'],
    async run(lab) {
      const store = lab.store()
      for (const [name, code] of Object.entries(CODES)) assertEqual(store.getErrorMessage(code), name)
      assertEqual(store.getErrorMessage(77), 'Not found')
      assertEqual(store.getErrorMessage('x' as never), 'Not found')
      assertEqual(
        [...NEVER_GIVEN.keys()].map((code) => store.getErrorMessage(code)),
        [
          'TRANSACTION_FAILURE_DURING_ROLLBACK',
          'FIPS_ENABLEMENT_FAILURE',
          'DESTROY_REMOVE_KEYS_FAILED',
          'BAD_PARAMETER_EXPECTED_DOCUMENT_OR_ID',
        ],
      )
      const codes = Object.values(CODES)
      assertEqual([codes.filter((code) => code < 0).length, codes.filter((code) => code > 0).length], [31, 32])
    },
  },
  {
    name: 'deprecated functions',
    rows: ['documentify', 'initCollection'],
    codes: [1, 5, 4, -12],
    async run(lab) {
      const store = lab.store()
      assertEqual(store.documentify(3, { name: 'Ann' }), { _id: 3, json: { name: 'Ann' } })
      assertEqual(store.documentify('3' as never, {}), { _id: 3, json: {} })
      lab.failed(
        assertThrows(() => store.documentify('x' as never, {})),
        1,
      )
      lab.failed(
        assertThrows(() => store.documentify(3, 'Ann' as never)),
        5,
      )
      const told: unknown[] = []
      const options = { onSuccess: (made: number) => told.push(made), onFailure: (code: number) => told.push(code) }
      const people = lab.accessor(store.initCollection<{ name: string }>('people', { name: 'string' }, options))
      // The accessor is there at once, and its collection a little later.
      await lab.fails(people.count(), -50)
      assertEqual([await people.promise, told], [0, [0]])
      assertTrue(store.get('people') === (people as unknown as JSONStoreCollection), 'as get gives it')
      await people.add({ name: 'Ann' })
      assertEqual(await lab.accessor(store.initCollection('people', { name: 'string' }, options)).promise, 1)
      const dropped = store.initCollection('people', { name: 'string' }, { dropCollection: true })
      assertEqual(await lab.accessor(dropped).promise, 0)
      assertEqual(await people.count(), 0)
      // Wrong arguments are reported before the function returns.
      lab.gives(store.initCollection('1people', {}, options), 4)
      assertEqual(told.at(-1), 4)
      lab.gives(store.initCollection('people', { name: 'text' as 'string' }, options), -12)
      await store.closeAll()
      assertEqual(told, [0, 1, 4, -12])
    },
  },
  {
    name: 'initCollection with load fills a collection that is empty',
    rows: ['initCollection', 'load'],
    async run(lab) {
      let calls = 0
      const store = lab.store({
        invokeProcedure: async () => await Promise.resolve({ list: [{ name: `call ${++calls}` }] }),
      })
      const adapter = { name: 'people', load: { procedure: 'get', key: 'list' } }
      const open = (): JSONStoreCollection =>
        lab.accessor(store.initCollection('people', { name: 'string' }, { load: true, adapter }))
      assertEqual([await open().promise, await open().promise], [0, 1])
      assertEqual([calls, await store.get('people')!.count()], [1, 1])
    },
  },
  {
    name: 'the objects that apps find',
    rows: ['syncOptions', 'QueryPart'],
    async run(lab) {
      const store = lab.store()
      assertTrue(WL.JSONStore === JSONStore, 'there is one of the app')
      assertEqual([WL.constant.ASCENDING, WL.constant.DESCENDING], ['asc', 'desc'])
      assertEqual(store.syncOptions, { SYNC_DOWNSTREAM: 0, SYNC_UPSTREAM: 1, SYNC_NONE: 2 })
      const part = store.QueryPart().like('name', 'a').like('name', 'b').between('age', 1, 2)
      assertEqual(Object.fromEntries(Object.entries(part)), {
        $like: [{ name: 'a' }, { name: 'b' }],
        $between: [{ age: [1, 2] }],
      })
      const made = new QueryPart().inside('age', [1])
      assertEqual(Object.fromEntries(Object.entries(made)), { $inside: [{ age: [1] }] })
      await Promise.resolve()
    },
  },
  {
    name: 'promises, callbacks and error objects',
    rows: ['promises: then, done, fail, always', 'callbacks: onSuccess, onFailure', 'error object'],
    async run(lab) {
      const told: unknown[] = []
      const store = lab.store()
      const { people } = await store.init(PEOPLE, { onSuccess: (found: object) => told.push(Object.keys(found)) })
      assertEqual(told, [['people']])
      const added = people.add({ name: 'Ann' }, { onSuccess: (count: number) => told.push(count) })
      assertTrue(added instanceof Promise, 'it is a promise')
      const chained = added
        .done((count) => told.push(`done ${count}`))
        .fail(() => told.push('never'))
        .always((count) => told.push(`always ${String(count)}`))
      assertTrue(chained === added, 'the same promise')
      assertEqual(
        await added
          .then((count) => count + 1)
          .done()
          .then((count) => count * 2),
        4,
      )
      assertEqual(told.slice(1), [1, 'done 1', 'always 1'])

      const failing = people.find({ city: 'Oslo' }, { onFailure: (code: number) => told.push(code) })
      void failing.done(() => told.push('never')).fail((error) => told.push((error as { msg: string }).msg))
      const error = await lab.fails(failing, 22)
      assertEqual(told.slice(4), [22, 'INVALID_SEARCH_FIELD'])
      const { src, err, msg, col, usr, doc, res } = error
      const facts = {
        src: 'find',
        err: 22,
        msg: 'INVALID_SEARCH_FIELD',
        col: 'people',
        usr: 'jsonstore',
        doc: {},
        res: {},
      }
      assertEqual({ src, err, msg, col, usr, doc, res } as object, facts)
      assertTrue(error instanceof Error, 'it is an Error')
      assertEqual(error.toString(), JSON.stringify(facts, null, ' '), 'as text it is JSON, as JSONStore indents it')
      assertEqual(error.message, 'INVALID_SEARCH_FIELD (22): city', 'the message shows the wrong value')
      const endless: Record<string, unknown> = {}
      endless['endless'] = endless
      await lab.fails(people.find({ name: endless } as never), 6)
      const {
        src: where,
        col: what,
        usr: who,
      } = await lab.fails(store.init({ orders: { searchFields: { a: 'x' as 'string' } } }), -12)
      assertEqual([where, what, who], ['initCollection', 'orders', 'jsonstore'])
      assertEqual((await lab.fails(store.commitTransaction(), -42)).usr, 'jsonstore')
      // Where documents are missing the callback gets these.
      const unknown = { _id: 9, json: { name: 'Nobody' } }
      const missing = people.replace(unknown, { onFailure: (documents: object[]) => told.push(documents) })
      await lab.fails(missing, -11)
      assertEqual(told.splice(-1), [[unknown]])
      const asText = { _id: '9', json: { name: 'Nobody' } }
      assertEqual((await lab.fails(people.replace(asText as never), -11)).doc, [asText], 'the document as it came')
      // Callbacks of a count may be in its query.
      await people.count({ onSuccess: (count: number) => told.push(`${count} in all`) })
      await people.count({ name: 'nobody', onSuccess: (count: number) => told.push(`${count} of that name`) } as never)
      assertEqual(told.splice(-2), ['1 in all', '0 of that name'])
      // As `$.when` of jQuery 1 and 2 calls it: both results, each with a second argument.
      const results: unknown[] = []
      const jQueryPromise = people.count().promise()
      jQueryPromise
        .done((count, more) => results.push(count, more))
        .fail(() => results.push('never'))
        .progress()
      await jQueryPromise.promise().then((count) => results.push(count))
      assertEqual(results, [1, undefined, 1])
      // Functions of an app return `$.when(…)`: the next one gets all results, `await` the first.
      const both = people.findAll().then(() => whenOf([2], [3]))
      assertEqual(await both.then((...all: unknown[]) => all), [[2], [3]])
      assertEqual(await both, [2])
      const refused = people.findAll().then(() => whenOf(Promise.reject(new Error('no'))))
      assertEqual(await refused.then(undefined, (reason) => (reason as Error).message), 'no')
      // Nobody has to look after a failure that a callback is told.
      void people.find({ city: 'Oslo' }, { onFailure: () => told.push('heard') })
      await people.count()
      assertEqual(told.at(-1), 'heard')
    },
  },
  {
    name: 'events tell of successes and failures',
    rows: ['events'],
    async run(lab) {
      const events = new EventTarget()
      const told: unknown[] = []
      events.addEventListener('WL/JSONSTORE/SUCCESS', (event) => {
        const { src, col } = (event as CustomEvent<{ src: string; col: string }>).detail
        told.push([src, col])
      })
      events.addEventListener('WL/JSONSTORE/FAILURE', (event) => {
        const { src, err } = (event as CustomEvent<{ src: string; err: number }>).detail
        told.push([src, err])
      })
      const store = lab.store({ events })
      const { people } = await store.init(PEOPLE)
      await people.add({ name: 'Ann' })
      void people.find({ city: 'Oslo' })
      await store.closeAll()
      assertEqual(told, [
        ['initCollection', undefined],
        ['store', 'people'],
        ['find', 22],
        ['closeAll', undefined],
      ])
    },
  },
]

/** As `$.when` of jQuery: a thenable that calls back with several results. */
function whenOf(...results: unknown[]): PromiseLike<unknown> {
  const chained = (): object => when
  const when = {
    // oxlint-disable-next-line no-thenable -- jQuery has it.
    then: (take: (...all: unknown[]) => void, fail: (reason: unknown) => void) => {
      void Promise.all(results).then((all) => take(...all), fail)
    },
    done: chained,
    fail: chained,
    promise: chained,
  }
  return when as unknown as PromiseLike<unknown>
}
