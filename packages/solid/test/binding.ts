/** Solid, for the suite that all bindings share. */
import { catchError, createRenderEffect, createRoot, createSignal, type Accessor } from 'solid-js'
import type { Binding, HookName, Inputs, Mounted, Shown } from '../../stores/testing/binding.ts'
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

const HOOKS: { readonly [Name in HookName]: (inputs: Accessor<Inputs[Name]>) => Read<Name> } = {
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
  sync: (inputs) => createSync(() => inputs().client),
  rejected: (inputs) => createRejected(() => inputs().client),
  can: (inputs) =>
    createCan(
      () => inputs().client,
      () => inputs().question,
    ),
  tabs: (inputs) => copied(createTabs(() => inputs().name)),
  replication: (inputs) => copied(createReplication(inputs().db, () => inputs().replication)),
}

/** All parts, as they are now. */
function copied<State extends object>(state: State): () => State {
  return () => ({ ...state })
}

export const solidBinding: Binding = { mount: (hook, inputs) => mount(HOOKS[hook], inputs) }

function mount<Name extends HookName>(
  use: (inputs: Accessor<Inputs[Name]>) => Read<Name>,
  first: Inputs[Name],
): Mounted<Name> {
  const renders: Shown[Name][] = []
  const thrown: unknown[] = []
  const [inputs, set] = createSignal({ inputs: first })
  const unmount = createRoot((dispose) => {
    catchError(
      () => {
        const read = use(() => inputs().inputs)
        createRenderEffect(() => void renders.push(read()))
      },
      (error) => thrown.push(error),
    )
    return dispose
  })
  return { renders, thrown, set: (next) => void set({ inputs: next }), unmount }
}
