/** Vue, for the suite that all bindings share. */
import { h, shallowRef, Suspense, toValue, type App, type Component, type Ref } from 'vue'
import type { LiveQuery } from 'pannier'
import type { Binding, HookName, Inputs, Mounted, Person, Shown, Waiting } from '../../stores/testing/binding.ts'
import {
  useCan,
  useCount,
  useDocument,
  useDraft,
  useLiveQuery,
  useRejected,
  useReplication,
  useSync,
  useTabs,
} from '../src/index.ts'

type Read<Name extends HookName> = () => Shown[Name]

const HOOKS: { readonly [Name in HookName]: (inputs: Ref<Inputs[Name]>) => Read<Name> } = {
  live: (inputs) => parts(useLiveQuery(() => inputs.value.query(), inputs.value)),
  count: (inputs) => parts(useCount(() => inputs.value.query(), inputs.value)),
  document: (inputs) =>
    parts(
      useDocument(
        () => inputs.value.collection,
        () => inputs.value.id,
        inputs.value,
      ),
    ),
  draft: (inputs) =>
    parts(
      useDraft(
        () => inputs.value.document,
        (fields, id) => inputs.value.save(fields, id),
      ),
    ),
  sync: (inputs) => {
    const state = useSync(() => inputs.value.client)
    return () => state.value
  },
  rejected: (inputs) => {
    const rejected = useRejected(() => inputs.value.client)
    return () => rejected.value
  },
  can: (inputs) => {
    const may = useCan(
      () => inputs.value.client,
      () => inputs.value.question,
    )
    return () => may.value
  },
  tabs: (inputs) => parts(useTabs(() => inputs.value.name)),
  replication: (inputs) => parts(useReplication(inputs.value.db, () => inputs.value.replication)),
}

function parts<State>(refs: { readonly [Name in keyof State]: State[Name] | Ref<State[Name]> }): () => State {
  return () => Object.fromEntries(Object.entries(refs).map(([name, ref]) => [name, valueOf(ref)])) as State
}

/** `change` of a draft is a function, and no getter. */
function valueOf(part: unknown): unknown {
  return typeof part === 'function' ? part : toValue(part)
}

/** `mountApp` mounts a component somewhere. */
export function vueBinding(mountApp: MountApp): Binding {
  return {
    mount: (hook, inputs) => mount(mountApp, HOOKS[hook], inputs),
    mountWaiting: (live) => mountWaiting(mountApp, live),
  }
}

type MountApp = (component: Component, prepare: (app: App) => void) => App

function mountWaiting(mountApp: MountApp, live: LiveQuery<Person>): Waiting {
  const renders: Shown['live'][] = []
  const thrown: unknown[] = []
  const People: Component = {
    async setup() {
      await live.ready
      const read = parts(useLiveQuery(live))
      return () => {
        renders.push(read())
        return null
      }
    },
  }
  const suspended: Component = { render: () => h(Suspense, null, { default: () => h(People), fallback: () => null }) }
  const app = mountApp(suspended, ({ config }) => {
    config.errorHandler = (error) => thrown.push(error)
    config.warnHandler = () => {}
  })
  let isMounted = true
  return {
    renders,
    thrown,
    unmount() {
      if (isMounted) app.unmount()
      isMounted = false
    },
  }
}

function mount<Name extends HookName>(
  mountApp: MountApp,
  use: (inputs: Ref<Inputs[Name]>) => Read<Name>,
  first: Inputs[Name],
): Mounted<Name> {
  const renders: Shown[Name][] = []
  const thrown: unknown[] = []
  const inputs = shallowRef(first) as Ref<Inputs[Name]>
  const component: Component = {
    setup() {
      const read = use(inputs)
      return () => {
        renders.push(read())
        return null
      }
    },
  }
  const app = mountApp(component, ({ config }) => {
    config.errorHandler = (error) => thrown.push(error)
    config.warnHandler = () => {}
  })
  let isMounted = true
  return {
    renders,
    thrown,
    set: (next) => {
      inputs.value = next
    },
    unmount() {
      if (isMounted) app.unmount()
      isMounted = false
    },
  }
}
