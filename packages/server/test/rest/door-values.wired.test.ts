/**
 * Goal: the doors read a value of a field alike: what one stores, all store, and what one refuses, all refuse.
 * Method: each value creates a record by each door. Hooks and migrations are strict by design: values of code that a field can't take throw.
 */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { SYSTEM } from '@pannier/backend'
import { basic, send } from '../test-server.ts'
import { DEVICE } from './push-server.ts'
import { EMAIL, ITSELF, PASSWORD, startRest, type RestServer } from './rest-server.ts'

const ROOT = { authorization: basic(`${EMAIL}:${PASSWORD}`) }
const RELATED = 'relatedrecord01'
const WRONG_TYPES = [null, true, 5, '', 'x', [], ['x'], {}, [null]]

/** A field of each type, and values for it beside those that are of a wrong type for most. */
const FIELDS: readonly (readonly [field: Readonly<Record<string, unknown>>, values: readonly unknown[]])[] = [
  [{ type: 'text', max: 20 }, [' x ', 'x'.repeat(21), '\u0000', 'a\ud800b']],
  [{ type: 'number', min: -5, max: 1e9 }, ['1', ' 1 ', 1e10, -6, '1e3', '0x10', 'Infinity', -0]],
  [{ type: 'number', onlyInt: true }, [1.5, '1.5', '2']],
  [{ type: 'bool' }, ['true', 1, 0, 'on', 'T', '1']],
  [{ type: 'date' }, ['2024-01-01', '2024-01-01 10:00:00.000Z', '2024-13-01', '10000-01-01']],
  [{ type: 'select', values: ['a', 'b', 'c'], maxSelect: 1 }, ['a', ['a'], ['a', 'b'], '["a"]']],
  [{ type: 'select', values: ['a', 'b', 'c'], maxSelect: 2 }, ['a', ['a', 'a'], ['a', 'b', 'c'], 'a,b', '["a","b"]']],
  [{ type: 'json', maxSize: 50 }, ['{"a":1}', { a: { b: 1 } }, 'x'.repeat(60), 'null', '[1']],
  [{ type: 'url' }, ['http://a.de', 'javascript:alert(1)', ['http://a.de']]],
  [{ type: 'email' }, ['a@b.de', ' a@b.de', 'A@B.DE']],
  [{ type: 'editor' }, ['<b>x</b>', '<script>']],
  [{ type: 'geoPoint' }, [{ lon: 1, lat: 2 }, { lon: 200, lat: 2 }, '{"lon":1,"lat":2}', { lon: '1', lat: 2, x: 3 }]],
  [{ type: 'relation', maxSelect: 1 }, [RELATED, [RELATED], [RELATED, RELATED]]],
  [{ type: 'relation', maxSelect: 2 }, [RELATED, [RELATED, RELATED], [RELATED, 'nope']]],
]

const RECORDS = '/collections/posts/records'
let transactions = 0
const push = (id: string, values: object): object => ({
  device: DEVICE,
  transactions: [{ n: ++transactions, writes: [{ collection: 'posts', action: 'create', id, values }] }],
})
const DOORS: Readonly<Record<string, (rest: RestServer, id: string, values: object) => Promise<unknown>>> = {
  REST: (rest, id, values) => rest.call(`POST ${RECORDS}`, { id, ...values }),
  'a batch': (rest, id, values) =>
    rest.call('POST /batch', { requests: [{ method: 'POST', url: `/api${RECORDS}`, body: { id, ...values } }] }),
  'an import with checks': (rest, id, values) =>
    rest.call('POST /imports/posts/records', { rows: [{ id, ...values }] }),
  "CouchDB's door": (rest, id, values) => send(rest.url, `PUT /posts/${id}`, values, ROOT),
  'a push of a device': (rest, id, values) => rest.call('POST /sync/push', push(id, values)),
}

let rest: RestServer
beforeAll(async () => {
  rest = await startRest()
  const { definitions, records, settings } = rest.server.backend
  await settings.update(SYSTEM, { batch: { enabled: true } })
  const { id: collectionId } = await definitions.create(SYSTEM, { name: 'related', type: 'base', fields: [] })
  await records.create(ITSELF, 'related', { id: RELATED })
  const fields = FIELDS.map(([field], at) => ({
    ...field,
    name: `field${at}`,
    ...(field['type'] === 'relation' && { collectionId }),
  }))
  await definitions.create(SYSTEM, { name: 'posts', type: 'base', listRule: '', viewRule: '', createRule: '', fields })
})
afterAll(() => rest.close())

let made = 0
test.each(FIELDS.map(([{ type }, values], at) => [type, at, [...WRONG_TYPES, ...values]] as const))(
  'each door stores and refuses the same values of %s (field %i)',
  async (_type, at, values) => {
    const { definitions } = rest.server.backend
    const posts = definitions.records(definitions.get('posts'))
    for (const value of values) {
      const outcomes: Record<string, unknown> = {}
      for (const [name, door] of Object.entries(DOORS)) {
        const id = `record${String(++made).padStart(9, '0')}`
        await door(rest, id, { [`field${at}`]: value })
        const stored = await posts.get(id)
        outcomes[name] = stored === undefined ? 'refused' : [stored[`field${at}`]]
      }
      const expected = Object.fromEntries(Object.keys(DOORS).map((name) => [name, outcomes['REST']]))
      expect(outcomes, JSON.stringify(value)).toEqual(expected)
    }
  },
)
