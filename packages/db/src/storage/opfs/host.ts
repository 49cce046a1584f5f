/**
 * The worker of a database in one tab. It answers the calls of its page. It does so itself if it owns the files;
 * otherwise it asks the owning worker through a channel.
 *
 * A call is never lost. It waits until an owner is known, and goes to the next owner if the first leaves without an
 * answer. The old owner may have done it: each call that changes something takes this into account (`again`).
 */
import { PannierError } from '../../base/errors.ts'
import { sameBytes } from '../../codec/bytes.ts'
import type { FileDatabase } from './file-database.ts'
import { Moved, Ownership } from './ownership.ts'
import {
  postedError,
  unpacked,
  type Answer,
  type Call,
  type FromWorker,
  type PackedPages,
  type PostedCommit,
} from './protocol.ts'

/** After so long an owner that owes an answer is asked for a sign of life; after so long again it is taken for frozen. */
const SILENCE_MS_MAX = 2500

/** The messages of workers to all. */
export type News = { readonly owner: string } | 'who' | 'gone'

/** The messages of workers to one another. */
type Letter =
  | { readonly from: string; readonly call: Call; readonly again: boolean; readonly identity: Uint8Array | undefined }
  | { readonly answer: Answer }
  | { readonly from: string; readonly ping: true }
  | { readonly alive: true }

interface WaitingCall {
  readonly call: Call
  /** Whether the call may have been done already, so that it comes again. */
  again: boolean
}

/** Gives `message` to the page. */
export type Post = (message: FromWorker, transfer?: Transferable[]) => void

export class Host {
  readonly #me: string = crypto.randomUUID()
  readonly #name: string
  readonly #post: Post
  readonly #ownership: Ownership
  readonly #everybody: BroadcastChannel
  readonly #inbox: BroadcastChannel
  /** The channels of other workers that were written to. */
  readonly #boxes = new Map<string, BroadcastChannel>()
  /** Calls of this page that are not answered yet. */
  readonly #waiting = new Map<number, WaitingCall>()
  #owner: string | undefined
  /** The identity of the database that this page has opened. */
  #identity: Uint8Array | undefined
  #failure: unknown
  #timer: ReturnType<typeof setTimeout> | undefined
  #heard = true
  #isClosed = false
  /** The controller that ends the request for the lock that is under way (queueing). */
  #queueing: AbortController | undefined

  constructor(name: string, post: Post) {
    this.#name = name
    this.#post = post
    this.#ownership = new Ownership(name)
    this.#everybody = new BroadcastChannel(this.#channelName(''))
    this.#everybody.onmessage = ({ data }: MessageEvent<News>) => this.#hearNews(data)
    this.#inbox = new BroadcastChannel(this.#channelName(this.#me))
    this.#inbox.onmessage = ({ data }: MessageEvent<Letter>) => this.#readLetter(data)
    this.#queue({})
    this.#everybody.postMessage('who' satisfies News)
  }

  call(call: Call): void {
    const waiting = { call, again: false }
    this.#waiting.set(call.id, waiting)
    if (this.#failure !== undefined) this.#queue({})
    this.#ask(waiting)
    this.#watch()
  }

  close(): void {
    if (this.#isClosed) return
    this.#isClosed = true
    clearTimeout(this.#timer)
    this.#queueing?.abort()
    this.#ownership.release()
    for (const channel of [this.#everybody, this.#inbox, ...this.#boxes.values()]) channel.close()
    this.#post('closed')
  }

  #channelName(worker: string): string {
    return `pannier-opfs:${this.#name}:${worker}`
  }

  /** Stands in the queue for the files, for as long as it lives. */
  #queue({ steal = false }: { readonly steal?: boolean }): void {
    this.#failure = undefined
    this.#queueing?.abort()
    const queueing = (this.#queueing = new AbortController())
    const owning = (): void => this.#beOwner()
    const ended = (error?: unknown): void => {
      // Another request has taken the place of this one.
      if (this.#queueing !== queueing || this.#isClosed) return
      if (this.#owner === this.#me) this.#owner = undefined
      // A lock that was stolen is no failure.
      if (error === undefined || (error as Error).name === 'AbortError') return this.#queue({})
      this.#failure = error
      this.#askAgain()
    }
    const options = steal ? { steal } : { signal: queueing.signal }
    this.#ownership.own(options, () => this.#identity === undefined, owning).then(() => ended(), ended)
  }

  #beOwner(): void {
    if (this.#isClosed) this.#ownership.release()
    // It was destroyed while this worker did not listen.
    else if (this.#ownership.database === undefined) this.#end()
    else {
      this.#owner = this.#me
      this.#everybody.postMessage({ owner: this.#me } satisfies News)
      this.#askAgain()
    }
  }

  #end(): void {
    this.#post('gone')
    this.close()
  }

  /** From when it has been asked of somebody, nobody knows whether it was done, until there is an answer. */
  #ask(waiting: WaitingCall): void {
    const owner = this.#owner
    const { call, again } = waiting
    if (this.#failure !== undefined) this.#give({ id: call.id, error: postedError(this.#failure) })
    else if (owner === undefined) this.#everybody.postMessage('who' satisfies News)
    else {
      waiting.again = true
      if (owner === this.#me) this.#answerSelf(call, again)
      else this.#write(owner, { from: this.#me, call, again, identity: this.#identity })
    }
  }

  /** Asks the present owner again. */
  #askAgain(): void {
    for (const waiting of this.#waiting.values()) this.#ask(waiting)
  }

  #answerSelf(call: Call, again: boolean): void {
    try {
      this.#give(this.#answerTo(call, again, this.#identity))
    } catch (error) {
      if (!(error instanceof Moved)) throw error
      this.#lose()
    }
  }

  #answerTo({ id, method, parameters }: Call, again: boolean, identity: Uint8Array | undefined): Answer {
    try {
      this.#ownership.check()
      const { database } = this.#ownership
      if (database === undefined || (identity !== undefined && !sameBytes(identity, database.identity)))
        throw new PannierError('PANNIER_CLOSED', 'The database was destroyed.')
      return { id, value: METHODS[method](database, parameters as never, again) }
    } catch (error) {
      if (error instanceof Moved) throw error
      return { id, error: postedError(error) }
    }
  }

  /** The answer to a call of this page. */
  #give(answer: Answer): void {
    if (this.#waiting.get(answer.id)?.call.method === 'open') this.#identity = answer.value as Uint8Array | undefined
    this.#waiting.delete(answer.id)
    this.#post(answer, buffersOf(answer.value))
  }

  /** Another worker has taken the files. */
  #lose(): void {
    this.#owner = undefined
    this.#ownership.release()
    this.#heard = true
    this.#everybody.postMessage('who' satisfies News)
    this.#watch()
  }

  #hearNews(news: News): void {
    if (news === 'who') {
      if (this.#owner === this.#me) this.#everybody.postMessage({ owner: this.#me } satisfies News)
    } else if (news === 'gone') this.#end()
    // What an owner before this one has said may arrive late; one that was stolen from hears it when it looks at the files.
    else if (this.#owner !== this.#me && this.#owner !== news.owner) {
      this.#owner = news.owner
      this.#heard = true
      this.#askAgain()
    }
  }

  #readLetter(letter: Letter): void {
    if ('answer' in letter) {
      this.#heard = true
      if (this.#waiting.has(letter.answer.id)) this.#give(letter.answer)
    } else if ('alive' in letter) this.#heard = true
    else if (this.#owner === this.#me) this.#reply(letter)
  }

  #reply(letter: Extract<Letter, { readonly from: string }>): void {
    if ('ping' in letter) return this.#write(letter.from, { alive: true })
    try {
      this.#write(letter.from, { answer: this.#answerTo(letter.call, letter.again, letter.identity) })
    } catch (error) {
      if (!(error instanceof Moved)) throw error
      this.#lose()
    }
  }

  #write(to: string, letter: Letter): void {
    let box = this.#boxes.get(to)
    if (box === undefined) this.#boxes.set(to, (box = new BroadcastChannel(this.#channelName(to))))
    box.postMessage(letter)
  }

  /** While calls wait for another worker, it has to give signs of life. */
  #watch(): void {
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined
      if (this.#waiting.size === 0 || this.#isClosed) return
      // To steal while it takes the files itself would begin that again each time, and never end.
      if (!this.#heard && !this.#ownership.isTaking) {
        this.#heard = true
        this.#owner = undefined
        this.#queue({ steal: true })
      } else {
        this.#heard = false
        this.#everybody.postMessage('who' satisfies News)
        if (this.#owner !== undefined) this.#write(this.#owner, { from: this.#me, ping: true })
      }
      this.#watch()
    }, SILENCE_MS_MAX)
  }
}

const METHODS: {
  readonly [Name in Call['method']]: (database: FileDatabase, parameters: never, again: boolean) => unknown
} = {
  open: (database) => database.identity,
  read: (database, [known]: Parameters<FileDatabase['read']>) => database.read(known),
  readPages: (database, [ids]: Parameters<FileDatabase['readPages']>) => database.readPages(ids),
  append: (database, [record, durability, logSeal]: Parameters<FileDatabase['append']>, again) =>
    database.append(record, durability, logSeal, again),
  claim: (database, [token, generation]: Parameters<FileDatabase['claim']>) => database.claim(token, generation),
  stage: (database, [token, pages]: [string, PackedPages]) => database.stage(token, unpacked(pages)),
  put: (database, [put, pages]: [string, PackedPages]) => database.put(put, unpacked(pages)),
  drop: (database, [put]: [string]) => database.drop(put),
  commit: (database, [commit]: [PostedCommit], again) =>
    database.commit({ ...commit, pages: unpacked(commit.pages) }, again),
  putKeyring: (database, [expected, keyring, durability]: Parameters<FileDatabase['putKeyring']>, again) =>
    database.putKeyring(expected, keyring, durability, again),
  replacePages: (database, [keyring, pages]: [Uint8Array, PackedPages]) =>
    database.replacePages(keyring, [...unpacked(pages)]),
  listPages: (database) => database.listPages(),
  usedBytes: (database) => database.usedBytes(),
}

/** Buffers that can be given away instead of being copied: pages that were read. */
function buffersOf(value: unknown): Transferable[] {
  return Array.isArray(value) ? value.flatMap((item) => (item instanceof Uint8Array ? [item.buffer] : [])) : []
}
