/**
 * The four forms of a feed: normal, longpoll, continuous and eventsource, with heartbeats and time-outs. Makes pieces
 * only as the client takes them. A feed ends when its signal is aborted; it then releases its source, even while it
 * waits.
 */
import { badRequest } from '../http/http-error.ts'
import type { QueryParameters } from '../http/query-parameters.ts'
import type { ServerLimits } from '../http/server-limits.ts'
import type { FeedSchedule } from './feed-schedule.ts'

type FeedForm = 'normal' | 'longpoll' | 'continuous' | 'eventsource'

export interface FeedRow {
  /** The row's sequence number as text. */
  readonly sequence: string
  /** The row in JSON. */
  readonly text: string
  /** Pieces that follow the text: content of attachments. Such a row is a batch of its own. */
  readonly rest?: AsyncIterable<string>
}

/** The text around rows. */
interface Form {
  readonly before: string
  after(row: FeedRow): string
  readonly between: string
}

const LIST: Form = { before: '', after: () => '', between: ',\n' }
const LINES: Form = { before: '', after: () => '\n', between: '' }
const EVENTS: Form = { before: 'data: ', after: ({ sequence }) => `\nid: ${sequence}\n\n`, between: '' }

/** The source of rows; each call of `rows` continues where the last one has ended. */
export interface FeedSource {
  /** `live`: waits for more at the end. Once `stop` is aborted it ends, also while it waits. */
  rows(live: boolean, stop: AbortSignal): AsyncIterator<readonly FeedRow[], unknown>
  /** False if the client must learn at once that its sequence is of another database, even if there are no rows. */
  readonly mayWait: boolean
  /** Sequence of the newest row that `rows` has returned. */
  lastSequence(): string
  /** The number of rows after that one. */
  pending(): Promise<number>
}

export interface FeedOptions {
  readonly form: FeedForm
  /** Undefined: no heartbeats, and a feed that waits ends after `waitMsMax`. */
  readonly heartbeatMs: number | undefined
  readonly waitMsMax: number
}

const HEARTBEAT_MS_DEFAULT = 60_000
const FORMS: ReadonlySet<string> = new Set(['normal', 'longpoll', 'continuous', 'eventsource'])

export function feedOptions(parameters: QueryParameters, limits: ServerLimits): FeedOptions {
  const feed = parameters.text('feed') ?? 'normal'
  const form = feed === 'live' ? 'continuous' : feed
  if (!FORMS.has(form)) throw badRequest(`Unknown feed: ${form.slice(0, 40)}`)
  const heartbeat = parameters.text('heartbeat')
  const beats = heartbeat !== undefined && heartbeat !== 'false' && heartbeat !== '0'
  const heartbeatMs = heartbeat === 'true' ? HEARTBEAT_MS_DEFAULT : beats ? parameters.count('heartbeat')! : undefined
  return {
    form: form as FeedForm,
    heartbeatMs: heartbeatMs && Math.min(Math.max(heartbeatMs, limits.heartbeatMsMin), HEARTBEAT_MS_DEFAULT),
    waitMsMax: Math.min(parameters.count('timeout') ?? limits.feedMsMax, limits.feedMsMax),
  }
}

export function contentTypeOf({ form }: FeedOptions): string {
  return form === 'eventsource' ? 'text/event-stream' : 'application/json'
}

/** When a feed reads, waits and ends. */
interface FeedPace {
  readonly schedule: FeedSchedule
  /** Aborted to end the feed in the regular way. */
  readonly ending: AbortSignal
}

export function feedPieces(source: FeedSource, options: FeedOptions, pace: FeedPace): AsyncGenerator<string> {
  return options.form === 'normal' || options.form === 'longpoll'
    ? wholeFeed(source, options, pace)
    : endlessFeed(source, options, pace)
}

async function* wholeFeed(source: FeedSource, options: FeedOptions, pace: FeedPace): AsyncGenerator<string> {
  yield '{"results":[\n'
  let separator = ''
  const { form, heartbeatMs } = options
  for await (const rows of withIdle(source, false, heartbeatMs ?? Infinity, pace)) {
    if (rows === 'idle') yield '\n'
    else {
      yield* inForm(rows, LIST, separator)
      separator = ',\n'
    }
  }
  if (form === 'longpoll' && separator === '' && source.mayWait) {
    for await (const rows of withIdle(source, true, heartbeatMs ?? options.waitMsMax, pace)) {
      if (rows !== 'idle') {
        yield* inForm(rows, LIST)
        break
      }
      if (heartbeatMs === undefined) break
      yield '\n'
    }
  }
  yield `\n],\n"last_seq":${JSON.stringify(source.lastSequence())},"pending":${await source.pending()}}\n`
}

async function* endlessFeed(source: FeedSource, options: FeedOptions, pace: FeedPace): AsyncGenerator<string> {
  const { form, heartbeatMs, waitMsMax } = options
  const isEvents = form === 'eventsource'
  // Headers go out with the first piece.
  yield '\n'
  for await (const rows of withIdle(source, true, heartbeatMs ?? waitMsMax, pace)) {
    if (rows !== 'idle') yield* inForm(rows, isEvents ? EVENTS : LINES)
    else if (heartbeatMs === undefined) break
    else yield isEvents ? 'event: heartbeat\ndata: \n\n' : '\n'
  }
  if (!isEvents) yield `{"last_seq":${JSON.stringify(source.lastSequence())},"pending":${await source.pending()}}\n`
}

async function* inForm(rows: readonly FeedRow[], { before, after, between }: Form, start = ''): AsyncGenerator<string> {
  const [first] = rows
  if (first?.rest === undefined) {
    yield start + rows.map((row) => before + row.text + after(row)).join(between)
    return
  }
  yield start + before + first.text
  yield* first.rest
  yield after(first)
}

const ENDED = new Error('the feed has ended')

/** 'idle' each time that nothing has come for that long. Ends at the signal. */
async function* withIdle(
  source: FeedSource,
  live: boolean,
  idleMs: number,
  pace: FeedPace,
): AsyncGenerator<readonly FeedRow[] | 'idle'> {
  const stop = new AbortController()
  const rows = source.rows(live, stop.signal)
  try {
    for (;;) {
      await pace.schedule.toRead()
      const next = rows.next()
      // If the feed ends first, nobody waits for this promise.
      next.catch(() => {})
      let result: IteratorResult<readonly FeedRow[], unknown> | 'idle' | 'ended'
      do {
        result = await firstOf(next, idleMs, pace)
        if (result === 'ended') return
        if (result === 'idle') yield 'idle'
      } while (result === 'idle')
      if (result.done === true) return
      yield result.value
    }
  } finally {
    stop.abort(ENDED)
    await rows.return?.()
  }
}

async function firstOf<T>(
  next: Promise<T>,
  idleMs: number,
  { schedule, ending }: FeedPace,
): Promise<T | 'idle' | 'ended'> {
  if (ending.aborted) return 'ended'
  let stop = (): void => {}
  const other = new Promise<'idle' | 'ended'>((resolve) => {
    const end = (): void => resolve('ended')
    const stopWaiting = idleMs === Infinity ? undefined : schedule.after(idleMs, () => resolve('idle'))
    ending.addEventListener('abort', end)
    stop = () => {
      stopWaiting?.()
      ending.removeEventListener('abort', end)
    }
  })
  try {
    return await Promise.race([next, other])
  } finally {
    stop()
  }
}
