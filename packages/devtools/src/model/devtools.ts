/** The whole of devtools: which panel and which database are shown, and the models of the panels. */
import type { Environment } from 'pannier/types'
import type { Replication } from 'pannier'
import { ConflictsModel } from './conflicts.ts'
import { DocumentsModel } from './documents.ts'
import { EditorModel } from './editor.ts'
import { HealthModel, type Platform } from './health.ts'
import { Model } from './model.ts'
import { QueriesModel } from './queries.ts'
import { RequestLog } from './requests.ts'
import { SourceList, type DevtoolsSources, type Source } from './source.ts'
import { ClientModel } from './sync.ts'
import { TimelineModel } from './timeline.ts'

export const PANELS = ['documents', 'queries', 'sync', 'timeline', 'storage'] as const

/** The name of a panel. */
export type Panel = (typeof PANELS)[number]

/** The models of the panels of one database. */
export interface Shown {
  readonly source: Source
  readonly documents: DocumentsModel
  readonly queries: QueriesModel
  readonly health: HealthModel
  /** The document that is edited. */
  editor: EditorModel | undefined
  /** The conflicts of the collection that is shown, while they are shown. */
  conflicts: ConflictsModel | undefined
}

export class DevtoolsModel extends Model {
  panel: Panel = 'documents'
  readonly environment: Environment
  readonly sources: SourceList
  readonly clients: readonly ClientModel[]
  readonly replications: readonly Replication[]
  readonly requests: RequestLog
  readonly timeline: TimelineModel
  /** Undefined: there is no database. */
  shown: Shown | undefined
  readonly #platform: Platform
  readonly #stops: (() => void)[] = []

  constructor(given: DevtoolsSources, environment: Environment, platform: Platform) {
    super()
    const { clients = [], replications = [] } = given
    this.environment = environment
    this.#platform = platform
    this.sources = new SourceList(given)
    this.clients = clients.map((client) => new ClientModel(client))
    this.replications = replications
    this.requests = new RequestLog(environment)
    this.timeline = new TimelineModel(environment, { sources: this.sources, clients, replications })
    for (const model of [...this.clients, this.requests, this.timeline]) this.#hear(model)
    this.#stops.push(
      this.sources.subscribe(() => this.#sourcesChanged()),
      ...replications.map((replication) => replication.subscribe(() => this.changed())),
    )
    this.#sourcesChanged()
  }

  /** Stops everything that looks at the app. */
  stop(): void {
    for (const stop of this.#stops) stop()
    this.#hide()
    for (const model of [...this.clients, this.requests, this.timeline, this.sources]) model.stop()
  }

  show(panel: Panel): void {
    this.panel = panel
    this.changed()
    this.#refresh()
  }

  select(source: Source): void {
    if (this.shown?.source === source) return
    this.#hide()
    const { environment } = this
    this.shown = {
      source,
      documents: new DocumentsModel(source, environment),
      queries: new QueriesModel(source, environment),
      health: new HealthModel(source, environment, this.#platform),
      editor: undefined,
      conflicts: undefined,
    }
    const { documents, queries, health } = this.shown
    for (const model of [documents, queries, health]) this.#hear(model)
    this.changed()
    this.#refresh()
  }

  /** Edits a document; without an id a new one. */
  async edit(collection: string, id: string | undefined): Promise<void> {
    const { shown } = this
    if (shown === undefined) return
    shown.editor?.stop()
    shown.editor = new EditorModel(shown.source, collection, id)
    shown.conflicts = undefined
    this.#hear(shown.editor)
    this.changed()
    await shown.editor.load()
  }

  closeEditor(): void {
    const { shown } = this
    shown?.editor?.stop()
    if (shown !== undefined) shown.editor = shown.conflicts = undefined
    this.changed()
  }

  /** Shows the conflicts of a collection; with an id those of that document. */
  async showConflicts(collection: string, id?: string): Promise<void> {
    const { shown } = this
    if (shown === undefined) return
    shown.editor?.stop()
    shown.editor = undefined
    const conflicts = new ConflictsModel(shown.source, collection)
    shown.conflicts = conflicts
    this.#hear(conflicts)
    this.changed()
    await conflicts.refresh()
    const first = id ?? conflicts.ids[0]
    if (first !== undefined) await conflicts.select(first)
  }

  /** Shows a document that something on another panel names. */
  async open(database: string, collection: string, id: string): Promise<void> {
    const source = this.sources.sources.find(({ name }) => name === database)
    if (source === undefined) return
    this.select(source)
    this.show('documents')
    await this.shown?.documents.select(collection)
    await this.edit(collection, id)
  }

  #hear(model: Model): void {
    model.subscribe(() => this.changed())
  }

  #sourcesChanged(): void {
    const { sources } = this.sources
    const [first] = sources
    if (this.shown !== undefined && sources.includes(this.shown.source)) this.changed()
    else if (first !== undefined) this.select(first)
    else this.#hide()
  }

  #hide(): void {
    const { shown } = this
    if (shown === undefined) return
    this.shown = undefined
    for (const model of [shown.documents, shown.queries, shown.health, shown.editor]) model?.stop()
  }

  #refresh(): void {
    const { shown, panel } = this
    if (panel === 'documents') void shown?.documents.refresh()
    if (panel === 'queries') void Promise.all([shown?.queries.refresh(), shown?.documents.refresh()])
    if (panel === 'storage') void shown?.health.refresh()
  }
}
