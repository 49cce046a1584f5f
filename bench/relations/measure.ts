/** Asks one contender all questions, checks the answers and takes the time; the same in a page and in a Node process. */
import { checksum, seededRandom } from '../documents.ts'
import { timeWarm } from '../measure.ts'
import { makeBlog, type Blog, type BlogSize } from './blog.ts'
import type { Answer, Contender } from './contender.ts'
import { Lookup, WORKLOADS, type Question, type Workload } from './workloads.ts'

/** What a page or process is asked for: plain data. */
export interface RelationsRequest {
  readonly contender: string
  readonly place: string
  readonly size: BlogSize
  /** Names of workloads; none: all. */
  readonly only: readonly string[]
}

/** Milliseconds by workload, or why none was measured. */
export type Outcomes = Readonly<Record<string, number | string>>

export interface RelationsReport {
  readonly agent: string
  readonly fillMs: number
  readonly outcomes: Outcomes
}

/** A workload is asked with that many parameters, in turn. */
const QUESTIONS = 40
/** The model of plain code is slow: it checks these. */
const CHECKED = 5

export async function measureRelations(contender: Contender, request: RelationsRequest): Promise<RelationsReport> {
  const { place, size, only } = request
  const blog = makeBlog(size)
  const look = new Lookup(blog)
  const start = performance.now()
  await contender.open(place, blog)
  const fillMs = performance.now() - start
  const outcomes: Record<string, number | string> = {}
  for (const workload of WORKLOADS) {
    if (only.length > 0 && !only.includes(workload.name)) continue
    outcomes[workload.name] = await outcomeOf(contender, workload, size, blog, look)
  }
  await contender.close()
  return { agent: navigator.userAgent, fillMs, outcomes }
}

async function outcomeOf(
  contender: Contender,
  workload: Workload,
  size: BlogSize,
  blog: Blog,
  look: Lookup,
): Promise<number | string> {
  const random = seededRandom(size.seed, workload.name.length)
  const questions = Array.from({ length: QUESTIONS }, () => workload.ask(blog, random))
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
