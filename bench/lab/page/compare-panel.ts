/** A panel that compares two results. */
import { compareResults, differencesOf, summarize } from '../model/compare.ts'
import type { Comparison, Verdict } from '../model/compare.ts'
import type { KeptResult } from '../model/store.ts'
import { titleOf } from '../model/chart-data.ts'
import { byId, create, setText } from '../../../tools/web/dom.ts'
import { setOptions, table } from './dom.ts'
import { formatRatio, formatValue } from './format.ts'
import { nameOf } from './result-list.ts'

const base = byId<HTMLSelectElement>('base')
const other = byId<HTMLSelectElement>('other')
const changes = byId<HTMLSelectElement>('changes')

const VERDICTS: Readonly<Record<Verdict, string>> = {
  faster: '▼ less',
  slower: '▲ more',
  same: 'within the spread',
  unclear: 'one sample: unclear',
}

export class ComparePanel {
  #results: readonly KeptResult[] = []
  #isChosen = false

  constructor() {
    for (const select of [base, other, changes]) {
      select.addEventListener('input', () => {
        this.#isChosen ||= select !== changes
        this.#draw()
      })
    }
  }

  /** The newest is compared with the one before it that measured the same, until somebody chooses others. */
  show(results: readonly KeptResult[]): void {
    this.#results = results
    const options = results.map((result) => [result.id, nameOf(result)] as const)
    setOptions(base, options)
    setOptions(other, options)
    const [newest, ...others] = results
    if (!this.#isChosen && newest !== undefined) {
      const isAlike = ({ file }: KeptResult): boolean =>
        file.place === newest.file.place && compareResults(file, newest.file).length > 0
      const earlier = others.find(isAlike) ?? newest
      base.value = earlier.id
      other.value = newest.id
    }
    this.#draw()
  }

  #draw(): void {
    const [left, right] = [base, other].map((select) => this.#results.find(({ id }) => id === select.value))
    const body = byId('compare-table')
    byId('compare-differences').replaceChildren()
    body.replaceChildren()
    body.hidden = true
    if (left === undefined || right === undefined || this.#results.length < 2) {
      return setText(byId('compare-summary'), 'Two results are needed: run the same twice, or import a file.')
    }
    if (left === right) return setText(byId('compare-summary'), 'Choose two different results.')
    const comparisons = compareResults(left.file, right.file)
    if (comparisons.length === 0) return setText(byId('compare-summary'), 'The two have no figure in common.')
    const { counts, meanRatio, unpaired } = summarize(comparisons, left.file, right.file)
    const facts = [
      `${counts.faster} take less, ${counts.slower} take more, ${counts.same} within the spread`,
      counts.unclear > 0 ? `${counts.unclear} with one sample only` : undefined,
      `on average ${formatRatio(meanRatio)}`,
      unpaired > 0 ? `${unpaired} figures are in one of them only` : undefined,
    ]
    setText(byId('compare-summary'), `${facts.filter((fact) => fact !== undefined).join('; ')}.`)
    const differences = differencesOf(left.file.environment, right.file.environment)
    byId('compare-differences').replaceChildren(...differences.map((text) => create('li', {}, text)))
    const shown = comparisons.filter(
      ({ verdict }) => changes.value === 'all' || verdict === 'faster' || verdict === 'slower',
    )
    body.hidden = shown.length === 0
    body.replaceChildren(
      table(
        ['Figure', 'Contender', 'Before', 'After', 'Ratio', 'Difference'],
        shown.map(rowOf),
        'Comparison of two runs',
      ),
    )
  }
}

function rowOf({
  title,
  cell,
  contender,
  base: before,
  other: after,
  unit,
  ratio,
  verdict,
}: Comparison): (Node | string)[] {
  return [
    create('span', {}, title, create('small', {}, cell)),
    titleOf(contender),
    formatValue(before, unit),
    formatValue(after, unit),
    create('span', { class: 'ratio' }, formatRatio(ratio)),
    create('span', { class: `verdict ${verdict}` }, VERDICTS[verdict]),
  ]
}
