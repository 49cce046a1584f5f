/**
 * Goal: in each surrounding that a browser has, a database works, or says why it does not. Method: a page, service and shared workers, an
 * insecure origin, a frozen tab, and a tab whose database another one destroys.
 */
import { createServer, request } from 'node:http'
import { networkInterfaces } from 'node:os'
import type { BrowserSuiteContext } from '../../../../tools/browser/browser-suite.ts'
import type { Page } from '../../../../tools/browser/browser.ts'
import { assertEqual, assertTrue } from '../../testing/check.ts'
import type { Work } from './surroundings-work.ts'
import type {} from './surroundings.page.ts'

const PARTS = 'preload upsert find transaction changes live attachment view aggregate export check'.split(' ')
const ALL_OK = Object.fromEntries(PARTS.map((part) => [part, 'ok']))
/** The peer is missing. */
const NO_PEER = { sync: 'PANNIER_PEER_UNREACHABLE' }

export function browserSuite(context: BrowserSuiteContext): void {
  const { test, after, notRun, browser, baseUrl } = context
  const opening = (url = baseUrl): Promise<Page> => browser.open(`${url}/surroundings.page`)
  const storages = browser.engine === 'webkit' ? (['indexeddb'] as const) : (['indexeddb', 'opfs'] as const)

  for (const worker of ['service', 'shared'] as const) {
    const ask = (tab: Page, work: Work): Promise<unknown> =>
      worker === 'service'
        ? tab.evaluate((asked) => surroundings.inServiceWorker(asked), work)
        : tab.evaluate((asked) => surroundings.inSharedWorker(asked), work)

    test(`all parts of the library work in a ${worker} worker that has them in its one file`, async () => {
      const tab = await opening()
      const work = { name: `parts-${worker}`, storage: 'indexeddb' } as const
      assertEqual(await ask(tab, work), { open: 'indexeddb', ...ALL_OK, ...NO_PEER })
      await tab.evaluate((of) => surroundings.open(of, 'indexeddb'), work.name)
      await tab.evaluate(() => surroundings.insert(0, 3))
      assertEqual((await tab.evaluate(() => surroundings.seen(4))).live, 4)
      await tab.close()
    })

    test(`an open page hears what a ${worker} worker writes`, async () => {
      const tab = await opening()
      const work = { name: `heard-${worker}`, storage: 'indexeddb' } as const
      await tab.evaluate((of) => surroundings.open(of, 'indexeddb'), work.name)
      await tab.evaluate(() => surroundings.insert(0, 3))
      assertEqual(await ask(tab, work), { open: 'indexeddb', ...ALL_OK, ...NO_PEER })
      assertEqual((await tab.evaluate(() => surroundings.seen(4))).live, 4)
      await tab.close()
    })

    if (storages.length > 1)
      test(`a ${worker} worker makes no second database beside the files`, async () => {
        const tab = await opening()
        const name = `chosen-${worker}`
        assertEqual(await tab.evaluate((of) => surroundings.open(of, 'chosen'), name), 'opfs')
        await tab.evaluate(() => surroundings.insert(0, 3))
        // Shared workers of Firefox have workers of their own, so they open the files.
        const opens = worker === 'shared' && browser.engine === 'firefox'
        const said = opens ? { open: 'opfs', ...ALL_OK, ...NO_PEER } : { open: 'PANNIER_UNAVAILABLE' }
        assertEqual(await ask(tab, { name, storage: 'chosen' }), said)
        const rows = opens ? 4 : 3
        assertEqual((await tab.evaluate((count) => surroundings.seen(count), rows)).live, rows)
        await tab.evaluate(() => surroundings.close())
        assertEqual(await tab.evaluate((of) => surroundings.open(of, 'chosen'), name), 'opfs')
        assertEqual((await tab.evaluate((count) => surroundings.seen(count), rows)).count, rows)
        await tab.close()
      })
  }

  for (const storage of storages)
    test(`a database that another tab destroys is over for all that read it, on ${storage}`, async () => {
      const [first, second] = [await opening(), await opening()]
      const name = `destroyed-${storage}`
      for (const tab of [first, second])
        await tab.evaluate(([of, kind]) => surroundings.open(of, kind), [name, storage] as const)
      await first.evaluate(() => surroundings.insert(0, 100))
      assertEqual((await second.evaluate(() => surroundings.seen(100))).live, 100)
      await first.evaluate(([of, kind]) => surroundings.destroy(of, kind), [name, storage] as const)
      const closed = 'PANNIER_CLOSED'
      const reads = { get: closed, find: closed, count: closed, indexed: closed, export: closed }
      for (const tab of [second, first])
        assertEqual(await tab.evaluate(() => surroundings.ended()), { closed, status: 'failed', ...reads })
      await first.close()
      await second.close()
    })

  if (browser.supports.freezeOneTab)
    for (const storage of storages)
      test(`a frozen tab keeps nobody from writing for longer than was said, on ${storage}`, async () => {
        const [frozen, visible] = [await opening(), await opening()]
        for (const tab of [frozen, visible])
          await tab.evaluate(([of, kind]) => surroundings.open(of, kind, 3000), [`frozen-${storage}`, storage] as const)
        await visible.evaluate(() => surroundings.insert(0, 1))
        await frozen.evaluate(() => surroundings.insert(1, 2))
        await frozen.freeze()
        for (let n = 2; n < 5; n++) {
          const [outcome, ms] = await visible.evaluate(async (at) => {
            const from = performance.now()
            return [await surroundings.insert(at, at + 1), performance.now() - from] as const
          }, n)
          assertTrue(['fulfilled', 'PANNIER_WRITE_TIMEOUT'].includes(outcome), outcome)
          assertTrue(ms < 15_000, `an insert took ${ms} ms`)
        }
        await frozen.thaw()
        await frozen.close()
        await visible.close()
      })

  const address = addressOfNetwork()
  if (address === undefined) notRun('tabs of an origin that is not secure: no network')
  else {
    const forward = forwarding(baseUrl)
    after(async () => (await forward).close())
    test('tabs of an origin that is not secure hear of each other, and count right', async () => {
      const url = `http://${address}:${(await forward).port}`
      const [first, second] = [await opening(url), await opening(url)]
      assertEqual(await first.evaluate(() => [surroundings.isSecure(), surroundings.hasLocks()]), [false, false])
      for (const tab of [first, second])
        assertEqual(await tab.evaluate(() => surroundings.open('insecure', 'indexeddb')), 'indexeddb')
      const inserted = [first, second].map((tab, at) =>
        tab.evaluate((from) => surroundings.insert(from, from + 20), at * 20),
      )
      assertEqual(await Promise.all(inserted), ['fulfilled', 'fulfilled'])
      for (const tab of [first, second])
        assertEqual(await tab.evaluate(() => surroundings.seen(40)), { live: 40, count: 40 })
      const said = await first.evaluate(() => surroundings.work({ name: 'insecure-parts', storage: 'indexeddb' }))
      assertEqual(said, { open: 'indexeddb', ...ALL_OK, ...NO_PEER })
      await first.close()
      await second.close()
    })
  }
}

/** Of this machine, other than itself: pages from there are not secure. */
function addressOfNetwork(): string | undefined {
  const all = Object.values(networkInterfaces()).flatMap((one) => one ?? [])
  return all.find(({ family, internal }) => family === 'IPv4' && !internal)?.address
}

/** The same pages at all addresses of the machine. */
async function forwarding(baseUrl: string): Promise<{ readonly port: number; close(): Promise<void> }> {
  const server = createServer((incoming, outgoing) => {
    const { method = 'GET', url = '/', headers } = incoming
    const asked = request(baseUrl + url, { method, headers }, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 500, answer.headers)
      answer.pipe(outgoing)
    })
    asked.on('error', () => outgoing.destroy())
    incoming.pipe(asked)
  })
  await new Promise<void>((resolve) => server.listen(0, '0.0.0.0', resolve))
  const { port } = server.address() as { readonly port: number }
  const close = async (): Promise<void> => {
    server.closeAllConnections()
    await new Promise<void>((resolve) => server.close(() => resolve()))
  }
  return { port, close }
}
