/**
 * Goal: an app with the guide's service worker starts, reads and writes after one visit, when its server is away.
 * Method: the page of the guide as it stands. Its plugin builds an app with Vite, whose first visit needs no search and writes nothing.
 * Then the server stops, and the app writes into a collection with full text. Its part was never asked for.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import { stripTypeScriptTypes } from 'node:module'
import { extname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { build, defaultClientConditions, type Plugin } from 'vite'
import type { BrowserSuiteContext } from '../../../../tools/browser/browser-suite.ts'
import type { Page } from '../../../../tools/browser/browser.ts'
import { modulesOf, readPages } from '../../../../tools/docs/code-blocks.ts'
import { freePort, makeFolder } from '../../../../tools/processes.ts'
import { assertEqual, assertTrue } from '../../testing/check.ts'

const APP = `import { open } from 'pannier'
await navigator.serviceWorker.register('/sw.js')
const db = await open('shop')
const notes = db.collection('notes', { indexes: [{ on: ['title'], text: true }] })
globalThis.app = { notes, count: () => notes.find().count() }
document.body.append('started')`
const TYPES = new Map([
  ['.js', 'text/javascript'],
  ['.html', 'text/html'],
  ['.json', 'application/json'],
])

interface App {
  readonly app: {
    readonly notes: { insert(note: object): Promise<unknown>; search(words: string): { toArray(): Promise<unknown[]> } }
    count(): Promise<number>
  }
}

/** The code of the page that has this word. */
function codeWith(word: string): string {
  const page = readPages().find(({ path }) => path === 'docs/guide/bundlers.md')!
  return stripTypeScriptTypes(modulesOf(page).find(({ code }) => code.includes(word))!.code)
}

async function buildApp(): Promise<string> {
  const folder = makeFolder('offline-start')
  const plugin = join(folder, 'files.mjs')
  writeFileSync(plugin, codeWith('generateBundle'))
  const { files } = (await import(pathToFileURL(plugin).href)) as { files: () => Plugin }
  mkdirSync(join(folder, 'public'))
  writeFileSync(join(folder, 'public/sw.js'), codeWith('keepAll').replace(/^export \{\}.*$/m, ''))
  writeFileSync(join(folder, 'index.html'), '<!doctype html><body><script type="module" src="/app.js"></script>')
  writeFileSync(join(folder, 'app.js'), APP)
  await build({
    root: folder,
    configFile: false,
    logLevel: 'silent',
    plugins: [files()],
    resolve: {
      alias: { pannier: join(import.meta.dirname, '../../src/index.ts') },
      conditions: ['pannier-source', ...defaultClientConditions],
    },
    build: { target: 'es2024' },
  })
  return join(folder, 'dist')
}

async function serve(folder: string, port: number): Promise<Server> {
  const server = createServer(({ url = '/' }, answer) => {
    const path = url === '/' ? '/index.html' : url
    try {
      const content = readFileSync(join(folder, path))
      answer.setHeader('content-type', TYPES.get(extname(path)) ?? 'application/octet-stream').end(content)
    } catch {
      answer.writeHead(404).end()
    }
  })
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve))
  return server
}

async function stop(server: Server): Promise<void> {
  if (!server.listening) return
  const stopped = new Promise((resolve) => server.close(resolve))
  server.closeAllConnections()
  await stopped
}

export function browserSuite({ test, after, browser }: BrowserSuiteContext): void {
  const started = (page: Page): Promise<boolean> =>
    page.evaluate(async () => {
      const deadline = performance.now() + 30_000
      while (!document.body.innerText.includes('started') && performance.now() < deadline)
        await new Promise((resolve) => setTimeout(resolve, 20))
      await navigator.serviceWorker.ready
      return document.body.innerText.includes('started')
    })

  test('after one visit an app starts, reads and writes without its server', async () => {
    const port = await freePort()
    const server = await serve(await buildApp(), port)
    after(() => stop(server))
    const page = await browser.open(`http://127.0.0.1:${port}/`)
    const hasStarted = await started(page)
    assertEqual([hasStarted, page.errors()], [true, []])
    await page.close()
    await stop(server)
    const offline = await browser.open(`http://127.0.0.1:${port}/`)
    assertTrue(await started(offline), 'a visit without a server')
    const found = await offline.evaluate(async () => {
      const { app } = globalThis as unknown as App
      await app.notes.insert({ _id: 'a', title: 'bread and tea' })
      return [await app.count(), (await app.notes.search('bread').toArray()).length]
    })
    assertEqual(found, [1, 1])
    await offline.close()
  })
}
