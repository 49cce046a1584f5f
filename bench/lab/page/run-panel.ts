/** The form to choose a run, and its progress. */
import type { Parameter } from '../model/chart-data.ts'
import { PARAMETER_TITLES } from '../model/chart-data.ts'
import { thisPlace } from '../model/device.ts'
import { axesOf, cellsOf, contendersIn, SEED, workloadsIn } from '../model/plans.ts'
import type { Plan, Progress } from '../model/run-plan.ts'
import { SUITES } from '../../suites/suites.ts'
import { byId, create, setText } from '../../../tools/web/dom.ts'
import { checkedValues, chip } from './dom.ts'
import { formatDuration } from './format.ts'

const RUNS_MANY = 200
const PERCENT_SAID = 25

export class RunPanel {
  readonly #form = byId<HTMLFormElement>('plan')
  readonly #suite = byId<HTMLSelectElement>('suite')
  readonly #repeats = byId<HTMLInputElement>('repeats')
  #startedAt = 0
  #said = 0

  constructor({ onStart, onCancel }: { readonly onStart: (plan: Plan) => void; readonly onCancel: () => void }) {
    this.#suite.replaceChildren(...SUITES.map(({ name, title }) => create('option', { value: name }, title)))
    byId('contenders').replaceChildren(
      ...contendersIn(thisPlace()).map(({ name, title, core }) =>
        chip('checkbox', { name: 'contender', value: name, text: title, checked: core }),
      ),
    )
    this.#suite.addEventListener('input', () => this.#showSuite())
    this.#form.addEventListener('input', () => this.#showSize())
    this.#form.addEventListener('submit', (event) => {
      event.preventDefault()
      const plan = this.#read()
      const problem = problemOf(plan)
      setText(byId('plan-problem'), problem ?? '')
      if (problem === undefined) onStart(plan)
    })
    byId('cancel').addEventListener('click', onCancel)
    for (const [id, checked] of [
      ['workloads-all', true],
      ['workloads-none', false],
    ] as const) {
      byId(id).addEventListener('click', () => {
        for (const input of byId('workloads').querySelectorAll('input')) input.checked = checked
        this.#showSize()
      })
    }
    this.#showSuite()
  }

  begin(): void {
    this.#startedAt = performance.now()
    this.#said = 0
    this.#form.hidden = true
    byId('progress').hidden = false
    say('The run has started.')
    byId('cancel').focus()
  }

  show({ done, contender, cell, repeat, workload }: Progress): void {
    byId<HTMLProgressElement>('progress-bar').value = done
    const percent = Math.floor(done * 100)
    setText(byId('progress-percent'), `${percent}%`)
    setText(byId('progress-contender'), contender)
    setText(byId('progress-step'), [workload || 'preparing', cell, `repeat ${repeat}`].join(' · '))
    const seconds = (performance.now() - this.#startedAt) / 1000
    if (done > 0.05) setText(byId('progress-left'), `about ${formatDuration((seconds / done) * (1 - done))} left`)
    // Announced now and then, not with every step: a screen reader may read it aloud.
    if (percent < this.#said + PERCENT_SAID) return
    this.#said = percent - (percent % PERCENT_SAID)
    say(`${this.#said}% done.`)
  }

  end(message: string): void {
    this.#form.hidden = false
    byId('progress').hidden = true
    setText(byId('progress-left'), '')
    say(message)
    byId('start').focus()
  }

  #showSuite(): void {
    const suite = this.#suite.value
    byId('axes').replaceChildren(
      ...axesOf(suite).map(({ parameter, values, chosen }) => {
        const chips = values.map((value) =>
          chip('checkbox', {
            name: parameter,
            value: String(value),
            text: value.toLocaleString('en-US'),
            checked: chosen.includes(value),
          }),
        )
        const title =
          parameter === 'documents' && suite !== 'indexed-db-perf' ? 'documents' : PARAMETER_TITLES[parameter]
        const legend = create('legend', {}, title[0]!.toUpperCase() + title.slice(1))
        return create(
          'fieldset',
          { class: 'field', id: `axis-${parameter}` },
          legend,
          create('div', { class: 'chips' }, ...chips),
        )
      }),
    )
    byId('workloads').replaceChildren(
      ...workloadsIn(suite).map(({ name, title }) =>
        chip('checkbox', { name: 'workload', value: name, text: title, checked: true }),
      ),
    )
    this.#showSize()
  }

  #showSize(): void {
    const { cells, contenders, workloads, repeats } = this.#read()
    const all = workloadsIn(this.#suite.value).length
    setText(byId('workload-count'), workloads.length === all ? `all ${all}` : `${workloads.length} of ${all}`)
    const runs = cells.length * contenders.length * repeats
    const many = runs > RUNS_MANY || cells.some((cell) => cell.documents >= 100_000)
    setText(
      byId('plan-size'),
      `${runs.toLocaleString('en-US')} ${runs === 1 ? 'run' : 'runs'}${many ? ': this takes a while' : ''}`,
    )
  }

  #read(): Plan {
    const suite = this.#suite.value
    const chosen = Object.fromEntries(
      axesOf(suite).map(({ parameter }) => [parameter, checkedValues(byId(`axis-${parameter}`)).map(Number)]),
    ) as Partial<Record<Parameter, readonly number[]>>
    return {
      suite,
      cells: cellsOf(suite, chosen),
      contenders: checkedValues(byId('contenders')),
      workloads: checkedValues(byId('workloads')),
      repeats: Math.trunc(this.#repeats.valueAsNumber) || 0,
      seed: SEED,
    }
  }
}

/** Shows the message, and announces it to screen readers. */
export function say(message: string): void {
  setText(byId('said'), message)
}

function problemOf({ cells, contenders, workloads, repeats }: Plan): string | undefined {
  if (contenders.length === 0) return 'Choose at least one contender.'
  if (cells.length === 0) return 'Choose at least one of each size.'
  if (workloads.length === 0) return 'Choose at least one workload.'
  if (repeats < 1 || repeats > 50) return 'Repeats go from 1 to 50.'
  return undefined
}
