/**
 * Drives pages without any help of the browser: a page asks this server again and again what to do, does it, and posts
 * what came of it. For WebKit, whose own driver keeps what pages store in memory only and ends when a page is killed.
 *
 * A page takes part if it runs `CONTROL_SCRIPT` and its address ends in `#control=ADDRESS&hash=HASH`, the address of one slot, and the
 * hash that the page is to have. The script runs before those of the page, and gives it that hash. A page that loads itself again is still
 * in its slot.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A server that puts the script into its pages says so with this header. */
export const CONTROL_HEADER = 'x-remote-control'

/** Asks for commands once the page has loaded. A page that was replaced in its slot gets no more of them. */
export const CONTROL_SCRIPT = `
// A test may put another one in its place.
const { fetch } = globalThis
const { href } = location
const given = new URLSearchParams(location.hash.slice(1))
const withHash = (hash) => location.href.split('#')[0] + hash
if (given.has('control')) {
  sessionStorage.setItem('control', given.get('control'))
  history.replaceState(null, '', withHash(given.get('hash') ?? ''))
}
const control = sessionStorage.getItem('control')
const load = (address) => {
  if (address.split('#')[0] !== location.href.split('#')[0]) return location.replace(address)
  history.replaceState(null, '', address)
  location.reload()
}
// A service worker that ends, or a connection that breaks, takes a request with it.
const post = async (path, body) => {
  for (;;) {
    try {
      return await (await fetch(control + path, { method: 'POST', body: JSON.stringify(body) })).json()
    } catch {
      await new Promise((resolve) => setTimeout(resolve, 100))
    }
  }
}
const describe = (error) => error instanceof Error ? error.name + ': ' + error.message + '\\n' + error.stack : String(error)
const run = async ({ id, expression }) => {
  let outcome
  try {
    outcome = { id, value: await (0, eval)(expression) }
  } catch (error) {
    outcome = { id, error: describe(error) }
  }
  await post('/outcome', outcome)
}
if (control && self === top) addEventListener('load', async () => {
  await post('/loaded', { address: href })
  for (let got = 0; ; ) {
    const command = await post('/next', { got })
    got = command.id
    if (command.address) return load(command.address)
    if (command.again) return load(withHash('#' + new URLSearchParams({ control, hash: location.hash })))
    run(command)
  }
})
`

interface Messages {
  readonly loaded: { readonly address: string }
  /** The newest command that the page has got. */
  readonly next: { readonly got: number }
  readonly outcome: { readonly id: number; readonly value?: unknown; readonly error?: string }
}

type Command =
  | { readonly id: number; readonly address: string }
  | { readonly id: number; readonly again: true }
  | { readonly id: number; readonly expression: string }

/** One place in the browser where a page can be: what is asked of it, and what waits for an answer. */
export class Slot {
  /** Where the page in this slot finds its commands. */
  readonly control: string
  private readonly commands: Command[] = []
  private readonly waiting = new Map<number, PromiseWithResolvers<unknown>>()
  private asking: ServerResponse | undefined
  /** Until the page says that it has got it. */
  private sent: Command | undefined
  private loaded: { readonly address: string | undefined; readonly reached: () => void } | undefined
  private nextId = 1

  constructor(control: string) {
    this.control = control
  }

  /** Resolves when the page at `url` has loaded; the same address again reloads it. */
  load(url: string): Promise<void> {
    const address = this.addressOf(url)
    const { promise, resolve } = Promise.withResolvers<void>()
    this.abandon('another page was loaded')
    this.loaded = { address, reached: resolve }
    this.command({ id: this.nextId++, address })
    return promise
  }

  /** As a person reloads the page, where it is by now. Resolves when it has loaded. */
  reload(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    this.abandon('the page was loaded again')
    this.loaded = { address: undefined, reached: resolve }
    this.command({ id: this.nextId++, again: true })
    return promise
  }

  /** The address that the browser opens for `url`. */
  addressOf(url: string): string {
    const [page = '', hash = ''] = url.split('#')
    const of = new URLSearchParams({ control: this.control, ...(hash !== '' && { hash: `#${hash}` }) })
    return `${page}#${of.toString()}`
  }

  /** Resolves when the browser has opened the page of this slot. */
  expect(url: string): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    this.loaded = { address: this.addressOf(url), reached: resolve }
    return promise
  }

  evaluate(expression: string): Promise<unknown> {
    const id = this.nextId++
    const answer = Promise.withResolvers<unknown>()
    this.waiting.set(id, answer)
    this.command({ id, expression })
    return answer.promise
  }

  /** Nothing more will come of what is under way. */
  abandon(reason: string): void {
    for (const answer of this.waiting.values()) answer.reject(new Error(`No answer: ${reason}.`))
    this.waiting.clear()
    this.commands.length = 0
    this.sent = undefined
  }

  /** A page has loaded in this slot. What was asked of the one before is not asked of it. */
  takeLoaded({ address }: Messages['loaded'], response: ServerResponse): void {
    this.asking = undefined
    this.sent = undefined
    const queued = new Set(this.commands.map(({ id }) => id))
    for (const [id, answer] of this.waiting) {
      if (queued.has(id)) continue
      this.waiting.delete(id)
      answer.reject(new Error('No answer: the page went elsewhere by itself.'))
    }
    if (this.loaded?.address === undefined || address === this.loaded.address) this.loaded?.reached()
    response.end('{}')
  }

  takeNext({ got }: Messages['next'], response: ServerResponse): void {
    const { sent } = this
    this.sent = undefined
    if (sent !== undefined && sent.id !== got) this.commands.unshift(sent)
    this.asking = response
    this.serve()
  }

  takeOutcome({ id, value, error }: Messages['outcome'], response: ServerResponse): void {
    const answer = this.waiting.get(id)
    this.waiting.delete(id)
    if (error !== undefined) answer?.reject(new Error(error))
    else answer?.resolve(value)
    response.end('{}')
  }

  private command(command: Command): void {
    this.commands.push(command)
    this.serve()
  }

  private serve(): void {
    if (this.asking === undefined) return
    // A page that was killed or replaced has left its question behind.
    if (this.asking.destroyed) return void (this.asking = undefined)
    const command = this.commands.shift()
    if (command === undefined) return
    this.asking.end(JSON.stringify(command))
    this.asking = undefined
    this.sent = command
  }
}

export interface RemoteControl {
  readonly slots: readonly Slot[]
  /** An empty page for slots that are not in use. */
  readonly idleUrl: string
  close(): Promise<void>
}

export async function startRemoteControl(slotCount: number): Promise<RemoteControl> {
  const slots: Slot[] = []
  const server = createServer((request, response) => {
    respond(request, response, slots).catch((error: unknown) => response.destroy(error as Error))
  })
  // A connection that is closed at the moment when it is used again would take a message with it.
  server.keepAliveTimeout = 0
  await new Promise<void>((resolve) => server.listen(0, 'localhost', resolve))
  const baseUrl = `http://localhost:${(server.address() as AddressInfo).port}`
  for (let index = 0; index < slotCount; index++) slots.push(new Slot(`${baseUrl}/slots/${index}`))
  return {
    slots,
    idleUrl: `${baseUrl}/idle`,
    close() {
      server.closeAllConnections()
      return new Promise((resolve) => server.close(() => resolve()))
    },
  }
}

async function respond(request: IncomingMessage, response: ServerResponse, slots: readonly Slot[]): Promise<void> {
  const path = request.url ?? ''
  response.setHeader('cache-control', 'no-store').setHeader('access-control-allow-origin', '*')
  const match = /^\/slots\/(\d+)\/(\w+)$/.exec(path)
  if (match !== null) {
    let body = ''
    for await (const chunk of request.setEncoding('utf8')) body += chunk as string
    const slot = slots[Number(match[1])]
    const message: unknown = JSON.parse(body)
    if (match[2] === 'loaded') slot?.takeLoaded(message as Messages['loaded'], response)
    else if (match[2] === 'next') slot?.takeNext(message as Messages['next'], response)
    else slot?.takeOutcome(message as Messages['outcome'], response)
    return
  }
  // Unlike the pages that are served to tests, this one is not isolated: so each of them gets a process of its own.
  const page = `<!doctype html><meta charset="utf-8"><title>idle</title><script type="module">${CONTROL_SCRIPT}</script>`
  response.setHeader('content-type', 'text/html').end(page)
}
