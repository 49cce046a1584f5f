/** Asks one contender all questions, checks the answers and takes the time; the same in a page and in a Node process. */
import { checksum, seededRandom } from '../documents.ts'
import { eventLoopTurn, mean, time, timeWarm } from '../measure.ts'
import { makeBlog, type Blog, type BlogSize } from './blog.ts'
import type { Answer, Contender } from './contender.ts'
import { Lookup, WORKLOADS, type Question, type Workload } from './workloads.ts'

/** The request to a page or process: plain data. */
export interface RelationsRequest {
  readonly contender: string
  readonly place: string
  readonly size: BlogSize
  /** Names of workloads; none: all. */
  readonly only: readonly string[]
  /** The number of writes a second in a second pass; 0: only the first pass is made. */
  readonly writes: number
}

/** Outcomes in milliseconds by workload, or why none was measured. */
export type Outcomes = Readonly<Record<string, number | string>>

export interface RelationsReport {
  readonly agent: string
  readonly fillMs: number
  readonly outcomes: Outcomes
  /** The mean while posts are written. */
  readonly whileWriting: Outcomes
}

/** A workload is asked with that many parameters, in turn. */
const QUESTIONS = 40
/** How long a workload is asked while posts are written, and how long before the event loop gets a turn. */
const WRITING_MS = 1500
const TURN_MS = 2
/** The model of plain code is slow: it checks these. */
const CHECKED = 5

export async function measureRelations(contender: Contender, request: RelationsRequest): Promise<RelationsReport> {
  const { place, size, only, writes } = request
  const blog = makeBlog(size)
  const look = new Lookup(blog)
  const start = performance.now()
  await contender.open(place, blog)
  const fillMs = performance.now() - start
  const outcomes: Record<string, number | string> = {}
  const whileWriting: Record<string, number | string> = {}
  const workloads = WORKLOADS.filter(({ name }) => only.length === 0 || only.includes(name))
  for (const workload of workloads) outcomes[workload.name] = await outcomeOf(contender, workload, size, blog, look)
  if (writes > 0 && contender.write !== undefined) {
    const writer = new Writer(contender, blog, size, writes)
    for (const workload of workloads) {
      whileWriting[workload.name] = await writer.timeReads(questionsOf(workload, size, blog))
    }
  }
  await contender.close()
  return { agent: navigator.userAgent, fillMs, outcomes, whileWriting }
}

function questionsOf(workload: Workload, { seed }: BlogSize, blog: Blog): Question[] {
  const random = seededRandom(seed, workload.name.length)
  return Array.from({ length: QUESTIONS }, () => workload.ask(blog, random))
}

/** Writes posts at a steady rate: new ones and ones that are there, in turn. */
class Writer {
  readonly #contender: Contender
  readonly #blog: Blog
  readonly #random: () => number
  readonly #perSecond: number
  #written = 0

  constructor(contender: Contender, blog: Blog, { seed }: BlogSize, perSecond: number) {
    this.#contender = contender
    this.#blog = blog
    this.#random = seededRandom(seed, QUESTIONS)
    this.#perSecond = perSecond
  }

  /** The mean time of an answer meanwhile. */
  async timeReads(questions: readonly Question[]): Promise<number> {
    const start = performance.now()
    const pending: Promise<unknown>[] = []
    const times: number[] = []
    for (let turnedAt = start, now = start; now - start < WRITING_MS; now = performance.now()) {
      const due = ((now - start) * this.#perSecond) / 1000
      while (pending.length < due) pending.push(this.#write())
      times.push((await time(() => this.#contender.answer(questions[times.length % QUESTIONS]!))).milliseconds)
      if (performance.now() - turnedAt < TURN_MS) continue
      await eventLoopTurn()
      turnedAt = performance.now()
    }
    await Promise.all(pending)
    return mean(times)
  }

  #write(): Promise<unknown> {
    const { posts, users } = this.#blog
    const one = <T>(list: readonly T[]): T => list[Math.floor(this.#random() * list.length)]!
    const turn = ++this.#written
    const post = { ...one(posts), title: one(posts).title, public: turn % 2 === 0, type: one(posts).type }
    const _id = turn % 2 === 0 ? post._id : `new ${turn}`
    return this.#contender.write!({ ...post, _id, author: one(users)._id })
  }
}

async function outcomeOf(
  contender: Contender,
  workload: Workload,
  size: BlogSize,
  blog: Blog,
  look: Lookup,
): Promise<number | string> {
  const questions = questionsOf(workload, size, blog)
  try {
    for (const question of questions.slice(0, CHECKED)) {
      const wrong = whatIsWrong(await contender.answer(question), question, blog, look)
      if (wrong !== undefined) return wrong
    }
    let turn = 0
    return (await timeWarm(() => contender.answer(questions[turn++ % QUESTIONS]!))).milliseconds
  } catch (error) {
    return String(error).split('\n')[0]!
  }
}

/** Undefined: nothing. */
function whatIsWrong({ total, rows }: Answer, question: Question, blog: Blog, look: Lookup): string | undefined {
  const { of, sort, skip = 0, limit } = question
  const found = (blog[of] as readonly { readonly _id: string }[]).filter((one) => question.matches(one as never, look))
  if (total !== found.length) return `WRONG: ${total} in all, expected ${found.length}`
  if (sort !== undefined) found.sort((left, right) => sort.compare(left as never, right as never, look))
  const expected = found.slice(skip, skip + limit).map(({ _id }) => _id)
  const got = rows.map(({ _id }) => _id)
  return got.join() === expected.join() ? undefined : `WRONG: rows ${checksum(got)}, expected ${checksum(expected)}`
}
