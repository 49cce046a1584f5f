/**
 * Goal: a name of a user is only a name on a device, too, also where every object inherits it. Method: the same writes with plain names
 * and with such ones; when the names are put back, what the app sees is equal.
 */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { virtualEnvironment } from '../../db/testing/virtual-environment.ts'
import { AppServer, type User } from './app-server.ts'
import { Device, seen } from './device.ts'

let app: AppServer
let ann: User

beforeAll(async () => {
  app = await AppServer.start(virtualEnvironment())
  ann = await app.addUser('ann')
})
afterAll(() => app[Symbol.asyncDispose]())

type Names = readonly [list: string, other: string, text: string, number: string, hidden: string, relation: string]

/** All that a device does with them. */
async function seenWith([list, other, text, number, hidden, relation]: Names): Promise<unknown> {
  const open = { listRule: '', viewRule: '', createRule: '', updateRule: '', deleteRule: '' }
  const fields = [
    { name: 'id', type: 'text', primaryKey: true, required: true, min: 0, max: 40, pattern: '^\\w+$' },
    { name: text, type: 'text' },
    { name: number, type: 'number' },
    { name: hidden, type: 'text', viewRule: `${number} < 5` },
    { name: 'photo', type: 'file' },
  ]
  const define = async (collection: object): Promise<string> => {
    const { status, json, text: why } = await app.call('POST /collections', { type: 'base', ...open, ...collection })
    if (status !== 200) throw new Error(why)
    return String(json['id'])
  }
  const updateRule = `${text} != "locked" && @request.body.${number}:isset = true`
  const collectionId = await define({ name: list, fields, updateRule })
  await define({ name: other, fields: [{ name: relation, type: 'relation', collectionId }] })
  await app.add(list, { id: text, [hidden]: 'h', [number]: 9 })
  await app.add(list, { id: number })

  const device = new Device(app)
  const client = await device.openAs(ann, {
    collections: { [list]: { indexes: [text], merge: { [text]: 'text' } }, [other]: {} } as never,
  })
  const own = client.collection(list)
  const found: unknown[] = []
  const look = async (): Promise<void> => {
    for (const name of [list, other]) found.push(await seen(client, name))
    found.push((await client.rejected()).map(({ message, data }) => ({ message, data })))
  }
  await client.sync()
  await look()
  app.isDown = true
  await own.create({ id: list })
  await own.create({ id: other, [text]: 'made', [`${number}+`]: 2 })
  await own.update(text, { [text]: 'a', [`${number}-`]: 5 })
  await own.update(number, { [number]: 1 })
  await own.update(list, { [hidden]: 'mine' })
  await own.update(other, { photo: new File(['x'], 'x.txt') })
  await client.collection(other).create({ id: 'recordnumber001', [relation]: text })
  found.push(await own.can('update', text, { [number]: 1 }), await own.can('update', text, {}))
  await look()
  found.push(await own.find({ [text]: 'a' } as never).toArray())
  app.isDown = false
  await client.sync()
  await look()
  await own.delete(number)
  await client.sync()
  await look()
  await client.close()
  for (const name of [other, list]) await app.call(`DELETE /collections/${name}`)
  return found
}

const PLAIN: Names = ['amber', 'birch', 'cedar', 'dunes', 'ember', 'frost']

test.each<{ names: Names }>([
  { names: ['constructor', 'toString', 'valueOf', 'hasOwnProperty', 'isPrototypeOf', 'toLocaleString'] },
  { names: ['propertyIsEnumerable', 'hasOwnProperty', 'constructor', 'toString', 'valueOf', 'isPrototypeOf'] },
])('a device with $names shows what one with plain names does', async ({ names }) => {
  const text = (value: unknown, of: Names): unknown => {
    const json = JSON.stringify(value, (_, one: unknown) => (one instanceof Map ? [...one] : one))
    const plain = of.reduce((left, name, at) => left.replaceAll(name, PLAIN[at]!), json)
    const same = plain
      .replaceAll(/"(_rev|\$rev|collectionId)":"[^"]*"/g, '')
      .replaceAll(/x_\w+\.txt|new\/\w+|pbc_\d+/g, 'X')
    return sorted(JSON.parse(same.replaceAll(/,+(?=[,}])|(?<=\{),+/g, '')))
  }
  expect(text(await seenWith(names), names)).toEqual(text(await seenWith(PLAIN), PLAIN))
})

function sorted(value: unknown): unknown {
  if (Array.isArray(value))
    return value.map(sorted).toSorted((one, other) => (JSON.stringify(one) < JSON.stringify(other) ? -1 : 1))
  if (typeof value !== 'object' || value === null) return value
  return Object.entries(value)
    .toSorted(([one], [other]) => (one < other ? -1 : 1))
    .map(([name, one]) => [name, sorted(one)])
}
