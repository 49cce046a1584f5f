/** The protocol of a replica over a bare socket, without a database: what the server hands out, as fast as it does. */
import { HttpSocket, isSuccess } from '../pocketbase/http-socket.ts'

/** Figures of one pull until completeness. */
export interface Pulled {
  readonly rows: number
  readonly pages: number
  /** Milliseconds until the first page with a row was here, and until all were. */
  readonly firstMs: number
  readonly allMs: number
}

/** A row has one of them. */
const ROW = /"(?:record|left|rev)":/g
const TOKEN = /"token":"([^"]+)"/
/** The part of an answer behind the rows is at the end. */
const TAIL_CHARS = 8000

export class BareReplica {
  readonly #socket: HttpSocket
  readonly #session: string
  token: string | null = null

  constructor(url: URL, session: string) {
    this.#socket = new HttpSocket(url)
    this.#session = session
  }

  /** Pulls until it is complete, or some pages. @throws Error if the server refuses */
  async pull(pagesMax: number = Infinity): Promise<Pulled> {
    const started = performance.now()
    let [rows, pages, firstMs] = [0, 0, 0]
    for (let isComplete = false; !isComplete && pages < pagesMax; pages++) {
      const body = { collections: { tasks: this.token }, device: 'device-of-the-bench', acknowledged: [] }
      const call = { method: 'POST', path: '/api/sync/pull', token: this.#session, body }
      const { status, text } = await this.#socket.send(call, true)
      if (!isSuccess(status)) throw new Error(`A pull was answered with ${status}: ${text.slice(0, 300)}`)
      rows += text.match(ROW)?.length ?? 0
      if (firstMs === 0 && rows > 0) firstMs = performance.now() - started
      const tail = text.slice(-TAIL_CHARS)
      this.token = TOKEN.exec(tail)![1]!
      isComplete = tail.includes('"isComplete":true')
    }
    return { rows, pages, firstMs, allMs: performance.now() - started }
  }

  close(): void {
    this.#socket.close()
  }
}
