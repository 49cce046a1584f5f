/** Goal: the extension's folder loads unpacked, and its button opens devtools in a page that offers them. Method: Chromium, driven by a pipe. */
import { createServer, type Server } from 'node:http'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { launch, type Browser, type CDPSession } from 'puppeteer-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { bundle } from '../../../tools/browser/bundle.ts'
import { findProgram } from '../../../tools/browser/engines.ts'
import { makeFolder, removeFolder } from '../../../tools/processes.ts'

const program = findProgram('chromium')
const extension = join(import.meta.dirname, '../extension')
const profile = makeFolder('extension')
let server: Server
let browser: Browser | undefined

/** A call of Chromium's protocol that puppeteer has no types for. */
type Call = (method: string, given?: object) => Promise<Record<string, unknown>>

async function callsOf(target: { createCDPSession(): Promise<CDPSession> }): Promise<Call> {
  const session = await target.createCDPSession()
  return (method, given = {}) => session.send(method as never, given as never)
}

beforeAll(async () => {
  const script = await bundle(join(import.meta.dirname, 'extension.page.ts'))
  server = createServer(({ url }, response) => {
    const isScript = url === '/page.js'
    response.setHeader('content-type', isScript ? 'text/javascript' : 'text/html')
    response.end(isScript ? script : url === '/bare' ? '<p>bare</p>' : '<script type="module" src="/page.js"></script>')
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
})

afterAll(async () => {
  await browser?.close()
  server.closeAllConnections()
  server.close()
  removeFolder(profile)
})

test.skipIf(program === undefined)('its button opens and closes devtools, and marks a page without them', async () => {
  browser = await launch({
    executablePath: program!,
    userDataDir: profile,
    pipe: true,
    enableExtensions: [extension],
    args: ['--no-sandbox', '--disable-gpu'],
  })
  const worker = await browser.waitForTarget((target) => target.type() === 'service_worker')
  const id = new URL(worker.url()).host
  const call = await callsOf(browser.target())
  const press = async (url: string): Promise<void> => {
    const { targetInfos } = (await call('Target.getTargets', { filter: [{ type: 'tab' }] })) as {
      targetInfos: readonly { readonly targetId: string; readonly url: string }[]
    }
    const { targetId } = targetInfos.find((target) => target.url === url)!
    await call('Extensions.triggerAction', { id, targetId })
  }
  const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const page = await browser.newPage()
  await page.goto(`${base}/`)
  await page.waitForFunction('globalThis.isOffered === true')
  await press(`${base}/`)
  await page.waitForSelector('pannier-devtools')
  await press(`${base}/`)
  await page.waitForFunction('document.querySelector("pannier-devtools") === null')
  await page.goto(`${base}/bare`)
  await press(`${base}/bare`)
  const background = (await worker.worker())!
  const badge = (): Promise<string> =>
    background.evaluate(
      'chrome.tabs.query({ active: true }).then(([{ id }]) => chrome.action.getBadgeText({ tabId: id }))',
    ) as Promise<string>
  await expect.poll(badge, { timeout: 10_000 }).toBe('–')
})
