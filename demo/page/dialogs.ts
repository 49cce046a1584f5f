/** The dialog that edits a city, the one that asks for confirmation, and the short message at the bottom. */
import type { City } from '../shared/city.ts'
import { byId, create } from '../../tools/web/dom.ts'
import { countryOptions } from './filters.ts'

export interface CityFields {
  readonly name: string
  readonly country: string
  readonly population: number
}

/** What the visitor decided; undefined for nothing. */
export type Edit = { readonly kind: 'save'; readonly fields: CityFields } | { readonly kind: 'delete' }

const TOAST_SHOWN_MS = 4_000

/** Asks for the fields of a city, of a new one when `city` is undefined. */
export function editCity(city: City | undefined, countries: readonly string[]): Promise<Edit | undefined> {
  const dialog = byId<HTMLDialogElement>('editor')
  const name = byId<HTMLInputElement>('edit-name')
  const country = byId<HTMLSelectElement>('edit-country')
  const population = byId<HTMLInputElement>('edit-population')
  const remove = byId<HTMLButtonElement>('edit-delete')
  byId('editor-title').textContent = city === undefined ? 'Add a city' : `Edit ${city.name}`
  const codes = city === undefined || countries.includes(city.country) ? countries : [...countries, city.country]
  country.replaceChildren(create('option', { value: '' }, 'Choose…'), ...countryOptions(codes))
  name.value = city?.name ?? ''
  country.value = city?.country ?? ''
  population.value = city === undefined ? '' : String(city.population)
  remove.hidden = city === undefined
  return new Promise((resolve) => {
    let edit: Edit | undefined
    remove.onclick = () => {
      edit = { kind: 'delete' }
      dialog.close()
    }
    byId('edit-cancel').onclick = () => dialog.close()
    dialog.onsubmit = () => {
      edit = {
        kind: 'save',
        fields: { name: name.value.trim(), country: country.value, population: population.valueAsNumber },
      }
    }
    dialog.onclose = () => resolve(edit)
    dialog.showModal()
    if (city !== undefined) population.focus()
  })
}

/** Asks before something that can't be undone. */
export function confirmed(title: string, text: string, action: string): Promise<boolean> {
  const dialog = byId<HTMLDialogElement>('question')
  byId('question-title').textContent = title
  byId('question-text').textContent = text
  byId('question-yes').textContent = action
  return new Promise((resolve) => {
    dialog.returnValue = 'no'
    dialog.onclose = () => resolve(dialog.returnValue === 'yes')
    dialog.showModal()
  })
}

let toastTimer: ReturnType<typeof setTimeout> | undefined

export function toast(text: string): void {
  const element = byId('toast')
  element.textContent = text
  element.hidden = false
  clearTimeout(toastTimer)
  toastTimer = setTimeout(() => {
    element.hidden = true
  }, TOAST_SHOWN_MS)
}
