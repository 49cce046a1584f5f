/** The lab page: results that came with it and those of this browser, charts of one, a comparison of two, and runs. */
import type { ResultFile } from '../../harness/results.ts'
import { clockStepMs, recordDevice } from '../model/device.ts'
import { SEED } from '../model/plans.ts'
import { checkResultFile, readResultFile } from '../model/result-file.ts'
import { runPlan } from '../model/run-plan.ts'
import type { Plan } from '../model/run-plan.ts'
import { ResultStore } from '../model/store.ts'
import type { KeptResult } from '../model/store.ts'
import { ChartPanel } from './chart-panel.ts'
import { ComparePanel } from './compare-panel.ts'
import { byId, setText } from '../../../tools/web/dom.ts'
import { setOptions } from './dom.ts'
import { deviceOf, engineOf, formatDuration } from './format.ts'
import { removeMeasured, runInFrame } from './frames.ts'
import { factsOf, nameOf, showResults } from './result-list.ts'
import { RunPanel, say } from './run-panel.ts'

const shown = byId<HTMLSelectElement>('shown')
const charts = new ChartPanel()
const comparison = new ComparePanel()
const panel = new RunPanel({ onStart: (plan) => void start(plan), onCancel: () => running?.abort() })
let results: readonly KeptResult[] = []
let running: AbortController | undefined

showDevice()
const store = await ResultStore.open()
if (store.problem !== undefined) {
  setText(
    byId('kept-note'),
    `This browser lets the page store nothing (${store.problem}): results are gone when it is closed.`,
  )
}
setResults([...(await store.list()), ...(await fetchStored())])
shown.addEventListener('input', () => showOne(shown.value))
byId('quick').addEventListener('click', () => byId('start').click())
byId('import').addEventListener('click', () => byId('import-file').click())
byId<HTMLInputElement>('import-file').addEventListener(
  'change',
  (event) => void importFrom(event.target as HTMLInputElement),
)
document.documentElement.dataset['ready'] = 'yes'

async function start(plan: Plan): Promise<void> {
  if (running !== undefined) return
  running = new AbortController()
  const id = crypto.randomUUID()
  let wasHidden = document.hidden
  const onHidden = (): void => void (wasHidden ||= document.hidden)
  document.addEventListener('visibilitychange', onHidden)
  panel.begin()
  let message = ''
  try {
    const file = await runPlan(plan, running.signal, {
      runPhase: runInFrame,
      cleanUp: removeMeasured,
      onProgress: (progress) => panel.show(progress),
      onResult: (part) => showPart({ id, origin: 'here', file: part, running: true }),
    })
    if (file !== undefined) await keep({ id, origin: 'here', file })
    message = endOf(file)
  } catch (error) {
    setResults(results.filter((result) => result.running === undefined))
    message = `The run failed: ${error instanceof Error ? error.message : String(error)}`
  } finally {
    running = undefined
    document.removeEventListener('visibilitychange', onHidden)
    panel.end(wasHidden ? `${message} The tab was hidden meanwhile: browsers slow such pages down.` : message)
  }
}

function endOf(file: ResultFile | undefined): string {
  if (file === undefined) return 'The run was cancelled before anything was measured.'
  const failures = new Set(
    file.runs.flatMap(({ contender, failures: found, wrong }) =>
      Object.keys(found).length + wrong.length > 0 ? [contender] : [],
    ),
  )
  const runs = `${file.runs.length} ${file.runs.length === 1 ? 'run' : 'runs'}`
  const trouble = failures.size === 0 ? '' : ` Not everything worked (${[...failures].join(', ')}): the bars say why.`
  return `${file.complete ? `Done: ${runs} in ${formatDuration((Date.parse(file.finishedAt) - Date.parse(file.startedAt)) / 1000)}.` : 'The run was cancelled; what was measured is kept.'}${trouble}`
}

/** Draws the results of a run so far, without keeping them. */
function showPart(result: KeptResult): void {
  setResults([result, ...results.filter(({ id }) => id !== result.id)])
  showOne(result.id)
}

async function keep(result: KeptResult): Promise<void> {
  showPart(result)
  await store.put(result)
}

function setResults(found: readonly KeptResult[]): void {
  results = found
  setOptions(
    shown,
    results.map((result) => [result.id, nameOf(result)]),
  )
  shown.hidden = results.length === 0
  const finished = results.filter((result) => result.running === undefined)
  showResults(finished, { onShow, onDelete: (id) => void remove(id) })
  comparison.show(finished)
  showOne(shown.value)
}

function showOne(id: string): void {
  const result = results.find((one) => one.id === id)
  if (result !== undefined) shown.value = id
  setText(byId('shown-facts'), result === undefined ? '' : factsOf(result))
  charts.show(result?.file)
}

function onShow(id: string): void {
  showOne(id)
  byId('results').focus()
  byId('results').scrollIntoView()
}

async function remove(id: string): Promise<void> {
  await store.delete(id)
  setResults(results.filter((result) => result.id !== id))
  say('The result is deleted.')
  byId('import').focus()
}

async function importFrom(input: HTMLInputElement): Promise<void> {
  const [chosen] = input.files ?? []
  input.value = ''
  if (chosen === undefined) return
  try {
    const file = readResultFile(await chosen.text())
    await keep({ id: crypto.randomUUID(), origin: 'imported', file })
    say(`${chosen.name} is imported.`)
  } catch (error) {
    say(`${chosen.name} can’t be imported: ${(error as Error).message}.`)
  }
}

/** Results of bench/results/current/ from the time when the page was built. */
async function fetchStored(): Promise<KeptResult[]> {
  try {
    const files = (await (await fetch('stored.json')).json()) as unknown[]
    return files.map((value) => {
      const file = checkResultFile(value)
      return {
        id: `stored ${file.place} ${file.startedAt} ${[...file.environment.features, file.name].join(' ')}`,
        origin: 'stored',
        file,
      }
    })
  } catch {
    say('The results that come with the page could not be loaded.')
    return []
  }
}

function showDevice(): void {
  const environment = recordDevice(SEED)
  const file = { place: environment.place, environment } as ResultFile
  const step = clockStepMs()
  const clock = step < 0.05 ? `clock of ${Math.ceil(step * 1000)} µs` : `coarse clock of ${step.toFixed(1)} ms`
  setText(byId('device'), [engineOf(file), deviceOf(file), clock].join(' · '))
}
