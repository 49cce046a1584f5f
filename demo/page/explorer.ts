/** The table with its filters and panels, on an open copy. Attached when a copy opens, detached when it goes. */
import { isPannierError } from 'pannier'
import type { AttachmentStub, Collection, Database, Stored } from 'pannier'
import type { AttachmentInput } from 'pannier/types'
import { COLLECTION, foldName, INDEXES, PHOTO } from '../shared/city.ts'
import type { City } from '../shared/city.ts'
import { formatCount, formatDuration } from '../shared/format.ts'
import { COPY_TITLE } from './copy.ts'
import type { OpenCopy } from './copy.ts'
import { Editor, toast } from './dialogs.ts'
import type { CityFields, Edit } from './dialogs.ts'
import { byId, setText } from '../../tools/web/dom.ts'
import { Filters } from './filters.ts'
import { Grid } from './grid.ts'
import { describe } from './messages.ts'
import { measure, showFacts, showPlan } from './panels.ts'
import { Result } from './result.ts'
import type { Measured } from './result.ts'
import { isFiltered } from './view.ts'
import type { Order } from './view.ts'

export class Explorer {
  readonly #grid: Grid
  readonly #filters: Filters
  readonly #editor: Editor = new Editor()
  readonly #onError: (error: unknown) => void
  #cities: Collection<City> | undefined
  #order: Order = { column: 'population', descending: true }
  #countries: Promise<readonly string[]> = Promise.resolve([])
  #result: Result | undefined
  #counted: Measured<number> | undefined
  #stopListening: () => void = () => undefined
  /** Asked for while another refresh is under way; any number of them are one. */
  #pending: { readonly keepPosition: boolean } | undefined
  #refreshing = false

  /** `onError` gets every error that the explorer can't handle itself. */
  constructor(onError: (error: unknown) => void) {
    this.#onError = onError
    this.#filters = new Filters(() => this.#refresh(false))
    this.#grid = new Grid(byId('grid'), {
      onSort: (order) => {
        this.#order = order
        this.#refresh(false)
      },
      onEdit: (city) => this.#edit(city),
      onRead: () => {
        this.#showTimes()
        this.#showPlan()
      },
      onError,
    })
    byId('add').addEventListener('click', () => this.#edit(undefined))
    byId('measure').addEventListener('click', () => this.#measure())
    byId('plan').addEventListener('toggle', () => this.#showPlan())
  }

  /** Shows the copy; resolves when its first rows are to be seen. */
  async attach(copy: OpenCopy): Promise<void> {
    const cities = copy.db.collection<City>(COLLECTION, { indexes: INDEXES })
    this.#cities = cities
    this.#stopListening = listen(copy.db, (ids) => {
      this.#grid.mark(new Set(ids))
      this.#refresh(true)
    })
    await this.#show(false)
    void showFacts(copy)
    this.#countries = distinctCountries(cities)
    this.#filters.setCountries(await this.#countries)
    this.#measure()
  }

  detach(): void {
    this.#stopListening()
    this.#cities = undefined
    this.#result?.abandon()
    this.#result = undefined
  }

  #refresh(keepPosition: boolean): void {
    this.#pending = { keepPosition: keepPosition && this.#pending?.keepPosition !== false }
    if (!this.#refreshing) this.#showPending().catch(this.#onError)
  }

  async #showPending(): Promise<void> {
    this.#refreshing = true
    try {
      for (let next = this.#pending; next !== undefined; next = this.#pending) {
        this.#pending = undefined
        await this.#show(next.keepPosition)
      }
    } finally {
      this.#refreshing = false
    }
  }

  async #show(keepPosition: boolean): Promise<void> {
    const cities = this.#cities
    if (cities === undefined) return
    const filter = this.#filters.read()
    const order = this.#order
    const result = new Result(cities, { filter, order })
    const counted = await result.count()
    const all = isFiltered(filter) ? await cities.find().count() : counted.value
    const { first, count } = this.#grid.range(keepPosition)
    await result.load(first, Math.min(count, counted.value - first))
    if (cities !== this.#cities) return
    this.#result?.abandon()
    this.#result = result
    this.#counted = counted
    setText(byId('count'), `${formatCount(counted.value)} ${counted.value === 1 ? 'city' : 'cities'}`)
    const isSearch = result.words !== undefined
    setText(byId('count-of'), isFiltered(filter) ? `of ${formatCount(all)}${isSearch ? ', best first' : ''}` : '')
    byId('filter-reset').hidden = !isFiltered(filter)
    this.#grid.show(result, counted.value, isSearch ? undefined : order, keepPosition)
    this.#showTimes()
    this.#showPlan()
  }

  #showTimes(): void {
    const read = this.#result?.lastRead
    if (this.#counted === undefined) return
    const rows =
      read && read.last >= read.first
        ? `, rows ${formatCount(read.first + 1)}–${formatCount(read.last + 1)} in ${formatDuration(read.durationMs)}`
        : ''
    setText(byId('times'), `counted in ${formatDuration(this.#counted.durationMs)}${rows}`)
  }

  #showPlan(): void {
    if (this.#result === undefined || !byId<HTMLDetailsElement>('plan').open) return
    showPlan(this.#result).catch(this.#onError)
  }

  #measure(): void {
    const cities = this.#cities
    if (cities === undefined) return
    cities
      .find()
      .count()
      .then((documents) => measure(cities, documents))
      .catch(this.#onError)
  }

  #edit(city: Stored<City> | undefined): void {
    this.#askAndWrite(city).catch(this.#onError)
  }

  async #askAndWrite(city: Stored<City> | undefined): Promise<void> {
    const photo = city?._attachments?.[PHOTO] && this.#cities?.getAttachment(city._id, PHOTO)
    const edit = await this.#editor.ask(city, { countries: await this.#countries, photo: Promise.resolve(photo) })
    const cities = this.#cities
    if (edit === undefined || cities === undefined) return
    try {
      toast(await write(cities, city, edit))
    } catch (error) {
      if (isPannierError(error, 'PANNIER_CLOSED')) throw error
      const { title, detail } = describe(error)
      toast(`${title} (${detail})`)
    }
  }
}

/** Makes the change and says so. */
async function write(cities: Collection<City>, city: City | undefined, edit: Edit): Promise<string> {
  const photo = edit.kind === 'save' && edit.photo instanceof File ? { [PHOTO]: await attached(edit.photo) } : {}
  const started = performance.now()
  let done: string
  if (edit.kind === 'delete') {
    await cities.delete(city?._id ?? '')
    done = `${city?.name} deleted`
  } else if (city === undefined) {
    await cities.insert({ ...newCity(edit.fields), _attachments: photo })
    done = `${edit.fields.name} added`
  } else {
    await cities.update(city._id, (current) => {
      const attachments: Record<string, AttachmentInput | AttachmentStub> = { ...current._attachments, ...photo }
      if (edit.photo === 'remove') delete attachments[PHOTO]
      return { ...current, ...edited(edit.fields), _attachments: attachments }
    })
    done = `${edit.fields.name} saved`
  }
  return `${done} in ${formatDuration(performance.now() - started)}`
}

function newCity(fields: CityFields): City {
  return {
    _id: crypto.randomUUID(),
    ...edited(fields),
    lat: 0,
    lon: 0,
    featureCode: 'PPL',
    adminCode: '',
  }
}

function edited(
  fields: CityFields,
): CityFields & Pick<City, 'foldedName'> & Required<Pick<City, 'editedIn' | 'editedAt'>> {
  const editedAt = new Date().toISOString()
  return { ...fields, foldedName: foldName(fields.name), editedIn: COPY_TITLE, editedAt }
}

/** A file as an attachment of a document that is about to be written. */
async function attached(file: File): Promise<AttachmentInput> {
  return { data: await file.arrayBuffer(), contentType: file.type }
}

/** Every country that occurs, by hopping from one to the next in the index: as many reads as there are countries. */
async function distinctCountries(cities: Collection<City>): Promise<string[]> {
  const codes: string[] = []
  for (;;) {
    const next = await cities
      .find({ country: { $gt: codes.at(-1) ?? '' } })
      .sort('country')
      .first()
    if (next === undefined) return codes
    codes.push(next.country)
  }
}

/** Calls back with the ids of changed cities after each commit, of this tab or another. */
function listen(db: Database, onChange: (ids: readonly string[]) => void): () => void {
  return db.subscribe(({ collections }) => {
    const change = collections.get(COLLECTION)
    if (change !== undefined) onChange(change.ids ?? [])
  })
}
