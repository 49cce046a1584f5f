/** The list of results that this browser keeps or that came with the page: to show, export and delete. */
import { fileNameOf } from '../model/result-file.ts'
import type { KeptResult } from '../model/store.ts'
import { byId, create } from '../../../tools/web/dom.ts'
import { deviceOf, engineOf, formatDate } from './format.ts'

const ORIGINS: Readonly<Record<KeptResult['origin'], string>> = {
  stored: 'came with this page',
  here: 'measured here',
  imported: 'imported',
}

/** To tell results apart in a list. */
export function nameOf(result: KeptResult): string {
  const { file, origin } = result
  const state = stateOf(result)
  const note = origin === 'here' ? '' : `, ${ORIGINS[origin]}`
  return `${engineOf(file)}, ${formatDate(file.startedAt)}, ${sizesOf(file)}${note}${state === undefined ? '' : `, ${state}`}`
}

function stateOf({ file, running }: KeptResult): string | undefined {
  if (running === true) return 'running'
  return file.complete ? undefined : 'stopped before its end'
}

function sizesOf({ runs }: KeptResult['file']): string {
  const suites = [...new Set(runs.map((run) => run.suite))]
  const counts = runs.map((run) => run.cell.documents)
  const [least, most] = [Math.min(...counts), Math.max(...counts)].map((count) => count.toLocaleString('en-US'))
  const named = suites.filter((suite) => suite !== 'standard')
  return [...named, least === most ? `${most} documents` : `${least}–${most} documents`].join(', ')
}

export function factsOf(result: KeptResult): string {
  const { file } = result
  const state = stateOf(result)
  const { rows, runs, environment } = file
  const figures = rows.filter((row) => row.median !== undefined).length
  const repeats = Math.max(...runs.map((run) => run.repeat), 0)
  const parts = [
    deviceOf(file),
    `${figures} figures, ${repeats} ${repeats === 1 ? 'repeat' : 'repeats'}`,
    environment.reopened === true ? 'measured in the lab page' : 'measured by npm run bench',
    ...(state === undefined ? [] : [state]),
  ]
  return parts.join(' · ')
}

export function showResults(
  results: readonly KeptResult[],
  actions: { readonly onShow: (id: string) => void; readonly onDelete: (id: string) => void },
): void {
  byId('kept').replaceChildren(
    ...results.map((result) => {
      const name = nameOf(result)
      const show = button('Show', name, () => actions.onShow(result.id))
      const save = button('Export', name, () => download(result))
      const remove = button('Delete', name, () => actions.onDelete(result.id))
      remove.classList.add('danger')
      const buttons = result.origin === 'stored' ? [show, save] : [show, save, remove]
      const text = create('div', {}, create('strong', {}, name), create('small', {}, factsOf(result)))
      return create('li', {}, text, create('p', { class: 'actions' }, ...buttons))
    }),
  )
}

export function download({ file }: KeptResult): void {
  const url = URL.createObjectURL(new Blob([`${JSON.stringify(file)}\n`], { type: 'application/json' }))
  create('a', { href: url, download: fileNameOf(file) }).click()
  setTimeout(() => URL.revokeObjectURL(url), 60_000)
}

function button(text: string, name: string, onClick: () => void): HTMLButtonElement {
  const made = create('button', { type: 'button', class: 'small', 'aria-label': `${text}: ${name}` }, text)
  made.addEventListener('click', onClick)
  return made
}
