/** A network that fails: a proxy before PostgreSQL that cuts the connection, or holds it up, at a chosen statement. */
import { connect, createServer, type Server, type Socket } from 'node:net'
import { FIRST_SEED } from '../../../tools/test/seeds.ts'
import { seededRandom } from '../../db/testing/random.ts'

/**
 * 'request': the statement never arrives. 'answer': it is done, and its answer is lost. 'late': it arrives after the client has
 * given the connection up.
 */
export type Cut = 'request' | 'answer' | 'late'

/** A statement or an answer that is on its way for as long as the test wants. */
export interface Held {
  /** Resolves when it was given. */
  readonly given: Promise<void>
  release(): void
}

interface Holding {
  readonly mark: string
  readonly give: () => void
  readonly released: Promise<void>
}

/** A bind message of the protocol. */
const BIND = 0x42
const LATE_MS_MAX = 40
const SERVER_GONE_MS = 300

export class CuttingProxy implements AsyncDisposable {
  /** Cuts that have happened. */
  cuts = 0
  #next: { cut: Cut; mark: Buffer } | undefined
  readonly #nextHeld: { request?: Holding; answer?: Holding } = {}
  #nextGarbled: string | undefined
  /** A held answer comes although the server has ended the connection. */
  keepsHeld = false
  #isAway = false
  #leavesAfterAnswer = false
  readonly #random = seededRandom(FIRST_SEED)
  readonly #server: Server
  readonly #sockets = new Set<Socket>()

  private constructor(server: Server) {
    this.#server = server
  }

  static async start(upstream: number): Promise<CuttingProxy> {
    const server = createServer()
    const proxy = new CuttingProxy(server)
    server.on('connection', (client) => proxy.#join(client, upstream))
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    return proxy
  }

  get port(): number {
    return (this.#server.address() as { port: number }).port
  }

  /** Once, at the next statement that holds `mark`. */
  cutAt(mark: string, cut: Cut): void {
    this.#next = { cut, mark: Buffer.from(mark) }
  }

  /** Once, at the next statement that holds `mark`: its answer, and what follows on that connection, waits. */
  holdAnswerAt(mark: string): Held {
    return this.#hold('answer', mark)
  }

  /** Once: the next statement that holds `mark`, and what follows on that connection, waits. */
  holdAt(mark: string): Held {
    return this.#hold('request', mark)
  }

  #hold(what: 'request' | 'answer', mark: string): Held {
    const { promise: given, resolve: give } = Promise.withResolvers<void>()
    const { promise: released, resolve: release } = Promise.withResolvers<void>()
    this.#nextHeld[what] = { mark, give, released }
    return { given, release }
  }

  /** What is to be held at this statement. */
  #heldAt(what: 'request' | 'answer', chunk: Buffer): Holding | undefined {
    const holding = this.#nextHeld[what]
    if (holding === undefined || !chunk.includes(holding.mark)) return undefined
    delete this.#nextHeld[what]
    return holding
  }

  /** Once: PostgreSQL gets another word, of the same length, and refuses the statement. */
  garble(word: string): void {
    this.#nextGarbled = word
  }

  /** As `cutAt` with 'answer', and nobody is reached from then on. */
  leaveAt(mark: string): void {
    this.#leavesAfterAnswer = true
    this.cutAt(mark, 'answer')
  }

  /** Ends all connections, and refuses others until `comeBack`. */
  goAway(): void {
    this.#isAway = true
    for (const socket of this.#sockets) socket.destroy()
  }

  comeBack(): void {
    this.#leavesAfterAnswer = false
    this.#isAway = false
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.goAway()
    await new Promise((resolve) => this.#server.close(resolve))
  }

  #join(client: Socket, upstream: number): void {
    if (this.#isAway) return void client.destroy()
    const server = connect({ port: upstream, host: '127.0.0.1', noDelay: true })
    client.setNoDelay(true)
    let isCut = false
    let losesAnswer = false
    let held: Holding | undefined
    let heldRequest: Holding | undefined
    const cut = (): void => {
      isCut = true
      client.destroy()
    }
    for (const socket of [client, server]) {
      this.#sockets.add(socket)
      socket.on('error', () => {})
      socket.once('close', () => this.#sockets.delete(socket))
    }
    client.on('data', (chunk: Buffer) => {
      if (isCut) return
      held = this.#heldAt('answer', chunk) ?? held
      heldRequest = this.#heldAt('request', chunk) ?? heldRequest
      if (heldRequest !== undefined) {
        heldRequest.give()
        return void heldRequest.released.then(() => server.write(chunk))
      }
      const garbled = this.#nextGarbled === undefined ? -1 : chunk.indexOf(this.#nextGarbled)
      if (garbled >= 0) {
        chunk.fill(0x78, garbled, garbled + this.#nextGarbled!.length)
        this.#nextGarbled = undefined
      }
      const how = this.#cutOf(chunk)
      if (how === 'request') {
        cut()
        server.destroy()
      } else if (how === 'late') {
        cut()
        setTimeout(() => server.write(chunk), this.#random.next() * LATE_MS_MAX)
        setTimeout(() => server.destroy(), SERVER_GONE_MS)
      } else {
        losesAnswer ||= how === 'answer'
        server.write(chunk)
      }
    })
    server.on('data', (chunk) => {
      if (isCut) return
      if (held !== undefined) {
        held.give()
        return void held.released.then(() => client.write(chunk))
      }
      if (!losesAnswer) return void client.write(chunk)
      cut()
      server.destroy()
      if (this.#leavesAfterAnswer) this.goAway()
    })
    client.once('close', () => !isCut && server.destroy())
    server.once('close', () => (held === undefined || !this.keepsHeld) && client.destroy())
  }

  #cutOf(chunk: Buffer): Cut | undefined {
    const next = this.#next
    if (next === undefined || !chunk.includes(BIND) || !chunk.includes(next.mark)) return undefined
    this.#next = undefined
    this.cuts++
    return next.cut
  }
}
