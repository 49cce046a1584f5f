/** The dialog that edits a city, the one that asks for confirmation, and the short message at the bottom. */
import type { Attachment } from 'pannier'
import type { City } from '../shared/city.ts'
import { byId, create } from '../../tools/web/dom.ts'
import { countryOptions } from './filters.ts'
import { PhotoField } from './photo.ts'
import type { PhotoEdit } from './photo.ts'

export interface CityFields {
  readonly name: string
  readonly country: string
  readonly population: number
  readonly note: string
}

/** The visitor's decision; undefined if the dialog was dismissed. */
export type Edit =
  | { readonly kind: 'save'; readonly fields: CityFields; readonly photo: PhotoEdit }
  | { readonly kind: 'delete' }

export interface EditorContent {
  /** The countries that can be chosen. */
  readonly countries: readonly string[]
  /** The stored photo, if any. */
  readonly photo: Promise<Attachment | undefined>
}

const TOAST_SHOWN_MS = 4_000

export class Editor {
  readonly #dialog: HTMLDialogElement = byId<HTMLDialogElement>('editor')
  readonly #name: HTMLInputElement = byId<HTMLInputElement>('edit-name')
  readonly #country: HTMLSelectElement = byId<HTMLSelectElement>('edit-country')
  readonly #population: HTMLInputElement = byId<HTMLInputElement>('edit-population')
  readonly #note: HTMLTextAreaElement = byId<HTMLTextAreaElement>('edit-note')
  readonly #photo: PhotoField = new PhotoField()

  /** Asks for the fields of a city, of a new one when `city` is undefined. */
  ask(city: City | undefined, { countries, photo }: EditorContent): Promise<Edit | undefined> {
    const remove = byId<HTMLButtonElement>('edit-delete')
    byId('editor-title').textContent = city === undefined ? 'Add a city' : `Edit ${city.name}`
    const codes = city === undefined || countries.includes(city.country) ? countries : [...countries, city.country]
    this.#country.replaceChildren(create('option', { value: '' }, 'Choose…'), ...countryOptions(codes))
    this.#name.value = city?.name ?? ''
    this.#country.value = city?.country ?? ''
    this.#population.value = city === undefined ? '' : String(city.population)
    this.#note.value = city?.note ?? ''
    this.#photo.open(photo, city?.name ?? 'the new city')
    remove.hidden = city === undefined
    return new Promise((resolve) => {
      let decision: 'nothing' | Edit['kind'] = 'nothing'
      remove.onclick = () => {
        decision = 'delete'
        this.#dialog.close()
      }
      byId('edit-cancel').onclick = () => this.#dialog.close()
      this.#dialog.onsubmit = () => {
        decision = 'save'
      }
      this.#dialog.onclose = () => {
        const edited = this.#photo.close()
        if (decision === 'save') resolve({ kind: 'save', fields: this.#fields(), photo: edited })
        else resolve(decision === 'delete' ? { kind: 'delete' } : undefined)
      }
      this.#dialog.showModal()
      if (city !== undefined) this.#population.focus()
    })
  }

  #fields(): CityFields {
    return {
      name: this.#name.value.trim(),
      country: this.#country.value,
      population: this.#population.valueAsNumber,
      note: this.#note.value.trim(),
    }
  }
}

/** Asks to confirm an action that can't be undone. */
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
