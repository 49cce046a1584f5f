/** The photo of a city in the edit dialog: an attachment of its document, so it is available offline. */
import type { Attachment } from 'pannier'
import { byId, setText } from '../../tools/web/dom.ts'

/** The change of the photo; undefined: no change. */
export type PhotoEdit = File | 'remove' | undefined

const BYTES_MAX = 10_000_000

export class PhotoField {
  readonly #input: HTMLInputElement = byId<HTMLInputElement>('edit-photo')
  readonly #picture: HTMLImageElement = byId<HTMLImageElement>('edit-picture')
  readonly #remove: HTMLButtonElement = byId<HTMLButtonElement>('edit-photo-remove')
  #edit: PhotoEdit
  /** URL of the shown picture. */
  #url = ''
  #opened = 0

  constructor() {
    this.#input.addEventListener('change', () => this.#choose(this.#input.files?.[0]))
    this.#remove.addEventListener('click', () => {
      this.#edit = 'remove'
      this.#input.value = ''
      this.#tell('')
      this.#show(undefined)
      this.#input.focus()
    })
    this.#picture.addEventListener('error', () => {
      this.#picture.hidden = true
      this.#tell('This browser can’t show that file.')
    })
  }

  /** Begins with what is stored, once it is read. */
  open(stored: Promise<Attachment | undefined>, title: string): void {
    const opened = ++this.#opened
    this.#edit = undefined
    this.#input.value = ''
    this.#picture.alt = `Photo of ${title}`
    this.#tell('')
    this.#show(undefined)
    stored
      .then((attachment) => attachment?.blob())
      .then((blob) => this.#opened === opened && this.#edit === undefined && this.#show(blob))
      .catch((error: unknown) => this.#tell(`The photo can’t be read: ${String(error)}`))
  }

  /** Closes the editor of the photo. Gives the visitor's decision. */
  close(): PhotoEdit {
    this.#opened++
    this.#show(undefined)
    return this.#edit
  }

  #choose(file: File | undefined): void {
    if (file === undefined) return
    const wrong = wrongWith(file)
    this.#tell(wrong)
    if (wrong !== '') {
      this.#input.value = ''
      return
    }
    this.#edit = file
    this.#show(file)
  }

  #tell(wrong: string): void {
    const words = byId('edit-picture-wrong')
    words.hidden = wrong === ''
    setText(words, wrong)
  }

  #show(content: Blob | undefined): void {
    URL.revokeObjectURL(this.#url)
    this.#url = content === undefined ? '' : URL.createObjectURL(content)
    if (content === undefined) this.#picture.removeAttribute('src')
    else this.#picture.src = this.#url
    this.#picture.hidden = content === undefined
    this.#remove.hidden = content === undefined
  }
}

/** The reason why a file is wrong; empty if it is right. */
function wrongWith({ name, type, size }: File): string {
  if (!type.startsWith('image/')) return `${name} is no picture: choose a photo.`
  return size > BYTES_MAX ? `${name} is too large: choose a photo of at most 10 MB.` : ''
}
