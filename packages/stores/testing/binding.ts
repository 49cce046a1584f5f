/** The shape of a framework's binding, for the suite that all of them share. */
import type { Database, LiveQuery, Replication } from 'pannier'
import type {
  CanSource,
  CountResult,
  CountSource,
  DocumentResult,
  DocumentSource,
  Draft,
  LiveResult,
  LiveSource,
  RejectedSource,
  ReplicationState,
  Save,
  StateSource,
  TabsState,
} from '@pannier/stores'

export interface Person {
  readonly _id: string
  readonly name: string
  readonly city: string
}

export interface ShownState {
  readonly status: string
  readonly unsent: number
  readonly account: string | undefined
}

/** The inputs of each hook. */
export interface Inputs {
  readonly live: {
    readonly query: () => LiveSource<Person> | undefined
    readonly initial?: readonly Person[]
  }
  readonly count: { readonly query: () => CountSource | undefined; readonly initial?: number }
  readonly document: {
    readonly collection: DocumentSource<Person> | undefined
    readonly id: string | undefined
    readonly initial?: Person
  }
  readonly draft: { readonly document: Person | undefined; readonly save: Save<Person> }
  readonly sync: { readonly client: StateSource<ShownState> }
  readonly rejected: { readonly client: RejectedSource<string> }
  readonly can: { readonly client: CanSource<readonly unknown[]>; readonly question: readonly unknown[] }
  readonly tabs: { readonly name: string }
  readonly replication: { readonly db: Pick<Database, 'subscribe'>; readonly replication: Replication | undefined }
}

/** The result of each hook. */
export interface Shown {
  readonly live: LiveResult<Person>
  readonly count: CountResult
  readonly document: DocumentResult<Person>
  readonly draft: Draft<Person>
  readonly sync: ShownState
  readonly rejected: readonly string[]
  readonly can: boolean | undefined
  readonly tabs: TabsState
  readonly replication: ReplicationState
}

export type HookName = keyof Inputs

/** A mounted component. */
export interface Mounted<Name extends HookName> {
  /** Everything that it has rendered, the newest last. */
  readonly renders: readonly Shown[Name][]
  /** The errors that rendering has thrown. */
  readonly thrown: readonly unknown[]
  /** Gives it other inputs. */
  set(inputs: Inputs[Name]): void
  unmount(): void
}

/** A framework with its binding. */
export interface Binding {
  /** Mounts a component that renders the result of a hook. */
  mount<Name extends HookName>(hook: Name, inputs: Inputs[Name]): Mounted<Name>
  /** Mounts a component that waits for the first rows of a started query, in the way of its framework, and then renders the query. */
  mountWaiting(live: LiveQuery<Person>): Waiting
}

/** A component that may wait. Its inputs stay. */
export type Waiting = Omit<Mounted<'live'>, 'set'>

/** Mounts a component when the first rows are there: a block or a resolver waits, and no component. */
export function mountWhenReady(live: LiveQuery<Person>, mount: () => Mounted<'live'>): Waiting {
  let list: Mounted<'live'> | undefined
  let isMounted = true
  const thrown: unknown[] = []
  const show = (): void => {
    if (isMounted) list = mount()
  }
  live.ready.then(show, (error: unknown) => thrown.push(error))
  return {
    get renders() {
      return list?.renders ?? []
    },
    thrown,
    unmount() {
      isMounted = false
      list?.unmount()
    },
  }
}
