/** Svelte, for the suite that all bindings share. */
import { fromStore, toStore, writable } from 'svelte/store'
import {
  mountWhenReady,
  type Binding,
  type HookName,
  type Inputs,
  type Mounted,
  type Shown,
} from '../../stores/testing/binding.ts'
import {
  createCan,
  createCount,
  createDocument,
  createDraft,
  createLiveQuery,
  createRejected,
  createReplication,
  createSync,
  createTabs,
} from '../src/index.ts'

type Read<Name extends HookName> = () => Shown[Name]

const HOOKS: { readonly [Name in HookName]: (inputs: () => Inputs[Name]) => Read<Name> } = {
  live: (inputs) => copied(createLiveQuery(() => inputs().query(), inputs())),
  count: (inputs) => copied(createCount(() => inputs().query(), inputs())),
  document: (inputs) =>
    copied(
      createDocument(
        () => inputs().collection,
        () => inputs().id,
        inputs(),
      ),
    ),
  draft: (inputs) =>
    copied(
      createDraft(
        () => inputs().document,
        (fields, id) => inputs().save(fields, id),
      ),
    ),
  sync: (inputs) => current(createSync(() => inputs().client)),
  rejected: (inputs) => current(createRejected(() => inputs().client)),
  can: (inputs) =>
    current(
      createCan(
        () => inputs().client,
        () => inputs().question,
      ),
    ),
  tabs: (inputs) => copied(createTabs(() => inputs().name)),
  replication: (inputs) => copied(createReplication(inputs().db, () => inputs().replication)),
}

/** All parts, as they are now. */
function copied<State extends object>(state: State): () => State {
  return () => ({ ...state })
}

function current<State>(state: { readonly current: State }): () => State {
  return () => state.current
}

export const svelteBinding: Binding = {
  mount: (hook, inputs) => mount(HOOKS[hook], inputs),
  // `{#await live.ready}`, and a component of the rows.
  mountWaiting: (live) => mountWhenReady(live, () => mount(() => copied(createLiveQuery(live)), { query: () => live })),
}

function mount<Name extends HookName>(
  use: (inputs: () => Inputs[Name]) => Read<Name>,
  first: Inputs[Name],
): Mounted<Name> {
  const renders: Shown[Name][] = []
  const thrown: unknown[] = []
  const inputs = writable({ inputs: first })
  const reactive = fromStore(inputs)
  let unmount = (): void => {}
  try {
    const read = use(() => reactive.current.inputs)
    // An effect of Svelte: it runs again when something that it has read changes.
    unmount = toStore(() => ({ shown: read() })).subscribe(({ shown }) => renders.push(shown))
  } catch (error) {
    thrown.push(error)
  }
  return { renders, thrown, set: (next) => inputs.set({ inputs: next }), unmount: () => unmount() }
}
