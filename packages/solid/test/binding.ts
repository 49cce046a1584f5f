/** Solid, for the suite that all bindings share. */
import {
  catchError,
  children,
  createComponent,
  createMemo,
  createRenderEffect,
  createResource,
  createRoot,
  createSignal,
  Suspense,
  type Accessor,
} from 'solid-js'
import type { LiveQuery } from 'pannier'
import type { Binding, HookName, Inputs, Mounted, Person, Shown, Waiting } from '../../stores/testing/binding.ts'
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

export const solidBinding: Binding = { mount: (hook, inputs) => mount(HOOKS[hook], inputs), mountWaiting }

function mountWaiting(live: LiveQuery<Person>): Waiting {
  const renders: Shown['live'][] = []
  const thrown: unknown[] = []
  const People = (): null => {
    const read = copied(createLiveQuery(live))
    createRenderEffect(() => void renders.push(read()))
    return null
  }
  const Waits = (): unknown => {
    const [isReady] = createResource(async () => (await live.ready, true))
    return createMemo(() => isReady() && createComponent(People, {}))
  }
  const unmount = createRoot((dispose) => {
    catchError(
      () => {
        const shown = children(() =>
          createComponent(Suspense, {
            get children() {
              return createComponent(Waits as () => null, {})
            },
          }),
        )
        createRenderEffect(() => void shown())
      },
      (error) => thrown.push(error),
    )
    return dispose
  })
  return { renders, thrown, unmount }
}

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
