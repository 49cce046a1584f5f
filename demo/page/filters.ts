/** Reads the filter form, and reports when it changes. */
import { countryName } from '../shared/city.ts'
import { byId, create, setText } from '../../tools/web/dom.ts'
import type { Filter } from './view.ts'

const TYPING_PAUSE_MS = 120

export class Filters {
  readonly #form: HTMLFormElement = byId<HTMLFormElement>('filters')
  readonly #name: HTMLInputElement = byId<HTMLInputElement>('filter-name')
  readonly #nameMode: HTMLSelectElement = byId<HTMLSelectElement>('filter-name-mode')
  readonly #country: HTMLSelectElement = byId<HTMLSelectElement>('filter-country')
  readonly #from: HTMLInputElement = byId<HTMLInputElement>('filter-from')
  readonly #to: HTMLInputElement = byId<HTMLInputElement>('filter-to')

  constructor(onChange: () => void) {
    let timer: ReturnType<typeof setTimeout> | undefined
    const soon = (delayMs: number): void => {
      clearTimeout(timer)
      timer = setTimeout(onChange, delayMs)
    }
    this.#form.addEventListener('input', (event) =>
      soon(event.target instanceof HTMLInputElement ? TYPING_PAUSE_MS : 0),
    )
    this.#form.addEventListener('reset', () => soon(0))
    this.#form.addEventListener('submit', (event) => {
      event.preventDefault()
      soon(0)
    })
  }

  read(): Filter {
    return {
      name: this.#name.value,
      nameMode: this.#nameMode.value as Filter['nameMode'],
      country: this.#country.value,
      populationMin: readPopulation(this.#from),
      populationMax: readPopulation(this.#to),
    }
  }

  /** Offers these countries (codes), by name. */
  setCountries(codes: readonly string[]): void {
    const chosen = this.#country.value
    const options = countryOptions(codes)
    this.#country.replaceChildren(create('option', { value: '' }, 'All countries'), ...options)
    this.#country.value = chosen
  }
}

export function countryOptions(codes: readonly string[]): HTMLOptionElement[] {
  return codes
    .map((code) => ({ code, name: countryName(code) }))
    .sort((a, b) => a.name.localeCompare(b.name, 'en'))
    .map(({ code, name }) => create('option', { value: code }, name))
}

/** '50000', '50,000', '50k' and '1.5m' all will do; undefined when empty, or marked as invalid. */
function readPopulation(input: HTMLInputElement): number | undefined {
  const text = input.value.replace(/[\s,_']/g, '').toLowerCase()
  const match = /^(\d+(?:\.\d+)?)([km]?)$/.exec(text)
  const isWrong = text !== '' && match === null
  input.setAttribute('aria-invalid', String(isWrong))
  const words = byId(`${input.id}-wrong`)
  words.hidden = !isWrong
  setText(words, isWrong ? `${input.getAttribute('aria-label')}: a number, as 50,000, 50k or 1.5m` : '')
  if (match === null) return undefined
  return Math.round(Number(match[1]) * (match[2] === 'm' ? 1e6 : match[2] === 'k' ? 1e3 : 1))
}
