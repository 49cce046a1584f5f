/** Goal: nobody makes the server talk to what only it can reach (row 43), however the address is written or comes about. */
import { createServer } from 'node:http'
import { afterEach, expect, test } from 'vitest'
import { AddressRules } from '../../src/outgoing/address-rules.ts'
import { guardedFetch } from '../../src/outgoing/guarded-fetch.ts'
import type { Resolve } from '../../src/outgoing/guarded-fetch.ts'
import { closeServer, listen } from '../../testing/pouchdb-server.ts'
import { send, startServer } from '../test-server.ts'

const opened: { close(): Promise<void> }[] = []
afterEach(async () => {
  for (const one of opened.splice(0).reverse()) await one.close()
})

/** A server on the loopback that counts who comes. */
async function victim(location?: string): Promise<{ port: string; requests: () => number }> {
  let requests = 0
  const server = createServer((_request, response) => {
    requests++
    if (location === undefined) response.end('{"update_seq":0,"uuid":"x"}')
    else response.writeHead(302, { location }).end()
  })
  const url = await listen(server)
  opened.push({ close: () => closeServer(server) })
  return { port: new URL(url).port, requests: () => requests }
}

test('addresses', () => {
  const none = new AddressRules()
  const closed =
    '127.0.0.1 127.255.0.1 0.0.0.0 10.0.0.1 172.16.0.1 192.168.1.1 169.254.169.254 100.64.0.1 192.0.2.1 198.18.0.1 224.0.0.1 ' +
    '255.255.255.255 240.0.0.1 ::1 :: fe80::1 fc00::1 fd12::1 ff02::1 ::ffff:127.0.0.1 ::ffff:a00:1 64:ff9b::7f00:1 ' +
    '2002:7f00:1:: 2001:db8::1 fec0::1 ::127.0.0.1 nonsense'
  for (const address of closed.split(' ')) expect([address, none.allows('x', 80, address)]).toEqual([address, false])
  for (const address of ['8.8.8.8', '2606:4700::1111', '::ffff:8.8.8.8'])
    expect(none.allows('x', 80, address)).toBe(true)
  const some = new AddressRules(['couch.lan:5984', '10.0.0.0/8', '127.0.0.1:5985', '[fd00::/8]:80', '::1'])
  expect(some.allows('Couch.lan', 5984, '192.168.1.1')).toBe(true)
  expect(some.allows('couch.lan', 5985, '192.168.1.1')).toBe(false)
  expect(some.allows('other.lan', 5984, '192.168.1.1')).toBe(false)
  expect(some.allows('x', 1, '10.9.8.7')).toBe(true)
  expect(some.allows('x', 1, '::ffff:10.9.8.7')).toBe(true)
  expect([some.allows('x', 5985, '127.0.0.1'), some.allows('x', 80, '127.0.0.1')]).toEqual([true, false])
  expect([some.allows('x', 80, 'fd00::1'), some.allows('x', 81, 'fd00::1'), some.allows('x', 81, '::1')]).toEqual([
    true,
    false,
    true,
  ])
  for (const wrong of ['', 'a/b', '[x]', 'a:b:c']) expect(() => new AddressRules([wrong])).toThrow(TypeError)
})

test('the loopback in all of its forms, and names that resolve to it', async () => {
  const { port, requests } = await victim()
  const server = await startServer()
  opened.push(server)
  await send(server.url, 'PUT /a')
  const hosts = [
    '127.0.0.1',
    'localhost',
    '0x7f.1',
    '2130706433',
    '0177.0.0.1',
    '[::1]',
    '[::ffff:127.0.0.1]',
    '0',
    '127.0.0.1.',
  ]
  for (const host of hosts) {
    const { status, json } = await send(server.url, 'POST /_replicate', {
      source: `http://${host}:${port}/x`,
      target: 'a',
    })
    expect([host, status]).toEqual([host, 500])
    expect([host, json['reason']]).toEqual([host, expect.stringContaining('not public')])
  }
  expect(requests()).toBe(0)
})

test('a name that resolves to something else each time is resolved for the connection only; one bad address closes the name', async () => {
  const { port, requests } = await victim()
  let turns: string[][] = []
  let resolved = 0
  const resolve: Resolve = (_host, _options, done) => {
    resolved++
    done(
      null,
      (turns.shift() ?? ['127.0.0.1']).map((address) => ({ address, family: address.includes(':') ? 6 : 4 })),
    )
  }
  const closed = guardedFetch(new AddressRules(), { resolve })
  const open = guardedFetch(new AddressRules(['127.0.0.1']), { resolve })
  opened.push(closed, open)
  const url = `http://rebound.example:${port}/x`
  for (const addresses of [['127.0.0.1'], ['8.8.8.8', '127.0.0.1'], ['::ffff:7f00:1'], ['169.254.169.254']]) {
    turns = [addresses]
    await expect(closed.fetch(url, {})).rejects.toMatchObject({ code: 'PANNIER_PEER_REFUSED' })
  }
  expect([requests(), resolved]).toEqual([0, 4])
  turns = [['127.0.0.1'], ['169.254.169.254']]
  expect(await (await open.fetch(url, {})).json()).toEqual({ update_seq: 0, uuid: 'x' })
  expect([requests(), resolved]).toEqual([1, 5])
})

test('an answer without end', async () => {
  const page = Buffer.alloc(1024 * 1024, 32)
  const server = createServer((_request, response) => {
    const more = (): void => {
      while (response.write(page));
      response.once('drain', more)
    }
    more()
  })
  const url = await listen(server)
  const { fetch, close } = guardedFetch(new AddressRules(['127.0.0.1']))
  opened.push({ close: () => closeServer(server) }, { close })
  const response = await fetch(`${url}/x`, { headers: { accept: 'application/json' } })
  await expect(response.text()).rejects.toMatchObject({ code: 'PANNIER_PEER_REFUSED' })
})

test('redirects, other schemes, ports of other services', async () => {
  const { port } = await victim('http://169.254.169.254/latest/meta-data')
  const { fetch, close } = guardedFetch(new AddressRules(['127.0.0.1']))
  opened.push({ close })
  const code = 'PANNIER_PEER_REFUSED'
  await expect(fetch(`http://127.0.0.1:${port}/x`, {})).rejects.toMatchObject({
    code,
    message: expect.stringContaining('redirect'),
  })
  for (const url of ['file:///etc/passwd', 'ftp://127.0.0.1/', 'data:,x', 'http://127.0.0.1:25/'])
    await expect(fetch(url, {})).rejects.toMatchObject({ code })
  const server = await startServer({ couch: { replicator: { hosts: ['127.0.0.1'] } } })
  opened.push(server)
  await send(server.url, 'PUT /a')
  const { status, text } = await send(server.url, 'POST /_replicate', {
    source: `http://127.0.0.1:${port}/x`,
    target: 'a',
  })
  expect([status, text]).toEqual([500, expect.stringContaining('redirect')])
  expect(text).not.toContain('169.254')
})
