/** Angular, for the suite that all bindings share. */
import { effect, signal, type Signal } from '@angular/core'
import {
  mountWhenReady,
  type Binding,
  type HookName,
  type Inputs,
  type Mounted,
  type Shown,
} from '../../stores/testing/binding.ts'
import {
  injectCan,
  injectCount,
  injectDocument,
  injectDraft,
  injectLiveQuery,
  injectRejected,
  injectReplication,
  injectSync,
  injectTabs,
} from '../src/index.ts'

type Read<Name extends HookName> = () => Shown[Name]

const HOOKS: { readonly [Name in HookName]: (inputs: Signal<Inputs[Name]>) => Read<Name> } = {
  live: (inputs) => parts(injectLiveQuery(() => inputs().query(), inputs())),
  count: (inputs) => parts(injectCount(() => inputs().query(), inputs())),
  document: (inputs) =>
    parts(
      injectDocument(
        () => inputs().collection,
        () => inputs().id,
        inputs(),
      ),
    ),
  draft: (inputs) => {
    const { change, ...signals } = injectDraft(
      () => inputs().document,
      (fields, id) => inputs().save(fields, id),
    )
    const read = parts(signals)
    return () => ({ ...read(), change })
  },
  sync: (inputs) => injectSync(() => inputs().client),
  rejected: (inputs) => injectRejected(() => inputs().client),
  can: (inputs) =>
    injectCan(
      () => inputs().client,
      () => inputs().question,
    ),
  tabs: (inputs) => parts(injectTabs(() => inputs().name)),
  replication: (inputs) => parts(injectReplication(inputs().db, () => inputs().replication)),
}

function parts<State>(signals: { readonly [Name in keyof State]: Signal<State[Name]> }): () => State {
  return () =>
    Object.fromEntries(Object.entries<Signal<unknown>>(signals).map(([name, read]) => [name, read()])) as State
}

/** A place with an injection context. */
export interface Place {
  /** Runs `setup` there, then its effects. */
  run(setup: () => void): void
  /** Runs effects that wait. */
  flush(): void
  destroy(): void
}

/** `makePlace` makes one for each component. Errors of effects go to `thrown`. */
export function angularBinding(makePlace: (thrown: (error: unknown) => void) => Place): Binding {
  return {
    mount: (hook, inputs) => mount(makePlace, HOOKS[hook], inputs),
    // A resolver of the route, and a component of the rows.
    mountWaiting: (live) =>
      mountWhenReady(live, () => mount(makePlace, () => parts(injectLiveQuery(live)), { query: () => live })),
  }
}

function mount<Name extends HookName>(
  makePlace: (thrown: (error: unknown) => void) => Place,
  use: (inputs: Signal<Inputs[Name]>) => Read<Name>,
  first: Inputs[Name],
): Mounted<Name> {
  const renders: Shown[Name][] = []
  const thrown: unknown[] = []
  const inputs = signal(first)
  const place = makePlace((error) => thrown.push(error))
  place.run(() => {
    const read = use(inputs)
    effect(() => void renders.push(read()))
  })
  return {
    renders,
    thrown,
    set(next) {
      inputs.set(next)
      place.flush()
    },
    unmount: () => place.destroy(),
  }
}
