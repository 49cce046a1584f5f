/** Asks the questions and prints answers and times. */
import { styleText } from 'node:util'
import { log } from '@clack/prompts'
import type { Collection } from 'pannier'
import type { City } from '../shared/city.ts'
import { formatDuration } from '../shared/format.ts'
import { questions, REPEATS, time } from '../shared/queries.ts'
import { layOut } from './table.ts'
import type { Column } from './table.ts'

const COLUMNS: readonly Column[] = [
  { title: 'Question', align: 'left' },
  { title: 'Answer', align: 'left', shrinks: true },
  { title: 'First', align: 'right' },
  { title: 'Again', align: 'right' },
]
const WIDTH_MAX = 110
/** The width of the text that the logger puts before each line. */
const MARGIN = 4

export async function printAnswers(cities: Collection<City>, documents: number): Promise<void> {
  const rows: string[][] = []
  for (const question of questions(cities, documents)) {
    const { answer, firstMs, againMs } = await time(question)
    rows.push([question.title, answer, formatDuration(firstMs), formatDuration(againMs)])
  }
  const legend = styleText('dim', `First: with whatever had to be read. Again: the median of ${REPEATS} more.`)
  const table = layOut(COLUMNS, rows, Math.min(process.stdout.columns ?? WIDTH_MAX, WIDTH_MAX) - MARGIN)
  log.message(`${table}\n\n${legend}`)
}
