/**
 * Cities that were changed in two places at once: all their versions side by side, to choose one. The choice is an edit like
 * any other, so it reaches the server and the other copies, and the conflict is gone there too.
 */
import type { Collection, Database } from 'pannier'
import type { RevisionDocument } from 'pannier/types'
import { COLLECTION, countryName, PHOTO } from '../shared/city.ts'
import type { City } from '../shared/city.ts'
import { formatBytes, formatCount } from '../shared/format.ts'
import { toast } from './dialogs.ts'
import { byId, create, setText } from '../../tools/web/dom.ts'

type Version = RevisionDocument<City>

const FIELDS: readonly (readonly [title: string, text: (city: Version) => string])[] = [
  ['Name', (city) => city.name],
  ['Country', (city) => countryName(city.country)],
  ['Population', (city) => formatCount(city.population)],
  ['Latitude', (city) => String(city.lat)],
  ['Longitude', (city) => String(city.lon)],
  ['Note', ({ note }) => (note === undefined || note === '' ? 'none' : note)],
  ['Photo', ({ _attachments }) => photoText(_attachments?.[PHOTO])],
]
const SHOWN_MAX = 5
const TIME = new Intl.DateTimeFormat('en', { hour: '2-digit', minute: '2-digit', second: '2-digit', hourCycle: 'h23' })

export class Conflicts {
  readonly #onError: (error: unknown) => void
  #cities: Collection<City> | undefined
  #stopListening: () => void = () => undefined
  /** True if a refresh was asked for again while one is under way. */
  #stale = false
  #refreshing = false
  #shown = ''

  constructor(onError: (error: unknown) => void) {
    this.#onError = onError
  }

  attach(db: Database): void {
    this.#cities = db.collection<City>(COLLECTION)
    this.#stopListening = db.subscribe(({ collections }) => {
      if (collections.has(COLLECTION)) this.#refresh()
    })
    this.#refresh()
  }

  detach(): void {
    this.#stopListening()
    this.#cities = undefined
    this.#render(0, [])
  }

  #refresh(): void {
    this.#stale = true
    if (!this.#refreshing) this.#readAndShow().catch(this.#onError)
  }

  async #readAndShow(): Promise<void> {
    this.#refreshing = true
    try {
      while (this.#stale && this.#cities !== undefined) {
        this.#stale = false
        const cities = this.#cities
        const all = await cities.conflicts()
        const shown = await Promise.all(all.slice(0, SHOWN_MAX).map(({ id }) => liveVersions(cities, id)))
        if (cities === this.#cities) this.#render(all.length, shown)
      }
    } finally {
      this.#refreshing = false
    }
  }

  #render(count: number, cities: readonly (readonly Version[])[]): void {
    // An unchanged list stays, and keeps the focus.
    const key = `${count} ${cities
      .flat()
      .map(({ _id, _rev }) => _id + _rev)
      .join()}`
    if (key === this.#shown) return
    this.#shown = key
    const section = byId('conflicts')
    const hadFocus = section.contains(document.activeElement)
    section.hidden = count === 0
    setText(
      byId('conflicts-title'),
      count === 1 ? 'A city was changed in two places' : `${formatCount(count)} cities were changed in two places`,
    )
    byId('conflicts-list').replaceChildren(...cities.map((versions) => this.#comparison(versions)))
    setText(
      byId('conflicts-more'),
      count > SHOWN_MAX ? `… and ${formatCount(count - SHOWN_MAX)} more after these.` : '',
    )
    if (hadFocus) (count === 0 ? byId('grid') : byId('conflicts-title')).focus()
  }

  #comparison(versions: readonly Version[]): HTMLElement {
    const head = create('tr', {}, create('td'))
    const foot = create('tr', {}, create('td'))
    for (const [at, version] of versions.entries()) {
      const origin = originOf(version)
      const place = at === 0 ? 'shown in the table until you choose' : 'the other version'
      head.append(create('th', { scope: 'col' }, origin, create('small', {}, place)))
      const keep = create('button', { type: 'button' }, `Keep ${telling(versions, at)}`)
      keep.setAttribute('aria-label', `${keep.textContent}: ${origin}`)
      keep.addEventListener('click', () => void this.#keep(version).catch(this.#onError))
      foot.append(create('td', {}, keep))
    }
    const rows = FIELDS.map(([title, text]) => {
      const texts = versions.map(text)
      const differs = new Set(texts).size > 1
      const cells = texts.map((each) => create('td', {}, differs ? create('mark', {}, each) : each))
      return create('tr', differs ? { class: 'differs' } : {}, create('th', { scope: 'row' }, title), ...cells)
    })
    const name = versions[0]?.name ?? ''
    return create(
      'table',
      { class: 'comparison' },
      create('caption', {}, name),
      create('thead', {}, head),
      create('tbody', {}, ...rows),
      create('tfoot', {}, foot),
    )
  }

  async #keep({ _id, _rev, name }: Version): Promise<void> {
    let found = false
    await this.#cities?.resolve(_id, (versions) => {
      const chosen = versions.find((version) => version._rev === _rev)
      found = chosen !== undefined
      return chosen
    })
    toast(found ? `${name}: the conflict is resolved` : `${name} was changed meanwhile: look again`)
  }
}

async function liveVersions(cities: Collection<City>, id: string): Promise<Version[]> {
  const results = await cities.getRevisions(id, 'all')
  return results.flatMap((result) => ('ok' in result && result.ok._deleted !== true ? [result.ok] : []))
}

/** The first field in which this version differs from the others. */
function telling(versions: readonly Version[], at: number): string {
  const [, text] = FIELDS.find(([, each]) => new Set(versions.map(each)).size > 1) ?? []
  return text?.(versions[at]!) ?? (at === 0 ? 'this one' : 'that one')
}

/** Digests distinguish two photos of one length. */
function photoText(photo: { readonly length?: number; readonly digest?: string } | undefined): string {
  return photo === undefined ? 'none' : `${formatBytes(photo.length ?? 0)}, ${photo.digest?.slice(4, 10) ?? ''}`
}

function originOf({ editedIn, editedAt }: City): string {
  if (editedIn === undefined || editedAt === undefined) return 'Not edited here'
  return `${editedIn}, ${TIME.format(new Date(editedAt))}`
}
