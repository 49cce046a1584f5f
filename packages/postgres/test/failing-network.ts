/** A network that fails at random: a proxy whose connections are slow, are reset at any byte, or go silent and stay open. */
import { connect, createServer, type Server, type Socket } from 'node:net'
import type { Random } from '../../db/testing/random.ts'

/** How likely each fault is, for each chunk of bytes in either direction. */
export interface Faults {
  /** The chunk, and what follows it, comes some milliseconds later. */
  readonly delay: number
  /** Both ends are reset: before the chunk, after it, or in its middle. */
  readonly reset: number
  /** Nothing passes any more in either direction, and neither end hears of it. */
  readonly silence: number
}

export const NO_FAULTS: Faults = { delay: 0, reset: 0, silence: 0 }
const DELAY_MS_MAX = 30

export class FailingNetwork implements AsyncDisposable {
  /** What has happened so far. */
  readonly counts: Record<keyof Faults, number> = { delay: 0, reset: 0, silence: 0 }
  #faults: Faults
  readonly #random: Random
  readonly #server: Server
  readonly #sockets = new Set<Socket>()

  /** Leads to the port `upstream` of this machine. */
  static async start(upstream: number, random: Random, faults: Faults): Promise<FailingNetwork> {
    const server = createServer()
    const network = new FailingNetwork(server, random, faults)
    server.on('connection', (client) => network.#join(client, upstream))
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    return network
  }

  private constructor(server: Server, random: Random, faults: Faults) {
    this.#server = server
    this.#random = random
    this.#faults = faults
  }

  get port(): number {
    return (this.#server.address() as { port: number }).port
  }

  /** From now on all bytes pass; connections that are silent stay so. */
  mend(): void {
    this.#faults = NO_FAULTS
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const socket of this.#sockets) socket.destroy()
    await new Promise((resolve) => this.#server.close(resolve))
  }

  #join(client: Socket, upstream: number): void {
    const server = connect({ port: upstream, host: '127.0.0.1', noDelay: true })
    client.setNoDelay(true)
    const link = { isSilent: false }
    for (const [from, to] of [
      [client, server],
      [server, client],
    ] as const) {
      this.#sockets.add(from)
      from.on('error', () => {})
      from.once('close', () => {
        this.#sockets.delete(from)
        // The other end of a silent one does not hear that it is gone.
        if (!link.isSilent) to.destroy()
      })
      let last = Promise.resolve()
      from.on('data', (chunk: Buffer) => {
        last = last.then(() => this.#pass(chunk, from, to, link))
      })
    }
  }

  async #pass(chunk: Buffer, from: Socket, to: Socket, link: { isSilent: boolean }): Promise<void> {
    const { delay, reset, silence } = this.#faults
    if (this.#happens('delay', delay))
      await new Promise((resolve) => setTimeout(resolve, this.#random.below(DELAY_MS_MAX)))
    if (link.isSilent || to.destroyed) return
    if (this.#happens('silence', silence)) {
      link.isSilent = true
      return
    }
    if (!this.#happens('reset', reset)) return void to.write(chunk)
    const arrived = this.#random.pick([0, chunk.length, this.#random.below(chunk.length)])
    if (arrived > 0) await new Promise<void>((resolve) => to.write(chunk.subarray(0, arrived), () => resolve()))
    for (const socket of [from, to]) socket.resetAndDestroy()
  }

  #happens(fault: keyof Faults, probability: number): boolean {
    const happens = this.#random.chance(probability)
    if (happens) this.counts[fault]++
    return happens
  }
}
