/** The sync of a client: its state, what waits, and what the server has refused. */
import type { ClientState, RejectedWrite, UnsentWrite } from '@pannier/client'
import type { Client, UntypedCollections } from '@pannier/client'
import { Choice } from './choice.ts'
import { Model } from './model.ts'
import { tokenFacts, type TokenFacts } from './redact.ts'
import type { AnyClient, JsonObject } from './source.ts'

/** More waiting and refused writes are only counted. */
const WRITES_MAX = 200
/** The sides of a refused write. */
const MINE = 1

export class ClientModel extends Model {
  readonly client: Client<UntypedCollections>
  state: ClientState
  unsent: readonly UnsentWrite[] = []
  rejected: readonly RejectedWrite[] = []
  /** The refused write that is shown, and the versions of its record. */
  selected: RejectedWrite | undefined
  choice: Choice | undefined
  isWorking = false
  readonly #stops: readonly (() => void)[]

  constructor(client: AnyClient) {
    super()
    this.client = client as Client<UntypedCollections>
    this.state = client.state
    this.#stops = [
      this.client.subscribeState((state) => {
        this.state = state
        this.changed()
        void this.#readUnsent()
      }),
      this.client.subscribeRejected((rejected) => {
        this.rejected = rejected.slice(0, WRITES_MAX)
        if (!rejected.some(({ id }) => id === this.selected?.id)) this.selected = this.choice = undefined
        this.changed()
      }),
    ]
  }

  stop(): void {
    for (const stop of this.#stops) stop()
  }

  /** The facts of the token. The token itself is never shown. */
  get token(): TokenFacts | undefined {
    const { token } = this.client
    return token === undefined ? undefined : tokenFacts(token)
  }

  async sync(): Promise<void> {
    await this.#work(() => this.client.sync())
  }

  select(rejected: RejectedWrite): void {
    this.selected = rejected
    const { writes, at, theirs } = rejected
    const { mine = {}, base = null } = writes[at] ?? {}
    const shown = (values: JsonObject | null): JsonObject =>
      Object.fromEntries(Object.entries(values ?? {}).filter(([field]) => Object.hasOwn(mine, field)))
    this.choice = new Choice([
      { title: 'Before', values: shown(base), isChoosable: false },
      { title: 'Mine', values: mine, isChoosable: true },
      { title: 'At the server', values: shown(theirs), isChoosable: true },
    ])
    this.changed()
  }

  choose(field: string, side: number): void {
    this.choice?.choose(field, side)
    this.changed()
  }

  chooseAll(side: number): void {
    this.choice?.chooseAll(side)
    this.changed()
  }

  /** Writes again what was chosen of mine. The fields that are to stay as the server has them are left out. */
  async retry(rejected: RejectedWrite): Promise<void> {
    const { choice } = this
    const chosen = this.selected?.id === rejected.id ? new Set(choice?.fieldsOf(MINE)) : undefined
    const refused = rejected.writes[rejected.at]
    await this.#work(() =>
      rejected.retry((write) => {
        if (chosen === undefined || write !== refused || write.action === 'delete') return write.mine
        const kept = Object.entries(write.mine).filter(([field]) => chosen.has(field))
        return kept.length === 0 ? undefined : Object.fromEntries(kept)
      }),
    )
  }

  async discard(rejected: RejectedWrite): Promise<void> {
    await this.#work(() => rejected.discard())
  }

  async #work(work: () => PromiseLike<unknown>): Promise<void> {
    if (this.isWorking) return
    this.isWorking = true
    this.changed()
    await this.attempt(work)
    this.isWorking = false
    this.changed()
  }

  async #readUnsent(): Promise<void> {
    // Without an account there may be no replica for a moment: the next state says more.
    const unsent = await this.client.unsent().catch(() => [])
    this.unsent = unsent.slice(0, WRITES_MAX)
    this.changed()
  }
}
